// The urql client: queries and mutations over HTTP with the session's cookie.

import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { authExchange } from '@urql/exchange-auth';
import { cacheExchange } from '@urql/exchange-graphcache';
import { createClient } from 'graphql-ws';
import { isSignedOut } from './errors.ts';
import { signInAgain } from './session.ts';

const PATH = '/graphql';

/** Types without an id, and those with a secret: they are parts of their parents, and kept no longer. */
const EMBEDDED = `
  ApiKeySecret Balance CampaignAudience CampaignBreakdownRow CampaignFinding CampaignPreview CanceledCampaign CarrierAlert
  CarrierCheck CarrierFailure CarrierField CarrierHealth CarrierKind CarrierResultCount CarrierValue CheckedGate ConsentLink
  ContactTag CostlyCharacter CustomFieldValue DeletedCampaign DeletedContact DeliveryRate DestinationPrice EncodingCount
  Enrolled ExcludedCount ExportLink GeneratedCopy HealthDeduction ImportColumn ImportPreview JobCount JobFile JobLink
  MeasuredText Media NewApiKey NewOauthClient NewWebhook NumberCheck NumberHealth NumberImport PageInfo PartsCount
  PhoneConsent Placeholder RecipientCount Replayed SampleText ScoreReason SegmentField SegmentPreview SendExplanation
  SentMessage SequenceStep SetupStatus SetupStep Suppression Tariff TextFinding TextMeasure TextParts WebhookAttempt
  WebhookSecret ZoneCount Actor
  Timeline SuggestedReply CanceledMessage
  SpamCheck SpamFinding SpamSource AiAgentTest AiDraftDecision AiGateVerdict AiPassage AiStatus
  AutomationTemplate RunCondition RunResult`;

function keys() {
  const names = EMBEDDED.trim().split(/\s+/);
  return Object.fromEntries(names.map((name) => [name, () => null]));
}

export const socket = createClient({
  url: `${window.location.origin.replace(/^http/, 'ws')}${PATH}`,
  retryAttempts: 0, // live.ts connects again, with the id of the last update
});

export function connect(): Client {
  return new Client({
    url: PATH,
    preferGetMethod: false,
    fetchOptions: { credentials: 'same-origin' },
    exchanges: [
      cacheExchange({ keys: keys() }),
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
