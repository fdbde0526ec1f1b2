// The owners of the account, who can open what a member cannot.

import { useQuery } from 'urql';
import { graphql, useMay } from '../graphql/index.ts';

const Owned = graphql(`
  query Owners {
    users {
      id
      email
      first_name
      last_name
      role
    }
  }
`);

export function Owners() {
  const [{ data }] = useQuery({ query: Owned, pause: !useMay('conversations:write') });
  const owners = data?.users.filter(({ role }) => role === 'owner').map(nameOf) ?? [];
  return owners.length > 0 && <span>Owners: {owners.join(', ')}.</span>;
}

function nameOf({ email, first_name, last_name }: { email: string; first_name: string; last_name: string }): string {
  const name = `${first_name} ${last_name}`.trim();
  return name ? `${name} (${email})` : email;
}
