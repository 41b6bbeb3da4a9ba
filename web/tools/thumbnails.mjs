// Makes the gallery's pictures: opens every built-in scene of a running server and saves the page's thumbnail of it.
//
//   npm run thumbnails -- 'http://127.0.0.1:7117/#token=…'
//
// Writes src/thumbnails/<scene>.png, to be committed; run it again when scenes change.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';

const address = process.argv[2];
if (!address) throw new Error('Give the address that the server printed.');
const folder = fileURLToPath(new URL('../src/thumbnails', import.meta.url));
mkdirSync(folder, { recursive: true });
const executablePath = process.env.CHROMIUM ?? execFileSync('sh', ['-c', 'command -v chromium']).toString().trim();
const args = ['--no-sandbox', '--disable-gpu', '--enable-unsafe-swiftshader', '--disable-background-networking'];
const browser = await chromium.launch({ executablePath, args });
try {
  // So wide that what the panels leave free has a thumbnail's shape: nothing of a tall scene is cut off.
  const page = await browser.newPage({ viewport: { width: 1600, height: 720 }, colorScheme: 'light' });
  await page.addInitScript(() => localStorage.setItem('cotouch.near', 'off')); // parts in their own colours
  await page.goto(address);
  await page.waitForSelector('#scenes .card');
  // Saved scenes can be deleted; all others are built in.
  const scenes = await page.locator('#scenes li').evaluateAll((items) =>
    items.map((item) => ({ name: item.querySelector('.card').dataset.scene, saved: item.querySelector('.removal') !== null })),
  );
  for (const { name, saved } of scenes) {
    if (saved) continue;
    await page.click(`#scenes .card[data-scene="${name}"]`);
    const ready = (wanted) => {
      const state = window.cotouch.state();
      return state.scene === wanted && state.complete && state.frame !== null;
    };
    await page.waitForFunction(ready, name, { timeout: 120_000 });
    await page.waitForTimeout(500);
    const data = await page.evaluate(() => window.cotouch.thumbnail());
    writeFileSync(`${folder}/${name}.png`, Buffer.from(data.split(',')[1], 'base64'));
    console.log(`${name}.png`);
  }
} finally {
  await browser.close();
}
