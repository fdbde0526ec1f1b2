// The fields of a campaign that is a draft: changed here, saved by themselves a moment later. What somebody else saved
// meanwhile is not overwritten.

import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { useClient } from 'urql';
import { freshOf } from '../../graphql/index.ts';
import { type Act, useAct } from '../../ui/index.ts';
import { UpdateCampaign } from './mutations.ts';
import { type Campaign, CampaignOne } from './queries.ts';

const PAUSE = 800;

export interface Fields {
  name: string;
  body: string;
  audience: AudienceFields;
  phone_number_id: number | null;
  is_smart_encoded: boolean;
  is_strict: boolean;
}

export type AudienceFields = Campaign['audience'];

export interface Draft {
  fields: Fields;
  change(changes: Partial<Fields>): void;
  /** Save at once; tell whether everything is saved. */
  save(): Promise<boolean>;
  /** Show what is saved, instead of what is changed here. */
  renew(): Promise<void>;
  isChanged: boolean;
  isBusy: boolean;
  refusal: Act<unknown, unknown>['refusal'];
  savedAt?: string;
  /** The version of what is saved. */
  version: number;
}

export function fieldsOf(campaign: Campaign): Fields {
  const { name, body, audience, phone_number_id, is_smart_encoded, is_strict } = campaign;
  return { name, body, audience, phone_number_id, is_smart_encoded, is_strict };
}

export function useDraft(campaign: Campaign): Draft {
  const client = useClient();
  const act = useAct(UpdateCampaign);
  const [saved, setSaved] = useState(() => stateOf(campaign));
  const [fields, setFields] = useState(saved.fields);
  const [savedAt, setSavedAt] = useState<string>();
  const { version } = saved;
  const isChanged = Object.keys(changesOf(saved.fields, fields)).length > 0;
  const isComplete = isWhole(fields);
  const underWay = useRef<{ end: Promise<boolean> }>(undefined);
  const present = useRef({ saved, fields });
  useEffect(() => {
    present.current = { saved, fields };
  }, [saved, fields]);
  const send = async (sent: Fields) => {
    const { saved: before } = present.current;
    const given = { id: campaign.id, changes: changesOf(before.fields, sent), version: before.version };
    const done = await act.run(given);
    underWay.current = undefined;
    if (!done) return false;
    const after = { fields: sent, version: done.update_campaign.version };
    present.current = { ...present.current, saved: after };
    setSaved(after);
    setSavedAt(new Date().toISOString());
    return true;
  };
  const save = async () => {
    for (let older = underWay.current; older; older = underWay.current) {
      if (!(await older.end)) return false;
    }
    const { saved: before, fields: wanted } = present.current;
    if (Object.keys(changesOf(before.fields, wanted)).length === 0) return true;
    if (!isWhole(wanted)) return false;
    const end = send(wanted);
    underWay.current = { end };
    return end;
  };
  const show = (found: Campaign) => {
    setSaved(stateOf(found));
    setFields(fieldsOf(found));
  };
  if (campaign.version > version && !isChanged) show(campaign);
  const renew = async () => {
    const data = freshOf(await client.query(CampaignOne, { id: campaign.id }, { requestPolicy: 'network-only' }));
    if (!data?.campaign) return;
    act.forget();
    show(data.campaign);
  };
  const saveLater = useEffectEvent(() => void save());
  const isDue = isChanged && isComplete && !act.isBusy && !act.refusal;
  useEffect(() => {
    if (!isDue) return;
    const timer = window.setTimeout(saveLater, PAUSE);
    return () => window.clearTimeout(timer);
  }, [isDue, fields]);
  const change = (next: Partial<Fields>) => {
    act.forget();
    setFields((old) => ({ ...old, ...next }));
  };
  return { fields, change, save, renew, isChanged, isBusy: act.isBusy, refusal: act.refusal, savedAt, version };
}

function stateOf(campaign: Campaign): { fields: Fields; version: number } {
  return { fields: fieldsOf(campaign), version: campaign.version };
}

function isWhole({ name, body }: Fields): boolean {
  return name.trim() !== '' && body.trim() !== '';
}

function changesOf(saved: Fields, fields: Fields): Partial<Fields> {
  const names = Object.keys(fields) as (keyof Fields)[];
  const changed = names.filter((name) => JSON.stringify(fields[name]) !== JSON.stringify(saved[name]));
  return Object.fromEntries(changed.map((name) => [name, fields[name]]));
}
