import { defineConfig } from 'vitest/config';

// The server that the page talks to while developing with `npm run dev`; the built page talks to whoever serves it.
const server = process.env.COTOUCH_SERVER ?? 'http://127.0.0.1:7117';

// The server answers only to its own name and to pages of its own (403 otherwise), so Host and Origin become the server's.
const proxy = { target: server, changeOrigin: true, headers: { Origin: server } };

export default defineConfig(({ command }) => ({
  base: './',
  // Page and server prove who they are with the server's name in it, which the proxy changes.
  define: { 'import.meta.env.VITE_SERVER_HOST': JSON.stringify(command === 'serve' ? new URL(server).host : '') },
  build: { target: 'es2021', chunkSizeWarningLimit: 900, reportCompressedSize: false },
  server: { proxy: { '/api': proxy, '/door': proxy, '/feed': { ...proxy, ws: true } } },
  // A slow machine is no reason to fail.
  test: { include: ['tests/unit/**/*.test.ts'], testTimeout: 120_000 },
}));
