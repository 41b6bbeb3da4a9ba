// Bodies that bend in a real browser: the mouse bends one, the picture shows it, and the panel plays its modes.
import { expect, test, type Page } from '@playwright/test';
import { grabPoint, later, open, openScene, sceneNames, stateOf, watchErrors } from './page';
import { Server } from './server';
import type { TestHook } from '../../src/main';

declare const cotouch: TestHook;

const kScene = 'hoses';
const server = new Server();

test.beforeAll(() => server.start());
test.afterAll(() => server.end());

const picture = (page: Page, name: string) => page.screenshot({ path: test.info().outputPath(`${name}.png`) });
const drawn = async (page: Page) => (await stateOf(page)).bending[0]!.drawn;
// The shape's coordinates, as one number.
const size = async (page: Page) => Math.hypot(...(await stateOf(page)).bending[0]!.q);

// The scene alone, as the page draws it: two of them differ only if what is drawn does.
const scene = (page: Page) => page.evaluate(() => cotouch.thumbnail());

async function openSoft(page: Page): Promise<void> {
  await open(page, server.address);
  await expect(page.locator('#scenes .card').first()).toBeVisible();
  test.skip(!(await sceneNames(page)).includes(kScene), `This server has no scene ${kScene}.`);
  if ((await stateOf(page)).scene !== kScene) await openScene(page, kScene);
}

test('the mouse bends a soft body, the picture shows it and it comes back', async ({ page }) => {
  const errors = watchErrors(page);
  await openSoft(page);
  expect(await drawn(page)).toBeLessThan(0.004);
  const before = await scene(page);
  const { body } = (await stateOf(page)).bending[0]!;

  const grab = await grabPoint(page);
  await page.mouse.down();
  await expect.poll(async () => (await stateOf(page)).grip).toBe('held');
  await expect.poll(async () => (await stateOf(page)).frame?.hands[0]?.body).toBe(body);
  for (let i = 1; i <= 20; ++i) {
    await page.mouse.move(grab.x, grab.y - 4 * i);
    await later(page, 0.03);
  }
  await expect.poll(() => drawn(page)).toBeGreaterThan(0.01);
  await picture(page, 'bent');
  expect(await scene(page)).not.toBe(before);
  const bent = (await stateOf(page)).frame!;
  // What is held is the point under the pointer: the grip has come along, and the hand feels the body pull.
  const [hand] = bent.hands;
  const grip = await page.evaluate(([x, y, z]) => cotouch.project(x!, y!, z!), hand!.grip.position);
  expect(grip.y).toBeLessThan(grab.y - 20);
  expect(Math.hypot(...hand!.force)).toBeGreaterThan(0.05);

  await page.mouse.up();
  await expect.poll(() => drawn(page), { timeout: 30_000 }).toBeLessThan(0.006);
  expect(errors).toEqual([]);
});

test('the panel colours a soft body by strain and plays its modes', async ({ page }) => {
  const errors = watchErrors(page);
  await openSoft(page);
  await page.locator('#tab-world').click();
  await expect(page.locator('#bending')).toBeHidden();
  const grab = await grabPoint(page);
  await page.mouse.click(grab.x, grab.y);
  await expect(page.locator('#bending')).toBeVisible();
  await expect(page.locator('#bending-facts')).toContainText('coordinates');
  await expect.poll(() => drawn(page), { timeout: 30_000 }).toBeLessThan(0.004);

  const plain = await scene(page);
  await page.locator('#strain').check();
  await expect(page.locator('#strain-legend')).toBeVisible();
  await expect(page.locator('#strain-largest')).toContainText('%');
  await expect.poll(() => scene(page)).not.toBe(plain);

  // By keyboard: the viewer opens, another mode is chosen and it swings, for this page only.
  await page.locator('#bending button').focus();
  await page.keyboard.press('Enter');
  await expect(page.locator('#modes')).toBeVisible();
  await page.locator('#mode-index').focus();
  await page.keyboard.press('ArrowDown');
  await expect(page.locator('#mode-index')).toHaveJSProperty('selectedIndex', 1);
  await expect(page.locator('#mode-index option').nth(1)).toHaveText(/^Mode 2 · .* Hz$/);
  await expect.poll(() => drawn(page)).toBeGreaterThan(0.01);
  await picture(page, 'mode');
  expect(await size(page)).toBeLessThan(1e-3); // the server's body does not bend
  await page.locator('#bending button').click();
  await expect(page.locator('#modes')).toBeHidden();
  await expect.poll(() => drawn(page)).toBeLessThan(0.004);
  await page.locator('#strain').uncheck();
  await expect.poll(() => scene(page)).toBe(plain);
  expect(errors).toEqual([]);
});
