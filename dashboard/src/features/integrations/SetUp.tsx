// The address of an integration, its secret while it is new, and the steps at the other side.

import { Button } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Card, Secret } from '../../ui/index.ts';
import styles from './integrations.module.css';
import { WEBHOOK } from './model.ts';
import type { Integration } from './queries.ts';
import { forget, secretOf } from './secrets.ts';

export function SetUp({ integration: { id, kind, url } }: { integration: Integration }) {
  const [, setForgotten] = useState(false);
  const secret = secretOf(id);
  const stored = () => {
    forget(id);
    setForgotten(true);
  };
  return (
    <Card title="Set-up">
      <p className={styles.label}>Address</p>
      <Secret value={url} label="Address" />
      {secret && (
        <section aria-label="The secret">
          <p className={styles.label}>Secret: it is shown this once. Copy it now; it cannot be read here again.</p>
          <Secret value={secret} label="Secret" />
          <Button size="xs" variant="default" onClick={stored}>
            I stored it
          </Button>
        </section>
      )}
      <details className={styles.steps} open={Boolean(secret)}>
        <summary>Steps</summary>
        {STEPS[kind]?.(url)}
      </details>
    </Card>
  );
}

const STEPS: Record<string, (url: string) => ReactNode> = {
  calendly: (url) => (
    <>
      <p>A paid plan of Calendly is needed for webhooks.</p>
      <ol>
        <li>In Calendly, open Integrations, API and webhooks, and create a personal access token.</li>
        <li>
          Subscribe with the address and the secret. <code>GET /users/me</code> returns the URI of your organization:
          <pre className={styles.code}>{subscriptionOf(url)}</pre>
        </li>
        <li>In the booking form of each event type, ask for the number for text reminders: it is the consent.</li>
      </ol>
    </>
  ),
  calcom: () => (
    <ol>
      <li>In Cal.com, open Settings, Developer, Webhooks, and add the address with the secret.</li>
      <li>Choose the triggers Booking created, rescheduled, canceled, rejected, requested, and No-show updated.</li>
      <li>
        In the booking questions of each event type, add the field for text reminders (<code>smsReminderNumber</code>):
        it is the consent.
      </li>
    </ol>
  ),
  [WEBHOOK]: (url) => (
    <ol>
      <li>
        Post JSON to the address, with the secret as the header <code>X-Webhook-Secret</code>:
        <pre className={styles.code}>{requestOf(url)}</pre>
      </li>
      <li>
        Senders that cannot set headers put it into the address: <code>{url.replace('://', '://hook:SECRET@')}</code>
      </li>
      <li>The answer 202 says that the event is stored. The list below says what it did.</li>
    </ol>
  ),
};

function subscriptionOf(url: string): string {
  return `POST https://api.calendly.com/webhook_subscriptions
Authorization: Bearer TOKEN

{"url": "${url}", "signing_key": "SECRET",
 "scope": "organization", "organization": "URI",
 "events": ["invitee.created", "invitee.canceled",
   "invitee_no_show.created", "invitee_no_show.deleted"]}`;
}

function requestOf(url: string): string {
  return `POST ${url}
X-Webhook-Secret: SECRET
Webhook-Id: order-77

{"phone": "+12025550143", "name": "Ann"}`;
}
