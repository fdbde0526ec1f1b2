// The theme of the components: one accent, the system's fonts, the tokens of tokens.css.

import { createTheme, Drawer, DrawerHeader, InputWrapper, Modal, ModalHeader } from '@mantine/core';

const closing = { closeButtonProps: { 'aria-label': 'Close' } };
const notBanner = { role: 'presentation' };

export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: 6,
  defaultRadius: 8,
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: 'Inter, -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, monospace',
  colors: {
    accent: [
      '#f3f3fd',
      '#e6e6fa',
      '#cfcff5',
      '#b1a9ff',
      '#8e8cf0',
      '#6a66dc',
      '#5b5bd6',
      '#4a4ac4',
      '#3d3da6',
      '#2b2b5c',
    ],
  },
  components: {
    InputWrapper: InputWrapper.extend({ defaultProps: { withAsterisk: false } }),
    Modal: Modal.extend({ defaultProps: { ...closing, centered: true, radius: 16 } }),
    ModalHeader: ModalHeader.extend({ defaultProps: notBanner }),
    Drawer: Drawer.extend({ defaultProps: closing }),
    DrawerHeader: DrawerHeader.extend({ defaultProps: notBanner }),
  },
});
