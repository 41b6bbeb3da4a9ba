// What the page does when something comes late, twice, or not at all.
import { expect, test, type Page } from '@playwright/test';
import {
  cubeStl,
  dragTogether,
  forceOf,
  grabPoint,
  later,
  open,
  openOther,
  openScene,
  sceneNames,
  settled,
  stateOf,
  watchErrors,
} from './page';
import { Server } from './server';
import { HandFlag } from '../../src/protocol';

const server = new Server();

test.beforeAll(() => server.start());
test.afterAll(() => server.end());

test('a recording that arrives after the user turned to something else does not play', async ({ page }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await openOther(page);
  await record(page);
  const late = await holdBack(page, '**/api/recording/*.frames*');

  await page.locator('.recordings li').first().getByRole('button', { name: /Replay/ }).click();
  await late.asked();
  const point = await grabPoint(page);
  await page.mouse.down();
  await page.mouse.move(point.x + 5, point.y);
  await expect.poll(async () => (await stateOf(page)).grip).toBe('held');
  await late.deliver();
  await later(page, 0.5);
  expect((await stateOf(page)).replay).toBeNull();
  expect((await stateOf(page)).grip).toBe('held');
  await page.mouse.up();
  await expect.poll(async () => (await stateOf(page)).grip).toBe('free');

  await page.locator('.recordings li').first().getByRole('button', { name: /Replay/ }).click();
  await late.asked();
  await openScene(page, (await sceneNames(page))[1]!);
  await late.deliver();
  await later(page, 0.5);
  expect((await stateOf(page)).replay).toBeNull();
  expect(errors).toEqual([]);
});

test('a scene that the server is too busy to send is asked for again, and the old one does not move meanwhile', async ({ page }) => {
  await open(page, server.address);
  await openOther(page);
  let busy = true;
  const refused = { scene: 0, mesh: 0 };
  const refuse = (what: 'scene' | 'mesh') => (route: import('@playwright/test').Route) => {
    if (!busy && refused[what] > 0) return route.fallback();
    ++refused[what];
    return route.fulfill({ status: 503, json: { error: 'The server is busy.' } });
  };
  await page.route(/\/api\/scene$/, refuse('scene'));
  await page.route(/\/api\/mesh\//, refuse('mesh'));
  const name = (await sceneNames(page))[1]!;
  await page.locator(`#scenes .card[data-scene="${name}"]`).click();
  await expect.poll(() => refused.scene, { timeout: 180_000 }).toBeGreaterThan(1);
  expect((await stateOf(page)).frame).toBeNull();
  await expect(page.locator('.toast', { hasText: 'busy' })).toBeVisible();
  busy = false;
  await settled(page, name);
  expect(refused.mesh).toBeGreaterThan(0);
});

test('the tone falls silent when the page is hidden and when the server is gone', async ({ page }) => {
  await page.addInitScript(() => {
    const glide = AudioParam.prototype.setTargetAtTime;
    AudioParam.prototype.setTargetAtTime = function (target, ...rest) {
      if (target < 1) Object.assign(window, { volume: target }); // pitches are higher
      return glide.call(this, target, ...rest);
    };
  });
  const volume = () => page.evaluate(() => (window as unknown as { volume: number }).volume);
  await open(page, server.address);
  await openOther(page);
  await page.locator('#sound').click();
  await dragTogether(page, (state) => forceOf(state) > 1);
  await expect.poll(volume).toBeGreaterThan(0);
  const hidden = await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
    document.dispatchEvent(new Event('visibilitychange'));
    return (window as unknown as { volume: number }).volume;
  });
  expect(hidden).toBe(0);
  await page.evaluate(() => Object.defineProperty(document, 'hidden', { configurable: true, get: () => false }));
  await expect.poll(volume).toBeGreaterThan(0);
  await server.kill();
  await expect.poll(volume).toBe(0);
  await page.mouse.up();
  await server.start();
});

test('a file that is being sent can be cancelled', async ({ page }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await page.route('**/api/upload*', () => {}); // never answered
  await page.locator('#tab-parts').click();
  await page.locator('#file').setInputFiles({ name: 'block.stl', mimeType: 'model/stl', buffer: cubeStl(20) });
  await page.getByRole('button', { name: 'Cancel block.stl' }).click();
  await expect(page.locator('.job')).toHaveCount(0);
  await expect(page.locator('.toast')).toHaveCount(0);
  expect(errors).toEqual([]);
});

test('on a tablet Move and Turn answer to arrows, and do not lie over a replay', async ({ browser }) => {
  const context = await browser.newContext({ viewport: { width: 1024, height: 768 }, hasTouch: true, isMobile: true });
  const page = await context.newPage();
  const errors = watchErrors(page);
  await open(page, server.address);
  await page.locator('#gallery-toggle').click();
  await openOther(page);
  expect(await page.evaluate(() => matchMedia('(pointer: coarse)').matches)).toBe(true);
  await expect(page.locator('#mode')).toBeVisible();
  await page.locator('#mode label', { hasText: 'Move' }).click();
  await page.keyboard.press('ArrowRight');
  await expect(page.locator('#mode-turn')).toBeChecked();
  await later(page, 0.2);
  expect((await stateOf(page)).grip).toBe('free'); // the arrow was not the part's
  await record(page);
  await page.locator('.recordings li').first().getByRole('button', { name: /Replay/ }).click();
  await expect(page.locator('#replay')).toBeVisible();
  await expect(page.locator('#mode')).toBeHidden();
  await page.getByRole('button', { name: 'Back to the live scene' }).click();
  await expect(page.locator('#mode')).toBeVisible();
  expect(errors).toEqual([]);
  await context.close();
});

test('the level of detail says when the work budget cut it', async ({ page }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await openScene(page, 'bridge-creature'); // needs four times what the smallest budget allows, a fifth of the largest
  // Not by mouse, which holds the part.
  const setBudget = (share: number) =>
    page.locator('.slider', { hasText: 'Work budget' }).locator('input').evaluate((slider: HTMLInputElement, value) => {
      slider.value = String(value);
      slider.dispatchEvent(new Event('input'));
      slider.dispatchEvent(new Event('change'));
    }, share);
  const coarse = async () => ((await stateOf(page)).frame!.hands[0]?.flags ?? 0) & HandFlag.detailLimited;
  await setBudget(1);
  await dragTogether(page, (state) => forceOf(state) > 0.5 && state.frame!.hands[0]!.inContact > 0);
  await expect(page.locator('#coarser')).toBeHidden();
  expect(await coarse()).toBe(0);
  await setBudget(0);
  await expect(page.locator('#coarser')).toBeVisible();
  expect(await coarse()).not.toBe(0);
  await setBudget(1);
  await expect(page.locator('#coarser')).toBeHidden();
  expect(await coarse()).toBe(0);
  await page.mouse.up();
  expect(errors).toEqual([]);
});

async function record(page: Page): Promise<void> {
  await page.locator('#record').click();
  await expect(page.locator('#record')).toHaveText('Stop');
  await later(page, 0.3);
  await page.locator('#record').click();
  await expect(page.locator('#record')).toHaveText('Record');
  await page.locator('#tab-record').click();
  await expect(page.locator('.recordings li').first()).toBeVisible();
}

// Keeps the answers to requests until they are delivered.
async function holdBack(page: Page, address: string) {
  const waiting: (() => Promise<void>)[] = [];
  await page.route(address, (route) => void waiting.push(() => route.continue()));
  return {
    asked: () => expect.poll(() => waiting.length).toBe(1),
    deliver: async () => {
      const arrived = page.waitForResponse(address);
      await waiting.shift()!();
      await (await arrived).finished();
    },
  };
}
