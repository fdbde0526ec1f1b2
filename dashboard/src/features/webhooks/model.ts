// The events that a webhook may receive: docs/events.md describes them.

export const EVENTS = [
  'message.inbound',
  'message.sent',
  'message.delivered',
  'message.failed',
  'contact.created',
  'contact.opted_out',
  'automation.webhook',
];
