// The secret that signs the deliveries of a webhook: it is shown on a click, which is audited, or replaced.

import { Button } from '@mantine/core';
import { useState } from 'react';
import { ConfirmButton, Refused, Secret, useAct } from '../../ui/index.ts';
import { RevealSecret, RotateSecret } from './mutations.ts';
import styles from './webhooks.module.css';

export function SigningSecret({ id }: { id: number }) {
  const reveal = useAct(RevealSecret);
  const rotate = useAct(RotateSecret);
  const [secret, setSecret] = useState<string>();
  const show = async () => setSecret((await reveal.run({ id }))?.reveal_webhook_secret.secret);
  const replace = async () => {
    const made = await rotate.run({ id });
    if (made) setSecret(made.rotate_webhook_secret.secret);
    return made;
  };
  return (
    <>
      {secret && <Secret value={secret} label="Secret" />}
      <div className={styles.acts}>
        {secret ? (
          <Button size="compact-sm" variant="default" onClick={() => setSecret(undefined)}>
            Hide it
          </Button>
        ) : (
          <Button size="compact-sm" variant="default" loading={reveal.isBusy} onClick={() => void show()}>
            Show it
          </Button>
        )}
        <ConfirmButton
          label="Create a new one"
          size="compact-sm"
          title="Create a new secret?"
          act="Create a new secret"
          isDangerous={false}
          state={rotate}
          run={replace}
        >
          For 24 hours each delivery carries the signatures of both, so that you can change it without losing any.
        </ConfirmButton>
      </div>
      {reveal.refusal && <Refused refusal={reveal.refusal} />}
    </>
  );
}
