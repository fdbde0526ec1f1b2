import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const service = `http://127.0.0.1:${process.env.PORT ?? 8000}`;

export default defineConfig({
  base: '/app/',
  plugins: [react()],
  html: { cspNonce: '__NONCE__' },
  build: { manifest: 'manifest.json', target: 'es2023', assetsInlineLimit: 0, reportCompressedSize: false },
  server: {
    proxy: {
      '^/(graphql|login|logout|account|assets)': { target: service, ws: true, changeOrigin: true },
    },
  },
});
