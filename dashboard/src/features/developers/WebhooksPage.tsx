// Webhooks: how they are subscribed and verified, and every event with its body.

import events from '../../../../docs/events.md?raw';
import webhooks from '../../../../docs/webhooks.md?raw';
import { Card, Page } from '../../ui/index.ts';
import { Markdown } from './Markdown.tsx';

export function WebhooksPage() {
  return (
    <Page title="Webhooks" actions={<a href="/app/settings/keys">Create a webhook</a>}>
      <Card>
        <Markdown text={webhooks} />
      </Card>
      <div id="events">
        <Card title="Events">
          <Markdown text={events} />
        </Card>
      </div>
    </Page>
  );
}
