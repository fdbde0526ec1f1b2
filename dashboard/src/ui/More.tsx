// The rest of a list.

import { Button } from '@mantine/core';
import type { Pages } from '../graphql/index.ts';

export function More({ pages }: { pages: Pages<{ id: number }> }) {
  if (!pages.hasMore) return null;
  return (
    <Button mt="sm" variant="default" loading={pages.isLoading} onClick={pages.more}>
      Show more
    </Button>
  );
}
