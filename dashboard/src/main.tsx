// The entry: who is signed in and the position of the updates are asked first, then the page is shown and the updates are followed.

import './theme/components.css';
import './theme/tokens.css';
import { MantineProvider } from '@mantine/core';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode, Suspense, useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { Provider, useQuery } from 'urql';
import { sendWaiting } from './features/conversations/waiting.ts';
import { connect, createStore, follow, LastUpdate, rememberUser, ViewerContext, ViewerQuery } from './graphql/index.ts';
import { router } from './router.tsx';
import { theme } from './theme/theme.ts';
import { Failure, shown, showIn } from './ui/index.ts';

const nonce = document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.nonce ?? '';
setNonce(nonce);

/** Toasts are loaded beside the page, with their styles; a page does without them if that fails. */
const Notifications = shown(
  async () => {
    await import('@mantine/notifications/styles.layer.css');
    return (await import('@mantine/notifications')).Notifications;
  },
  () => null,
);

const client = connect();
const isFollowing = createStore(false);

function App() {
  const [{ data, error }, retry] = useQuery({ query: ViewerQuery });
  const [position] = useQuery({ query: LastUpdate });
  const id = position.fetching ? undefined : data?.viewer.id;
  const from = position.data?.last_update_id;
  useEffect(() => {
    if (id) begin(id, from);
  }, [id, from]);
  if (error && !data) return <Failure error={error} retry={() => retry({ requestPolicy: 'network-only' })} />;
  if (!data || position.fetching) return null;
  const { time_zone, locale } = data.viewer;
  showIn({ time_zone, locale });
  return (
    <ViewerContext value={data.viewer}>
      <RouterProvider key={`${time_zone} ${locale}`} router={router} />
    </ViewerContext>
  );
}

/** Follow the updates of a person, once. */
function begin(id: number, from?: number): void {
  if (isFollowing.get()) return;
  isFollowing.set(true);
  rememberUser(id);
  void follow(client, from);
  sendWaiting(client, id);
}

const place = document.getElementById('root');
if (place) {
  createRoot(place).render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
        <Suspense>
          <Notifications position="bottom-center" />
        </Suspense>
        <Provider value={client}>
          <App />
        </Provider>
      </MantineProvider>
    </StrictMode>,
  );
}
