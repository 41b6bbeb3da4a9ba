// A world of many bodies in real browsers: pictures of its scenes, two pages with a hand each, a copy.
import { expect, test, type Page } from '@playwright/test';
import { closePages, newPage } from './meeting';
import { later, open, openScene, settled, stateOf, watchErrors } from './page';
import { Server } from './server';
import type { TestHook } from '../../src/main';

declare const cotouch: TestHook;

const server = new Server();
const picture = (page: Page, name: string) => page.screenshot({ path: test.info().outputPath(`${name}.png`) });

test.beforeAll(() => server.start());
test.afterAll(() => server.end());
test.afterEach(closePages);

// Takes the part by its middle and leads it by so many pixels.
async function lead(page: Page, name: string, right: number, down: number): Promise<void> {
  const { id } = (await stateOf(page)).parts.find((part) => part.name === name)!;
  const { screen } = (await page.evaluate((part) => cotouch.part(part), id))!;
  await page.mouse.move(screen.x, screen.y);
  await page.mouse.down();
  await expect.poll(async () => (await stateOf(page)).grip).toBe('held');
  for (let i = 1; i <= 8; ++i) {
    await page.mouse.move(screen.x + (right * i) / 8, screen.y + (down * i) / 8);
    await later(page, 0.05);
  }
}

test('scenes of many bodies have a picture in the gallery', async ({ page }) => {
  await open(page, server.address);
  for (const name of ['stack', 'docking', 'assembly', 'billiard']) {
    const image = page.locator(`#scenes .card[data-scene="${name}"] img`);
    await image.scrollIntoViewIfNeeded();
    await expect.poll(() => image.evaluate((img: HTMLImageElement) => img.complete && img.naturalWidth)).toBeGreaterThan(100);
  }
  await picture(page, 'gallery');
});

test('two pages hold a body each and see their own numbers', async ({ page, browser }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await openScene(page, 'stack');
  await later(page, 1.5);
  expect((await stateOf(page)).frame!.contacts.length).toBe(0); // what lies there is not marked
  await expect(page.locator('#clearance')).not.toHaveClass(/alarm/);
  const other = await newPage(browser);
  await open(other, server.address);

  // Low things, towards the middle of the plate: whatever falls over stays on it. A falling gate throws its topmost cube off.
  await lead(page, 'single cube', -30, -60);
  await lead(other, 'crossing brick', -20, -20);
  await later(other, 0.3);
  await later(page, 0.3);
  await picture(page, 'one');
  await picture(other, 'other');
  // The brick carries a cube, so it touches; the cube is in the air.
  await expect(page.locator('.tile', { hasText: 'Contact' }).locator('output')).toHaveText('0');
  await expect(other.locator('.tile', { hasText: 'Contact' }).locator('output')).not.toHaveText('0');
  // The mouse is busy holding.
  for (const each of [page, other]) await each.evaluate(() => document.getElementById('tab-world')!.click());
  await expect(page.locator('#body-status')).toHaveText(/^Held by [^,]*$/);
  await expect(other.locator('#body-status')).toHaveText(/^Held by .*, touches something$/);

  await other.mouse.up();
  await page.mouse.up();
  await expect(page.locator('#body-status')).toHaveText('At rest, touches something');
  await page.getByRole('button', { name: 'Add a copy of this body' }).click();
  await expect.poll(async () => (await stateOf(page)).parts.length).toBe(12);
  await settled(page);
  await later(page, 1);
  await picture(page, 'copy');
  // It stays on the plate, whose upper side is at the height of nought.
  const heights = (await stateOf(page)).frame!.bodies.map((body) => body.pose.position[2]);
  expect(Math.min(...heights)).toBeGreaterThan(-0.05);
  expect(errors).toEqual([]);
});
