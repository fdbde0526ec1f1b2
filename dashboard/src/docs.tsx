// The entry of the public pages for developers.

import './theme/components.css';
import './theme/tokens.css';
import { MantineProvider } from '@mantine/core';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Documentation } from './features/developers/Documentation.tsx';
import { theme } from './theme/theme.ts';

const nonce = document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.nonce ?? '';
setNonce(nonce);

const place = document.getElementById('root');
if (place) {
  createRoot(place).render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
        <Documentation path={window.location.pathname} />
      </MantineProvider>
    </StrictMode>,
  );
}
