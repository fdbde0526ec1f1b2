// The dialog after the end of a session: the page stays as it is while the person signs in beside it.

import { Button, Modal } from '@mantine/core';
import { useEffect } from 'react';
import { announceSignIn, session, useStore, useViewer } from '../graphql/index.ts';

const PATH = '/app/signed-in';

export function SignInAgain() {
  const { isEnded } = useStore(session);
  return (
    <Modal opened={isEnded} onClose={() => undefined} withCloseButton={false} title="Your session has ended">
      <p>Sign in again to go on. Nothing that you typed is lost, and waiting texts are sent then.</p>
      <Button component="a" href={`/login?next=${encodeURIComponent(PATH)}`} target="_blank" data-autofocus>
        Sign in
      </Button>
    </Modal>
  );
}

/** The page that the window of the sign-in ends on. */
export function SignedIn() {
  const { id } = useViewer();
  useEffect(() => {
    announceSignIn(id);
    window.close();
  }, [id]);
  return <p style={{ padding: 24 }}>You are signed in. Go back to the other window.</p>;
}
