// The server is killed in the midst of a recording and with parts that were not saved; after a restart both are there.
import { expect, test } from '@playwright/test';
import { later, open, openOther, sceneNames, settled, unsavedNames, watchErrors } from './page';
import { Server } from './server';

const [server, untouched] = [new Server(), new Server()];

test.beforeAll(async () => {
  await server.start();
});
test.afterAll(async () => {
  await server.end();
  await untouched.end();
});

// A tetrahedron of 20 mm.
const kPart = `v 0 0 0\nv 20 0 0\nv 0 20 0\nv 0 0 20\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n`;

test('a killed server loses neither the recording nor the parts', async ({ page }) => {
  await open(page, server.address);
  await page.locator('#tab-parts').click();
  await page.setInputFiles('#file', { name: 'corner.obj', mimeType: 'text/plain', buffer: Buffer.from(kPart) });
  await expect(page.locator('.parts li', { hasText: 'corner' })).toBeVisible();
  await page.setInputFiles('#file', { name: 'other.obj', mimeType: 'text/plain', buffer: Buffer.from(kPart) });
  await expect(page.locator('.parts li', { hasText: 'other' })).toBeVisible();
  await expect.poll(() => unsavedNames(page)).toHaveLength(1);

  await page.locator('#record').click();
  await expect(page.locator('#record')).toHaveText('Stop');
  await later(page, 2.5);
  await server.kill();

  await server.start();
  await open(page, server.address);
  await page.locator('#tab-record').click();
  const entry = page.locator('.recordings li').first();
  await expect(entry).toContainText('Recovered');
  await entry.getByText('Replay').click();
  const slider = page.locator('input[aria-label="Time"]');
  await expect(slider).toBeVisible();
  expect(Number(await slider.getAttribute('max'))).toBeGreaterThan(1);
  await page.getByRole('button', { name: 'Back to the live scene' }).click();

  const card = page.locator('#scenes .card[data-scene^="unsaved"]');
  await expect(card).toContainText('Unsaved');
  await card.click();
  await settled(page);
  await page.locator('#tab-parts').click();
  await expect(page.locator('.parts li', { hasText: 'corner' })).toBeVisible();
  await expect(page.locator('.parts li', { hasText: 'other' })).toBeVisible();
});

test('saving over a scene asks', async ({ page }) => {
  await open(page, server.address);
  await openOther(page);
  await page.locator('#tab-parts').click();
  const save = async () => {
    await page.locator('#save-name').fill('twice');
    await page.locator('#save-name').press('Enter');
  };
  await save();
  await expect.poll(() => sceneNames(page)).toContain('twice');
  await save();
  await expect(page.getByText('Replace it?')).toBeVisible();
  await page.getByRole('button', { name: 'Replace the scene twice' }).click();
  await expect(page.locator('.toast', { hasText: 'Saved' }).last()).toBeVisible();
  await expect(page.getByText('Replace it?')).toBeHidden();
});

test('the picture of what was not saved is asked for when it has just been saved, and is no error', async ({ page }) => {
  await untouched.start(); // what others left unsaved would have its picture asked for as well
  const errors = watchErrors(page);
  let letGo = () => {};
  const saved = new Promise<void>((resolve) => (letGo = resolve));
  await page.route('**/api/thumbnail/unsaved*.png', async (route) => {
    await saved;
    await route.continue();
  });
  await open(page, untouched.address);
  await openOther(page);
  await page.locator('#tab-parts').click();
  const asked = page.waitForRequest('**/api/thumbnail/unsaved*.png');
  await page.setInputFiles('#file', { name: 'corner.obj', mimeType: 'text/plain', buffer: Buffer.from(kPart) });
  await asked;
  await page.locator('#save-name').fill('asked-late');
  await page.locator('#save-name').press('Enter');
  await expect.poll(() => sceneNames(page)).toContain('asked-late');
  await expect.poll(() => unsavedNames(page)).toHaveLength(0);
  const answered = page.waitForResponse('**/api/thumbnail/unsaved*.png');
  letGo();
  expect((await answered).status()).toBe(204);
  expect(errors).toEqual([]);
});
