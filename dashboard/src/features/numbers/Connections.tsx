// The account's own connections to carriers: how they fare, and what can be done with them.

import { Button } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { useMay } from '../../graphql/index.ts';
import { Empty, Failure, FormDialog, Icon, Skeleton } from '../../ui/index.ts';
import { ConnectionCard } from './ConnectionCard.tsx';
import { ConnectionForm } from './ConnectionForm.tsx';
import styles from './numbers.module.css';
import { Connections as All } from './queries.ts';

export function Connections({ onNumbers }: { onNumbers: () => void }) {
  const [{ data, error }, again] = useQuery({ query: All, requestPolicy: 'cache-and-network' });
  const [isAdding, setAdding] = useState(false);
  const mayWrite = useMay('numbers:write');
  const reload = () => again({ requestPolicy: 'network-only' });
  const rows = data?.carrier_connections;
  return (
    <section aria-label="Carrier connections">
      <div className={styles.section}>
        <h2>Carrier connections</h2>
        {mayWrite && (
          <Button variant="default" leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
            Connect a carrier
          </Button>
        )}
      </div>
      {error && <Failure error={error} retry={reload} />}
      {!rows && !error && <Skeleton rows={3} />}
      {rows?.length === 0 && (
        <Empty>
          Texts leave through the connections of this installation. Connect your own carrier to use its numbers.
        </Empty>
      )}
      {rows?.map((row) => (
        <ConnectionCard key={row.id} connection={row} onChanged={reload} onNumbers={onNumbers} />
      ))}
      <FormDialog isOpen={isAdding} onClose={() => setAdding(false)} title="Connect a carrier" size="lg">
        <ConnectionForm
          onDone={() => {
            setAdding(false);
            reload();
          }}
        />
      </FormDialog>
    </section>
  );
}
