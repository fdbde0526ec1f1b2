// The editor of a campaign in four steps: audience, message, time, check. What is changed is saved by itself.

import { Button } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';
import { useMay } from '../../graphql/index.ts';
import { Failure, Skeleton, Unsaved } from '../../ui/index.ts';
import { ContactPreview } from '../templates/index.ts';
import { Audience } from './Audience.tsx';
import styles from './campaigns.module.css';
import { People, Price } from './Check.tsx';
import { useDraft } from './draft.ts';
import { Leaving } from './Leaving.tsx';
import { Message } from './Message.tsx';
import { NameAndState } from './NameAndState.tsx';
import type { Campaign } from './queries.ts';
import { Samples } from './Samples.tsx';
import { Send } from './Send.tsx';
import { SendTest } from './SendTest.tsx';
import { type Step, Steps, STEPS } from './Steps.tsx';
import { startOf, type Timing, timingOf } from './timing.ts';
import { type Preview, usePreview } from './usePreview.ts';
import { When } from './When.tsx';

const route = getRouteApi('/campaigns/$id');
const NOW = { at: null, local_at: null };

export function Editor({ campaign }: { campaign: Campaign }) {
  const { id } = campaign;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const isReadOnly = !useMay('campaigns:write');
  const draft = useDraft(campaign);
  const step = search.step ?? 'audience';
  const timing = timingOf(search);
  const isCounted = (step === 'audience' || step === 'check') && !draft.isChanged;
  const preview = usePreview(id, startOf(timing) ?? NOW, draft.version, isCounted);
  const go = (next: Step) => {
    void draft.save();
    void navigate({ search: (old) => ({ ...old, step: next }) });
  };
  const setTiming = ({ when, at }: Timing) =>
    void navigate({ search: (old) => ({ ...old, when, at: at || undefined }), replace: true });
  useEditorKeys((next) => (next ? go(next) : void draft.save()));
  const following = STEPS[STEPS.findIndex(({ key }) => key === step) + 1];
  return (
    <>
      <NameAndState draft={draft} isReadOnly={isReadOnly} showsBody={step === 'message'} />
      <Steps step={step} onChange={go} />
      <div className={styles.columns}>
        <div>
          {step === 'audience' && (
            <Audience
              audience={draft.fields.audience}
              isReadOnly={isReadOnly}
              onChange={(audience) => draft.change({ audience })}
            />
          )}
          {step === 'message' && <Message draft={draft} isReadOnly={isReadOnly} />}
          {step === 'when' && <When timing={timing} isReadOnly={isReadOnly} onChange={setTiming} />}
          {step === 'check' && <Checked preview={preview} />}
          {following && <Button onClick={() => go(following.key)}>Next: {following.label}</Button>}
        </div>
        <div className={styles.aside}>
          {step === 'audience' && <Counted preview={preview} />}
          {(step === 'message' || step === 'when') && (
            <ContactPreview body={draft.fields.body} isSmartEncoded={draft.fields.is_smart_encoded} />
          )}
          {step === 'check' && preview.shown && <Samples samples={preview.shown.samples} />}
          {step === 'check' && <Send id={id} timing={timing} preview={preview} isChanged={draft.isChanged} />}
          {(step === 'message' || step === 'check') && <MayTest id={id} save={draft.save} />}
        </div>
      </div>
      <Unsaved isChanged={draft.isChanged && !isReadOnly} save={draft.save} />
    </>
  );
}

function Checked({ preview }: { preview: Preview }) {
  const { shown, error, renew } = preview;
  if (error) return <Failure error={error} retry={renew} />;
  if (!shown) return <Skeleton />;
  return (
    <div aria-busy={preview.isStale}>
      <People preview={shown} />
      <Price preview={shown} />
      <Leaving key={shown.zones[0]?.opens_at} preview={shown} />
    </div>
  );
}

function Counted({ preview }: { preview: Preview }) {
  const { shown, error, renew } = preview;
  if (error) return <Failure error={error} retry={renew} />;
  if (!shown) return <Skeleton rows={3} />;
  return (
    <div aria-busy={preview.isStale} role="status">
      <People preview={shown} />
    </div>
  );
}

function MayTest({ id, save }: { id: number; save: () => Promise<boolean> }) {
  return useMay('campaigns:send') && <SendTest id={id} save={save} />;
}

/** Ctrl or ⌘ and S saves, Alt and 1 to 4 opens a step. */
function useEditorKeys(act: (step?: Step) => void): void {
  const latest = useEffectEvent(act);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isSave = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 's';
      const step = event.altKey ? STEPS[Number(/^Digit(\d)$/.exec(event.code)?.[1]) - 1] : undefined;
      if (!isSave && !step) return;
      event.preventDefault();
      latest(step?.key);
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, []);
}
