import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const service = `http://127.0.0.1:${process.env.PORT ?? 8000}`;

export default defineConfig({
  base: '/app/',
  plugins: [react()],
  worker: { format: 'es' },
  build: {
    manifest: 'manifest.json',
    target: 'es2023',
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 3000,
    rolldownOptions: {
      input: ['index.html', 'docs.html', 'explorer.html'],
      onwarn: (warning, warn) => warning.code === 'MODULE_LEVEL_DIRECTIVE' || warn(warning),
    },
  },
  server: {
    fs: { allow: ['..'] },
    proxy: {
      '^/(graphql|login|logout|account|assets|openapi.json)': { target: service, ws: true, changeOrigin: true },
    },
  },
});
