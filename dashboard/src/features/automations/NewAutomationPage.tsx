// A new automation, from a ready-made one or from nothing. It is made paused.

import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { Page, Skeleton, useOnce } from '../../ui/index.ts';
import { Editor } from './Editor.tsx';
import { draftOf, freshStep, freshTrigger, inputOf } from './model.ts';
import { CreateAutomation } from './mutations.ts';
import { Templates } from './queries.ts';

const route = getRouteApi('/automations/new');

export function NewAutomationPage() {
  const { template } = route.useSearch();
  const navigate = useNavigate();
  const act = useOnce(CreateAutomation);
  const [{ data, fetching }] = useQuery({ query: Templates });
  const ready = data?.automation_templates.find(({ key }) => key === template);
  const draft = ready
    ? draftOf(ready)
    : { name: '', trigger: freshTrigger('event'), filter: null, steps: [freshStep()] };
  return (
    <Page title="New automation">
      {fetching ? (
        <Skeleton />
      ) : (
        <Editor
          key={template}
          start={draft}
          act="Create it, paused"
          state={act}
          onSave={async (changed) => {
            const made = await act.run({ automation: inputOf(changed) });
            if (made) await navigate({ to: '/automations/$id', params: { id: made.create_automation.id } });
          }}
        />
      )}
    </Page>
  );
}
