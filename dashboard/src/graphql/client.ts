// The urql client: queries and mutations over HTTP with the session's cookie.

import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { authExchange } from '@urql/exchange-auth';
import { cacheExchange, type Data } from '@urql/exchange-graphcache';
import { createClient } from 'graphql-ws';
import { withGrouped } from '../ui/phone.ts';
import { isSignedOut } from './errors.ts';
import { keptExchange } from './kept.ts';
import { connection } from './live.ts';
import { signInAgain } from './session.ts';

const PATH = '/graphql';

/** Types without an id, and those with a secret: they are parts of their parents, and kept no longer. */
const EMBEDDED = `
  ApiKeySecret Balance CampaignAudience CampaignBreakdownRow CampaignCharacter CampaignFinding CampaignPreview
  CanceledCampaign CarrierAlert
  CarrierCheck CarrierFailure CarrierField CarrierHealth CarrierKind CarrierResultCount CarrierValue CheckedGate ConsentLink
  ContactTag CostlyCharacter CustomFieldValue DeletedCampaign DeletedContact DeliveryRate DestinationPrice EncodingCount
  EndedSessions Enrolled ExcludedCount ExportLink GeneratedCopy HealthDeduction ImportColumn ImportPreview JobCount JobFile JobLink
  MeasuredText Media NewApiKey NewOauthClient NewWebhook NumberCheck NumberHealth NumberImport PageInfo PartsCount
  PhoneConsent Placeholder RecipientCount SampleText ScoreReason SegmentField SegmentPreview SendExplanation
  SentMessage SequenceStep SequenceText SetupStatus SetupStep Suppression Tariff TextFinding TextMeasure TextParts WebhookAttempt
  WebhookSecret WebhookReplay WebhookStats RefusedWebhookReplays ZoneCount Actor
  BillingStatus DeliveryPoint PaymentMethod PaymentPage Plan SpendHistory SpendPoint ConversationCounts
  ContactTimeline ContactTimelineEntry FoundRecord
  Timeline SuggestedReply CanceledMessage
  SpamCheck SpamFinding SpamSource AiAgentTest AiDraftDecision AiGateVerdict AiPassage AiStatus
  AutomationTemplate RunCondition RunResult UnreadNotices ScopeDescription
  BookingText CrmAuthorization CrmKind InboundWebhookTest IntegrationKind IntegrationText NewInboundWebhook PickedValue
  WebhookCustomField
  ExitCount SequenceCounts SequenceExits SequenceVersion SequenceWindow`;

const shown = (field: string) => (parent: Data) => withGrouped(String(parent[field] ?? ''));

/** Labels for people: their phones are shown in groups. */
const SHOWN = {
  Contact: { label: shown('label') },
  FoundRecord: { name: shown('name'), detail: shown('detail') },
};

/** What is shown before the service has answered. */
const OPTIMISTIC = {
  update_notice_setting: (chosen: Data) => ({ ...chosen, __typename: 'NoticeSetting' }),
};

function keys() {
  const names = EMBEDDED.trim().split(/\s+/);
  const embedded = Object.fromEntries(names.map((name) => [name, () => null]));
  return {
    ...embedded,
    NoticeSetting: ({ kind }: Data) => String(kind),
    ConnectedCrm: ({ integration_id }: Data) => String(integration_id),
  };
}

/** A connection may end without a sign: it is over when the service does not answer for so long, in milliseconds. */
const PING_EVERY = 12_000;
const LONGEST_SILENCE = 8_000;

let silence: number | undefined;

function awaitAnswer(): void {
  window.clearTimeout(silence);
  silence = window.setTimeout(() => socket.terminate(), LONGEST_SILENCE);
}

export const socket = createClient({
  url: `${window.location.origin.replace(/^http/, 'ws')}${PATH}`,
  retryAttempts: 0, // live.ts connects again, with the id of the last update
  keepAlive: PING_EVERY,
  on: {
    connecting: awaitAnswer,
    connected: () => {
      window.clearTimeout(silence);
      connection.set('live');
    },
    ping: (isReceived) => {
      if (!isReceived) awaitAnswer();
    },
    pong: (isReceived) => {
      if (isReceived) window.clearTimeout(silence);
    },
    closed: () => window.clearTimeout(silence),
  },
});

export function connect(): Client {
  return new Client({
    url: PATH,
    preferGetMethod: false,
    fetchOptions: { credentials: 'same-origin' },
    exchanges: [
      keptExchange,
      cacheExchange({ keys: keys(), optimistic: OPTIMISTIC, resolvers: SHOWN }),
      authExchange(async () => ({
        addAuthToOperation: (operation) => operation,
        didAuthError: isSignedOut,
        refreshAuth: signInAgain,
      })),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables }) => ({
          subscribe: (sink) => ({ unsubscribe: socket.subscribe({ query, variables }, sink) }),
        }),
      }),
    ],
  });
}
