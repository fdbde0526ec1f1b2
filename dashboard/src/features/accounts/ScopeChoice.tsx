// The choice of scopes, each in words, among those that the person has.

import { Checkbox } from '@mantine/core';
import { useQuery } from 'urql';
import { useViewer } from '../../graphql/index.ts';
import styles from './accounts.module.css';
import { Scopes } from './queries.ts';

interface ScopeChoiceProps {
  label: string;
  scopes: string[];
  onChange: (scopes: string[]) => void;
  isForAutomation?: boolean;
}

export function ScopeChoice({ label, scopes, onChange, isForAutomation }: ScopeChoiceProps) {
  const { scopes: own } = useViewer();
  const [{ data }] = useQuery({ query: Scopes });
  const offered = data?.scopes.filter(
    ({ name, is_for_automation }) => own.includes(name) && (is_for_automation || !isForAutomation),
  );
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
