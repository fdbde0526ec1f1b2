// The question before a sign-out that deletes texts which were not sent.

import { useViewer } from '../graphql/index.ts';
import { Confirm, plural } from '../ui/index.ts';
import { countUnsent, signOut } from './signOut.ts';
import { type ShownProps, useShown } from './shown.ts';

export function SignOut({ isOpen, onClose }: ShownProps) {
  const { id } = useViewer();
  const unsent = plural(countUnsent(id), 'unsent text');
  const isShown = useShown(isOpen);
  return (
    <Confirm
      title={`Delete ${unsent}?`}
      act={`Sign out and delete ${unsent}`}
      isOpen={isShown}
      onClose={onClose}
      onConfirm={signOut}
    >
      Texts that you typed here and did not send, and those that wait for the connection, are kept in this browser only.
      A sign-out deletes them, so that the next person does not read them.
    </Confirm>
  );
}
