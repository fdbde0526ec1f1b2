// The choice of scopes, each in words, among those that the person has.

import { Checkbox } from '@mantine/core';
import { useQuery } from 'urql';
import { useViewer, type VariablesOf } from '../../graphql/index.ts';
import styles from './accounts.module.css';
import { AvailableScopes, Scopes } from './queries.ts';

interface ScopeChoiceProps {
  label: string;
  scopes: string[];
  onChange: (scopes: string[]) => void;
  /** The kind of the key that they are for; without one, the person's own scopes can be chosen. */
  kind?: VariablesOf<typeof AvailableScopes>['kind'];
}

export function ScopeChoice({ label, scopes, onChange, kind }: ScopeChoiceProps) {
  const { scopes: own } = useViewer();
  const [all] = useQuery({ query: Scopes, pause: kind !== undefined });
  const [some] = useQuery({ query: AvailableScopes, variables: { kind: kind ?? 'svc' }, pause: kind === undefined });
  const offered = kind ? some.data?.available_scopes : all.data?.scopes.filter(({ name }) => own.includes(name));
  return (
    <Checkbox.Group
      label={label}
      description="Without a choice it gets the usual scopes."
      value={scopes}
      onChange={onChange}
    >
      <div className={styles.choice}>
        {offered?.map(({ name, description }) => (
          <Checkbox key={name} size="xs" value={name} label={name} description={description} />
        ))}
      </div>
    </Checkbox.Group>
  );
}
