// The names of those who act in conversations.

import { useQuery } from 'urql';
import { useMay, useViewer } from '../../graphql/index.ts';
import { words } from '../../ui/index.ts';
import { InboxUsers } from './queries.ts';

export interface Actor {
  kind: string;
  id: number | null;
  label: string;
}

/** Return a function that names an actor. */
export function useNames(): (actor: Actor) => string {
  const viewer = useViewer();
  const [{ data }] = useQuery({ query: InboxUsers, pause: !useMay('conversations:write') });
  return ({ kind, id, label }) => {
    if (kind !== 'user') return kind === 'service' ? 'The service' : words(kind);
    if (id === viewer.id) return 'You';
    const user = data?.users.find((each) => each.id === id);
    return user ? `${user.first_name} ${user.last_name}`.trim() || user.email : label;
  };
}
