// The bell: the number of unread notices, and the panel that lists them.

import { Drawer, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Suspense } from 'react';
import { useStore } from '../../graphql/index.ts';
import { capped, Icon, part, Skeleton } from '../../ui/index.ts';
import styles from './notices.module.css';
import { unread } from './unread.ts';

const Panel = part(async () => (await import('./Panel.tsx')).Panel);

export function Bell() {
  const left = useStore(unread);
  const [isOpen, panel] = useDisclosure();
  const shown = capped(left);
  return (
    <>
      <UnstyledButton
        className={styles.bell}
        aria-label={`Notices, ${left ? shown : 'none'} unread`}
        onClick={panel.open}
      >
        <Icon name="bell" />
        {left > 0 && (
          <span className={styles.count} aria-hidden="true">
            {shown}
          </span>
        )}
      </UnstyledButton>
      <Drawer opened={isOpen} onClose={panel.close} position="right" title="Notices" size={400}>
        <Suspense fallback={<Skeleton />}>
          <Panel onClose={panel.close} />
        </Suspense>
      </Drawer>
    </>
  );
}
