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
  const changes = changesOf(saved.fields, fields);
  const isChanged = Object.keys(changes).length > 0;
  const isComplete = fields.name.trim() !== '' && fields.body.trim() !== '';
  const underWay = useRef<{ fields: Fields; end: Promise<boolean> }>(undefined);
  const send = async () => {
    const done = await act.run({ id: campaign.id, changes, version });
    underWay.current = undefined;
    if (!done) return false;
    setSaved({ fields, version: done.update_campaign.version });
    setSavedAt(new Date().toISOString());
    return true;
  };
  const save = async () => {
    if (!isChanged) return true;
    if (underWay.current) return underWay.current.fields === fields && underWay.current.end;
    if (!isComplete) return false;
    const end = send();
    underWay.current = { fields, end };
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

function changesOf(saved: Fields, fields: Fields): Partial<Fields> {
  const names = Object.keys(fields) as (keyof Fields)[];
  const changed = names.filter((name) => JSON.stringify(fields[name]) !== JSON.stringify(saved[name]));
  return Object.fromEntries(changed.map((name) => [name, fields[name]]));
}
