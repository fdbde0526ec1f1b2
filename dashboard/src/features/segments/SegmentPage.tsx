// One segment, new or saved: its conditions beside the people that have them.

import { Button, TextInput } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { freshOf, useMay } from '../../graphql/index.ts';
import {
  Absent,
  Badge,
  Card,
  Confirm,
  Failure,
  faultsOf,
  Page,
  RefusedChange,
  Skeleton,
  Unsaved,
  useAct,
  useOnce,
} from '../../ui/index.ts';
import { Builder } from './Builder.tsx';
import { filterOf, fromContacts, type Group, isComplete, placeOf, treeOf } from './model.ts';
import { CreateSegment, DeleteSegment, UpdateSegment } from './mutations.ts';
import { People } from './People.tsx';
import { type Segment, SegmentFields, SegmentOne } from './queries.ts';
import styles from './segments.module.css';

const oneRoute = getRouteApi('/segments/$id');
const newRoute = getRouteApi('/segments/new');

export function SegmentPage() {
  const { id } = oneRoute.useParams();
  const [{ data, error, fetching }, again] = useQuery({
    query: SegmentOne,
    variables: { id },
    requestPolicy: 'cache-and-network',
  });
  const segment = data?.segment;
  if (!segment) {
    return (
      <Absent title="Segment" isLoading={fetching} error={error} retry={() => again({ requestPolicy: 'network-only' })}>
        There is no such segment.
      </Absent>
    );
  }
  return (
    <Page title={segment.name} actions={<Actions segment={segment} />}>
      <Editor key={id} segment={segment} begin={treeOf(segment.filter)} />
    </Page>
  );
}

export function NewSegmentPage() {
  return (
    <Page title="New segment">
      <Editor begin={fromContacts(newRoute.useSearch())} />
    </Page>
  );
}

function Editor({ segment, begin }: { segment?: Segment; begin: Group }) {
  const client = useClient();
  const navigate = useNavigate();
  const [{ data, error }, again] = useQuery({ query: SegmentFields });
  const create = useOnce(CreateSegment);
  const update = useAct(UpdateSegment);
  const mayWrite = useMay('campaigns:write');
  const [begun, setBegun] = useState(segment);
  const [name, setName] = useState(begun?.name ?? '');
  const [tree, setTree] = useState(begin);
  const { refusal } = begun ? update : create;
  const saved = begun && { name: begun.name, filter: JSON.stringify(filterOf(treeOf(begun.filter))) };
  const isChanged = !saved || name !== saved.name || JSON.stringify(filterOf(tree)) !== saved.filter;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const filter = filterOf(tree);
    if (begun) {
      const done = await update.run({ id: begun.id, changes: { name, filter }, version: begun.version });
      if (done) setBegun(done.update_segment);
      return;
    }
    const made = await create.run({ name, filter });
    if (made) await navigate({ to: '/segments/$id', params: { id: made.create_segment.id }, ignoreBlocker: true });
  };
  const show = (stored: Segment) => {
    setBegun(stored);
    setName(stored.name);
    setTree(treeOf(stored.filter));
  };
  if (segment && begun && segment.version > begun.version && !isChanged) show(segment);
  const renew = async () => {
    const variables = { id: begun?.id ?? 0 };
    const stored = freshOf(await client.query(SegmentOne, variables, { requestPolicy: 'network-only' }))?.segment;
    if (!stored) return;
    update.forget();
    show(stored);
  };
  const faults = faultsOf(placeOf(refusal)?.includes('[') ? undefined : refusal, ['name']);
  if (error && !data) return <Failure error={error} retry={() => again({ requestPolicy: 'network-only' })} />;
  if (!data) return <Skeleton />;
  return (
    <div className={styles.columns}>
      <Card title="Conditions">
        <form className={styles.form} onSubmit={(event) => void submit(event)}>
          <Builder
            node={tree}
            fields={data.segment_fields}
            refused={refusal}
            onChange={(next) => {
              create.forget();
              update.forget();
              setTree(next);
            }}
          />
          <TextInput
            label="Name"
            value={name}
            readOnly={!mayWrite}
            error={faults.at('name')}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          {faults.elsewhere && <RefusedChange refusal={faults.elsewhere} renew={renew} />}
          {mayWrite && (
            <div className={styles.match}>
              <Button
                type="submit"
                loading={create.isBusy || update.isBusy}
                disabled={!isChanged || !name.trim() || !isComplete(tree)}
              >
                Save the segment
              </Button>
              {!isChanged && (
                <span role="status">
                  <Badge kind="good">Saved</Badge>
                </span>
              )}
            </div>
          )}
        </form>
      </Card>
      <People tree={tree} />
      <Unsaved isChanged={mayWrite && isChanged && (Boolean(segment) || name.trim() !== '')} />
    </div>
  );
}

function Actions({ segment }: { segment: Segment }) {
  return (
    <>
      {useMay('contacts:read') && (
        <Button
          variant="default"
          renderRoot={(props) => <Link to="/contacts" search={{ segment: segment.id }} {...props} />}
        >
          Show the contacts
        </Button>
      )}
      <Remove segment={segment} />
    </>
  );
}

function Remove({ segment: { id, name } }: { segment: Segment }) {
  const navigate = useNavigate();
  const remove = useAct(DeleteSegment);
  const [isAsked, setAsked] = useState(false);
  const confirm = async () => {
    if (await remove.run({ id })) await navigate({ to: '/segments', ignoreBlocker: true });
  };
  if (!useMay('campaigns:write')) return null;
  return (
    <>
      <Button variant="default" onClick={() => setAsked(true)}>
        Delete
      </Button>
      <Confirm
        title={`Delete ${name}?`}
        act={`Delete ${name}`}
        isOpen={isAsked}
        isBusy={remove.isBusy}
        refusal={remove.refusal}
        onClose={() => setAsked(false)}
        onConfirm={() => void confirm()}
      >
        The segment is deleted for everyone in your account. Its contacts stay. A segment that a campaign is going to
        reach is not deleted.
      </Confirm>
    </>
  );
}
