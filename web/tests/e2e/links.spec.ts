// Links in a real browser: who watches, who holds, who owns; and that no secret is left where others look.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, type Browser, type Page } from '@playwright/test';
import { grabPoint, later, open, openScene, settled, stateOf, watchErrors } from './page';
import { Server } from './server';

const server = new Server();

test.beforeAll(() => server.start());
test.afterAll(() => server.end());

async function newPage(browser: Browser): Promise<Page> {
  return (await browser.newContext({ viewport: { width: 1280, height: 720 } })).newPage();
}

// The owner makes a link in the page and copies it.
async function makeLink(owner: Page, rights: 'hand' | 'watch', label: string): Promise<string> {
  await owner.locator('#tab-settings').click();
  await owner.locator('#link-label').fill(label);
  await owner.locator('#link-rights').selectOption(rights);
  await owner.locator('#link-add').click();
  const item = owner.locator('.links li', { hasText: label });
  await expect(item).toHaveCount(1);
  await owner.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await item.getByRole('button', { name: /Copy/ }).click();
  await expect(owner.locator('.toast').last()).toContainText('Copied');
  const address = await owner.evaluate(() => navigator.clipboard.readText());
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[0-9a-f]{32}$/);
  return address;
}

async function grab(page: Page): Promise<void> {
  const point = await grabPoint(page);
  await page.mouse.down();
  await expect.poll(async () => (await stateOf(page)).grip).toBe('held');
  await page.mouse.move(point.x + 3, point.y + 3);
}

test('the token leaves the address at once, and a reload works without it', async ({ page }) => {
  const errors = watchErrors(page);
  const sent: string[] = [];
  const token = /token=(.*)$/.exec(server.address)![1]!;
  page.on('request', (request) => sent.push(request.url(), JSON.stringify(request.headers())));
  await open(page, server.address);
  expect(page.url()).not.toContain('token');
  await page.reload();
  await settled(page);
  expect(sent.length).toBeGreaterThan(10);
  expect(sent.join()).not.toContain(token);
  expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).not.toContain(token);
  expect(errors).toEqual([]);
});

test('who came by a link that watches sees but cannot grab', async ({ browser }) => {
  const [owner, guest] = [await newPage(browser), await newPage(browser)];
  await open(owner, server.address);
  await openScene(owner, 'docking');
  const errors = watchErrors(guest);
  await open(guest, await makeLink(owner, 'watch', 'Wanda'));
  await settled(guest, 'docking');
  await expect(guest.locator('#hint')).toContainText('You are watching');
  for (const id of ['#reset', '#record', '#links', '#together-open']) await expect(guest.locator(id)).toBeHidden();
  await expect(guest.locator('#tab-record')).toBeVisible(); // what was recorded is for everybody
  await expect(guest.locator('#gallery .held')).toContainText('only watches');
  await expect(guest.locator('#scenes .card').first()).toBeDisabled();
  await grabPoint(guest);
  await guest.mouse.down();
  await later(guest, 0.5);
  expect((await stateOf(guest)).grip).toBe('free');
  expect((await stateOf(guest)).frame!.hands).toEqual([]);
  expect(errors).toEqual([]);
  await Promise.all([owner.context().close(), guest.context().close()]);
});

test('a revoked hand lets go and is told so', async ({ browser }) => {
  const [owner, guest] = [await newPage(browser), await newPage(browser)];
  await open(owner, server.address);
  await openScene(owner, 'docking');
  await open(guest, await makeLink(owner, 'hand', 'Ben'));
  await settled(guest, 'docking');
  await grab(guest);
  await expect.poll(async () => (await stateOf(owner)).frame!.hands.length).toBe(1);
  await owner.getByRole('button', { name: 'Revoke the link for Ben' }).click();
  await expect(guest.locator('#link')).toContainText('This link was revoked');
  await expect.poll(async () => (await stateOf(owner)).frame!.hands.length).toBe(0);
  await expect(owner.locator('.links li', { hasText: 'Ben' })).toHaveCount(0);
  await guest.reload();
  await expect(guest.locator('#link')).toContainText('This link was revoked');
  await Promise.all([owner.context().close(), guest.context().close()]);
});

test('a page over https comes in, holds and feels', async ({ browser }) => {
  const folder = mkdtempSync(join(tmpdir(), 'cotouch-tls-'));
  const [certificate, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', certificate, '-days', '2', ...names], { stdio: 'ignore' });
  const encrypted = new Server(['--tls', certificate, key]);
  try {
    await encrypted.start();
    expect(encrypted.address).toMatch(/^https:/);
    // Nobody has to trust what was made a second ago; that it is encrypted is what counts here.
    const page = await (await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 720 } })).newPage();
    const errors = watchErrors(page);
    const sockets: string[] = [];
    page.on('websocket', (socket) => sockets.push(socket.url()));
    await open(page, encrypted.address);
    await openScene(page, 'docking');
    expect(sockets[0]).toMatch(/^wss:/);
    await grab(page);
    await page.mouse.up();
    expect(errors).toEqual([]);
    await page.context().close();
  } finally {
    await encrypted.end();
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a second page cannot change settings while the first holds', async ({ browser }) => {
  const [first, second] = [await newPage(browser), await newPage(browser)];
  await open(first, server.address);
  await openScene(first, 'docking');
  await open(second, server.address);
  await settled(second, 'docking');
  await grab(first);
  await second.locator('#tab-settings').click();
  const force = second.locator('label.slider', { hasText: 'Largest force' });
  const before = await force.locator('output').textContent();
  await force.locator('input').fill('0.25'); // of the slider
  await expect(second.locator('.toast').last()).toContainText('is holding a body; wait until they let go');
  expect(await force.locator('output').textContent()).toBe(before);
  await second.locator('#tab-parts').click();
  await second.locator('#save-name').fill('mine');
  await second.getByRole('button', { name: 'Save' }).click();
  await expect(second.locator('.toast').last()).toContainText('is holding a body; wait until they let go');
  await first.mouse.up();
  await Promise.all([first.context().close(), second.context().close()]);
});
