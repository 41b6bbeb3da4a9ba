import { defineConfig } from 'vitest/config';

// The server that the page talks to while developing with `npm run dev`; the built page talks to whoever serves it.
const server = process.env.COTOUCH_SERVER ?? 'http://127.0.0.1:8765';

export default defineConfig({
  base: './',
  build: { target: 'es2021', chunkSizeWarningLimit: 900, reportCompressedSize: false },
  server: { proxy: { '/api': server, '/feed': { target: server, ws: true } } },
  // A slow machine is no reason to fail.
  test: { include: ['tests/unit/**/*.test.ts'], testTimeout: 120_000 },
});
