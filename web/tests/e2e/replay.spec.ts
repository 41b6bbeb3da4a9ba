// A replay is of the page that plays it: the others see and lose nothing, and cannot end it.
import { expect, test, type Page } from '@playwright/test';
import { grabPoint, later, open, openScene, sceneNames, stateOf, watchErrors } from './page';
import { Server } from './server';

const server = new Server();

test.beforeAll(() => server.start());
test.afterAll(() => server.end());

test('replaying a recording of another scene leaves the other page its scene and its hand', async ({ page, context }) => {
  test.setTimeout(600_000);
  const errors = watchErrors(page);
  await open(page, server.address);
  await expect(page.locator('#scenes .card').first()).toBeVisible();
  const [recorded, live, third] = await sceneNames(page);
  await openScene(page, recorded!);
  await page.locator('#record').click();
  await expect(page.locator('#record')).toHaveText('Stop');
  await later(page, 1);
  await page.locator('#record').click();
  await expect(page.locator('#record')).toHaveText('Record');
  await openScene(page, live!);

  const other = await context.newPage();
  const otherErrors = watchErrors(other);
  await open(other, server.address);
  await other.bringToFront();
  await grabPoint(other);
  await other.mouse.down();
  await expect.poll(async () => (await stateOf(other)).grip).toBe('held');
  const before = await stateOf(other);

  await page.bringToFront();
  await page.locator('#tab-record').click();
  await page.locator('.recordings li').first().getByRole('button', { name: /Replay/ }).click();
  await expect.poll(async () => (await stateOf(page)).replay?.frames ?? 0, { timeout: 120_000 }).toBeGreaterThan(5);
  await expect.poll(async () => (await stateOf(page)).scene).toBe(recorded);
  expect((await stateOf(page)).complete).toBe(true);
  await page.keyboard.press('KeyR'); // what is live is not this page's to reset now

  await other.bringToFront();
  await expect.poll(async () => (await stateOf(other)).received).toBeGreaterThan(before.received + 20);
  const after = await stateOf(other);
  expect(after.scene).toBe(live);
  expect(after.generation).toBe(before.generation);
  expect(after.grip).toBe('held');
  expect(after.replay).toBeNull();
  expect(after.frame!.hands.some((hand) => hand.body === before.moving!.body)).toBe(true);
  await other.mouse.up();

  // The other way round: what the other page opens does not end the replay, and is there when it ends.
  await openScene(other, third!);
  await page.bringToFront();
  const { time } = (await stateOf(page)).replay!;
  await restartAtEnd(page);
  await expect.poll(async () => (await stateOf(page)).replay?.time).not.toBe(time);
  expect((await stateOf(page)).scene).toBe(recorded);
  await page.getByRole('button', { name: 'Back to the live scene' }).click();
  await expect.poll(async () => (await stateOf(page)).scene, { timeout: 120_000 }).toBe(third);
  await expect.poll(async () => (await stateOf(page)).complete && (await stateOf(page)).frame !== null).toBe(true);
  expect(errors).toEqual([]);
  expect(otherErrors).toEqual([]);
  await other.close();
});

// A short recording may have come to its end.
async function restartAtEnd(page: Page): Promise<void> {
  if (!(await stateOf(page)).replay!.playing) await page.getByRole('button', { name: 'Play or pause (Space)' }).click();
}
