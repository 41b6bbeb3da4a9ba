// A device at the server's machine, in a real browser: what it holds and feels, off and on.
import { expect, test, type Locator } from '@playwright/test';
import { open, openScene, watchErrors } from './page';
import { Server } from './server';

const server = new Server(['--device', 'simulated']);
const without = new Server();

test.beforeAll(() => Promise.all([server.start(), without.start()]));
test.afterAll(() => Promise.all([server.end(), without.end()]));

// On a busy machine the watchdog may cut its power, and rightly: then it is switched on again.
async function shows(device: Locator, words: RegExp): Promise<void> {
  const switchOn = device.getByRole('button', { name: 'Switch on' });
  await expect(async () => {
    if (await switchOn.isVisible()) await switchOn.click({ timeout: 1000 });
    await expect(device.locator('.doing')).toContainText(words, { timeout: 1000 });
  }).toPass({ timeout: 60_000 });
}

test('a device with motors moves a body, is felt with, and is switched off and on', async ({ page }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await openScene(page, 'ball-socket');
  await page.locator('#tab-world').click();
  const device = page.locator('#devices li').filter({ hasText: 'simulated' });
  await expect(device.locator('strong')).toHaveText('simulated device');
  await shows(device, /^holds (?!nothing)/);
  await shows(device, /[1-9].* N · \d{3,4} times a second/);
  await expect(page.locator('#people')).toContainText('simulated device');
  await device.getByRole('button', { name: 'Switch off: simulated device' }).click();
  await expect(device.locator('.doing')).toHaveText('switched off');
  await page.locator('#reset').click(); // it dropped the ball on its way
  await device.getByRole('button', { name: 'Switch on: simulated device' }).click();
  await shows(device, /holds (?!nothing)/);
  expect(errors).toEqual([]);
});

test('a device that is connected and was not asked for is shown', async ({ page }) => {
  await open(page, without.address);
  await page.locator('#tab-world').click();
  const device = page.locator('#devices li').filter({ hasText: 'simulated' });
  await expect(device.locator('.doing')).toHaveText('does not take part');
  await expect(device.locator('.reason')).toHaveText('It is connected. Start cotouch with --device simulated to let it take part.');
  await expect(device.getByRole('button')).toHaveCount(0);
});
