// The pages in place of one that does not exist, may not be seen, or failed.

import { Button } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { Link } from '@tanstack/react-router';
import { Suspense } from 'react';
import { Empty, Page, part, reload } from '../ui/index.ts';

const Owners = part(async () => (await import('./Owners.tsx')).Owners);

export function Missing() {
  return (
    <Page title="Not found">
      <Empty action={<Link to="/">Go to the first page</Link>}>There is no page at this address.</Empty>
    </Page>
  );
}

export function Forbidden({ scope }: { scope: string }) {
  return (
    <Page title="Not for your role">
      <Empty action={<Link to="/">Go to the first page</Link>}>
        This page needs the scope {scope}, which your role does not have. An owner of the account can open it, or change
        your role.{' '}
        <Suspense>
          <Owners />
        </Suspense>
      </Empty>
    </Page>
  );
}

export function RouteError({ error }: ErrorComponentProps) {
  return (
    <Page title="This page failed">
      <Empty action={<Button onClick={() => void reload()}>Try again</Button>}>
        {error instanceof Error ? error.message : 'Something in this page broke.'} Nothing that you sent is lost.
      </Empty>
    </Page>
  );
}
