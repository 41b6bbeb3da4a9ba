import { expect, test, type Page } from '@playwright/test';
import { grabPoint, later, open, openScene, stateOf, watchErrors } from './page';
import { Server } from './server';
import type { TestHook } from '../../src/main';
declare const cotouch: TestHook;
const server = new Server();
test.beforeAll(() => server.start());
test.afterAll(() => server.end());
const shot = (page: Page, name: string) => page.screenshot({ path: `/tmp/wts/shots/${name}.png` });
for (const scene of (process.env.SCENES ?? 'stack docking assembly billiard').split(' ')) {
  test(`play ${scene}`, async ({ page }) => {
    const errors = watchErrors(page);
    await open(page, server.address);
    await openScene(page, scene);
    await later(page, 1.5);
    await shot(page, `${scene}-1`);
    const s = await stateOf(page);
    console.log(scene, JSON.stringify({ frame: s.frame && { ...s.frame, bodies: s.frame.bodies.length, contacts: undefined, traversed: undefined } }).slice(0, 900));
    const p = await grabPoint(page);
    await page.mouse.down();
    await expect.poll(async () => (await stateOf(page)).grip).toBe('held');
    for (let i = 1; i <= 20; ++i) { await page.mouse.move(p.x + 2 * i, p.y - 4 * i); await later(page, 0.03); }
    await shot(page, `${scene}-2-held`);
    for (let i = 1; i <= 20; ++i) { await page.mouse.move(p.x + 40 - 6 * i, p.y - 80 + 5 * i); await later(page, 0.03); }
    await shot(page, `${scene}-3-pressed`);
    await page.mouse.up();
    await later(page, 1);
    await page.locator('#tab-world').click();
    await shot(page, `${scene}-4-world`);
    console.log(scene, 'errors', errors);
  });
}
