// The pictures of docs/first-steps.md, docs/sharing.md and docs/elastic.md, as a newcomer sees the page. They are kept in docs/pictures; whoever
// changes what they show makes them with `npm run pictures` and copies them there from this test's output folder.
import { expect, test, type Page } from '@playwright/test';
import { lookAlongRails, takeHold } from './docking';
import { meet, newPage } from './meeting';
import { dragTogether, forceOf, grabPoint, later, open, openScene, peakForce, stateOf, watchErrors } from './page';
import { Server } from './server';
import type { TestHook } from '../../src/main';

declare const cotouch: TestHook;

const [server, guest] = [new Server(), new Server()];
const picture = (page: Page, name: string) => page.screenshot({ path: test.info().outputPath(`${name}.png`) });

test.beforeAll(() => server.start());
test.afterAll(() => server.end());

test('a creature pressed onto a bridge, in light, in dark and in a replay', async ({ page }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await openScene(page, 'bridge-creature');
  await page.locator('#record').click();
  await expect(page.locator('#record')).toHaveText('Stop');
  await dragTogether(page, (state) => forceOf(state) > 5);
  await page.evaluate(() => cotouch.lookFrom(0.6, -1, 0.5)); // a drag is easiest from the front, a picture tells more from here
  await later(page, 2);
  const felt = await peakForce(page);
  expect(felt).toBeGreaterThan(4);
  await picture(page, 'first-touch');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForTimeout(800);
  await picture(page, 'first-dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.mouse.up();
  await page.locator('#record').click();
  await expect(page.locator('#record')).toHaveText('Record');
  await page.locator('#tab-record').click();
  await page.locator('.recordings li').first().getByRole('button', { name: /Replay/ }).click();
  await expect.poll(async () => (await stateOf(page)).replay?.frames ?? 0).toBeGreaterThan(5);
  await page.locator('#replay input').evaluate((slider: HTMLInputElement) => {
    slider.value = String(0.9 * Number(slider.max));
    slider.dispatchEvent(new Event('input'));
  });
  await expect.poll(async () => forceOf(await stateOf(page))).toBeGreaterThan(1);
  await picture(page, 'replay');
  expect(errors).toEqual([]);
});

test('docking, with the World tab', async ({ page }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await openScene(page, 'docking');
  await page.locator('#tab-world').click();
  const point = await grabPoint(page);
  await page.mouse.click(point.x, point.y);
  await expect(page.locator('#body')).toBeVisible();
  await later(page, 0.5);
  await picture(page, 'world');
  expect(errors).toEqual([]);
});

const placeOf = (page: Page, at: [number, number, number]) => page.evaluate(([x, y, z]) => cotouch.project(x, y, z), at);

// Selects the body that bends at a place of the world and colours it by its strain.
async function colour(page: Page, at: [number, number, number]): Promise<void> {
  const point = await placeOf(page, at);
  await page.mouse.click(point.x, point.y);
  await expect(page.locator('#bending')).toBeVisible();
  await page.locator('#strain').check();
}

async function drag(page: Page, at: [number, number, number], by: { x: number; y: number }): Promise<void> {
  const from = await placeOf(page, at);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await expect.poll(async () => (await stateOf(page)).grip).toBe('held');
  for (let i = 1; i <= 40; ++i) {
    await page.mouse.move(from.x + (by.x * i) / 40, from.y + (by.y * i) / 40);
    await later(page, 0.04);
  }
  await later(page, 1);
}

test('bodies that bend, coloured by strain', async ({ page }) => {
  const errors = watchErrors(page);
  await page.addInitScript(() => localStorage.setItem('cotouch.near', 'off')); // no colours but those of strain
  await open(page, server.address);
  await openScene(page, 'hoses');
  await page.locator('#tab-world').click();
  const fromAbove = () => page.evaluate(() => cotouch.lookFrom(0.5, -0.8, 1.3));
  await fromAbove();
  await later(page, 0.5);
  for (const y of [0.016, -0.016]) await colour(page, [0.06, y, -0.0125]);
  await page.evaluate(() => cotouch.lookFrom(0, -1, 0)); // the mouse moves bodies in the plane of the screen
  await later(page, 0.5);
  const [high, low] = [await placeOf(page, [0, 0, 0.06]), await placeOf(page, [0, 0, -0.02])];
  await drag(page, [0, 0, 0.06], { x: low.x - high.x, y: low.y - high.y });
  await fromAbove();
  await later(page, 0.5);
  expect((await stateOf(page)).bending[0]!.drawn).toBeGreaterThan(0.003);
  await picture(page, 'hoses');
  await page.mouse.up();

  await openScene(page, 'soft-bar');
  await page.evaluate(() => cotouch.lookFrom(0.3, -1, 0.35));
  await later(page, 0.5);
  await colour(page, [0, -0.015, 0.01]);
  await drag(page, [0.11, -0.015, 0.01], { x: -40, y: -130 });
  await page.locator('#strain-largest').scrollIntoViewIfNeeded();
  await picture(page, 'soft-bar');
  expect(errors).toEqual([]);
});

test('two people hold the box, with the Together tab', async ({ page, browser }) => {
  const errors = watchErrors(page);
  const joining = await newPage(browser);
  await guest.start();
  await meet(page, server, joining, guest);
  const say = async (from: Page, text: string) => {
    await from.locator('#chat-text').fill(text);
    await from.locator('#chat-text').press('Enter');
    for (const each of [page, joining]) await expect(each.locator('#chat')).toContainText(text);
  };
  await say(joining, 'I take the right side');
  await say(page, 'and I the left one');
  const { part } = (await stateOf(joining)).moving!;
  for (const each of [page, joining]) await lookAlongRails(each);
  const { screen } = (await joining.evaluate((id) => cotouch.part(id), part))!;
  await joining.locator('#mark-drop').click();
  await joining.mouse.click(screen.x, screen.y);
  await expect(page.locator('.pin-label')).toHaveCount(1);
  await page.locator('#side').evaluate((side) => side.scrollTo(0, 0));
  await takeHold(joining, 0.6);
  await takeHold(page, -0.6);
  await page.evaluate(() => cotouch.lookFrom(0.6, -1, 0.5));
  await later(page, 2);
  await picture(page, 'together');
  await guest.end();
  expect(errors).toEqual([]);
});
