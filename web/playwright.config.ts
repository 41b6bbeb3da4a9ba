// End-to-end tests in a real Chromium (headless, software WebGL), see tests/e2e/server.ts for what they run against.
import { execFileSync } from 'node:child_process';
import { defineConfig } from '@playwright/test';

function chromium(): string {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  return execFileSync('sh', ['-c', 'command -v chromium || command -v chromium-browser || command -v google-chrome'])
    .toString()
    .trim();
}

export default defineConfig({
  testDir: 'tests/e2e',
  outputDir: process.env.COTOUCH_E2E_OUTPUT ?? 'test-results',
  workers: 1,
  // A slow machine is no reason to fail; a hanging page is.
  timeout: 240_000,
  expect: { timeout: 60_000 },
  reporter: [['list']],
  projects: [
    // A quarter of the pixels: software draws them, and what is tested is seen in these as well.
    { name: 'page', testIgnore: 'docs.spec.ts', use: { deviceScaleFactor: 0.5 } },
    { name: 'pictures', testMatch: 'docs.spec.ts' },
  ],
  use: {
    viewport: { width: 1280, height: 720 },
    launchOptions: {
      executablePath: chromium(),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--enable-unsafe-swiftshader',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
});
