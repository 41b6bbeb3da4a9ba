// Two pages of two processes in one session: the host shares the docking scene from its page, the guest joins with the invitation, and
// both bring the box to its place.
import { expect, test, type Page } from '@playwright/test';
import { dockTogether, labels, lookAlongRails, takeHold } from './docking';
import { closePages, meet, newPage, share, shareOf } from './meeting';
import { cubeStl, later, open, recordingOf, seek, stateOf, waitForPart, watchErrors } from './page';
import { Server } from './server';
import type { TestHook } from '../../src/main';

declare const cotouch: TestHook;

const [host, guest] = [new Server(), new Server()];
const picture = (page: Page, name: string) => page.screenshot({ path: test.info().outputPath(`${name}.png`) });

test.beforeAll(() => Promise.all([host.start(), guest.start()]));
test.afterAll(() => Promise.all([host.end(), guest.end()]));
test.afterEach(closePages);

// Gravity, the contact, another scene, one's own parts: what a session that others are in does not allow.
const changing = (page: Page) => [
  page.locator('#gravity'),
  page.locator('.card[data-scene=stack]'),
  page.locator('#settings input[type=range]').first(),
  page.locator('#parts button.primary'),
];

test('two processes share a scene: chat, a mark, and the box docked by both', async ({ page: hosting, browser }) => {
  test.slow(); // two browsers that draw without a graphics card, perhaps on a busy machine
  const joining = await newPage(browser);
  const errors = [watchErrors(hosting), watchErrors(joining)];
  await meet(hosting, host, joining, guest);
  const pages = [hosting, joining];
  for (const page of pages) {
    for (const control of changing(page)) {
      await expect(control).toBeDisabled();
      await expect(control).toHaveAttribute('title', /leave the session to change it/);
    }
  }

  await hosting.locator('#record').click();
  await expect(hosting.locator('#record')).toHaveText(/Stop/);

  // Chat, both ways.
  await hosting.locator('#chat-text').fill('I take the left side');
  await hosting.locator('#chat-text').press('Enter');
  await expect(joining.locator('#chat')).toContainText('I take the left side');
  await joining.locator('#chat-text').fill('and I the right one');
  await joining.locator('#chat-text').press('Enter');
  for (const page of pages) await expect(page.locator('#chat')).toContainText('and I the right one');

  // A mark of one on the other's screen, which the other removes.
  for (const page of pages) await lookAlongRails(page);
  const { part } = (await stateOf(joining)).moving!;
  const { screen } = (await joining.evaluate((id) => cotouch.part(id), part))!;
  await joining.locator('#mark-drop').click();
  await joining.mouse.click(screen.x, screen.y);
  for (const page of pages) await expect(page.locator('.pin-label')).toHaveText(/^\d+ Anna$/);
  await picture(hosting, 'mark');
  await hosting.getByRole('button', { name: /^Remove mark/ }).click();
  for (const page of pages) await expect(page.locator('.pin-label')).toHaveCount(0);

  // Each sees the other's hand, with its name.
  await takeHold(hosting, -0.3);
  await takeHold(joining, 0.3);
  await expect.poll(() => labels(hosting)).toEqual(['Anna']);
  await expect.poll(() => labels(joining)).toEqual(['Ben']);
  await dockTogether(pages);
  await later(hosting, 0.3);
  for (const page of pages) {
    await expect(page.locator('#task-strip')).toContainText('Done, by all 2 of you together');
    await picture(page, page === hosting ? 'host-done' : 'guest-done');
  }
  // The clock stopped at the same tick for both.
  const seconds = await Promise.all(pages.map(async (page) => (await stateOf(page)).frame!.task!.seconds));
  expect(seconds[0]).toBe(seconds[1]);

  await hosting.locator('#record').click();
  await expect(hosting.locator('.recordings li')).toHaveCount(1);

  // The guest leaves; the host goes on alone.
  await joining.locator('#share-leave').click();
  await expect.poll(async () => (await shareOf(joining)).state).toBe('off');
  await expect.poll(async () => (await shareOf(hosting)).peers).toEqual(['Ben']);
  await hosting.locator('#share-leave').click();
  await expect.poll(async () => (await shareOf(hosting)).state).toBe('off');
  for (const page of pages) for (const control of changing(page)) await expect(control).toBeEnabled();

  // Replayed by one alone: who they were, and what they said.
  await hosting.locator('#tab-record').click();
  await hosting.getByRole('button', { name: /^Replay/ }).click();
  await expect(hosting.locator('#replay')).toBeVisible();
  await hosting.locator('#replay input').focus();
  await hosting.keyboard.press('Home');
  await expect(hosting.locator('#replay .news')).toContainText('Anna is here.');
  const { duration } = (await stateOf(hosting)).replay!;
  const heard = new Set<string>();
  for (let share = 0; share <= 1; share += Math.min(0.05, 3 / duration)) {
    await seek(hosting, share * duration);
    for (const line of await hosting.locator('#replay .news li').allTextContents()) heard.add(line);
  }
  for (const line of ['Ben: I take the left side', 'Anna: and I the right one', 'Anna marked a point.']) expect([...heard]).toContain(line);
  const bothHeld = (await recordingOf(hosting)).frames.filter(({ hands }) => hands.length === 2);
  await seek(hosting, bothHeld.at(-1)!.time);
  await expect.poll(async () => (await labels(hosting)).sort()).toEqual(['Anna', 'Ben']);
  await picture(hosting, 'replay');
  expect(errors.flat()).toEqual([]);
});

test('a guest leaves and comes back at once, again and again', async ({ page: hosting, browser }) => {
  const joining = await newPage(browser);
  await meet(hosting, host, joining, guest);
  const { invite } = await shareOf(hosting);
  for (let i = 0; i < 3; ++i) {
    // Within milliseconds, while the program still takes leave of the others.
    await joining.evaluate((text) => {
      const at = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
      at('share-leave').click();
      return new Promise<void>((done) => {
        const timer = setInterval(() => {
          if (at('share-off').hidden) return;
          clearInterval(timer);
          at<HTMLInputElement>('invite').value = text;
          at('share-join').click();
          done();
        }, 1);
      });
    }, invite);
    await expect.poll(async () => (await shareOf(joining)).state).toBe('joined');
  }
  await expect.poll(async () => (await shareOf(hosting)).peers.sort()).toEqual(['Anna', 'Ben']);
  for (const page of [joining, hosting]) {
    await page.locator('#share-leave').click();
    await expect.poll(async () => (await shareOf(page)).state).toBe('off');
  }
});

test('a part of one is felt by both: dropped on the page, shared, and fetched', async ({ page: hosting, browser }) => {
  const joining = await newPage(browser);
  await open(hosting, host.address);
  await hosting.locator('#tab-parts').click();
  await hosting.locator('#file').setInputFiles({ name: 'block.stl', mimeType: 'model/stl', buffer: cubeStl(20) });
  await waitForPart(hosting, 'block');
  await share(hosting, joining, guest);
  await waitForPart(joining, 'block');
  for (const page of [joining, hosting]) {
    await page.locator('#share-leave').click();
    await expect.poll(async () => (await shareOf(page)).state).toBe('off');
  }
});

test('a guest whose program is killed is missed, and the host goes on', async ({ page: hosting, browser }) => {
  const joining = await newPage(browser);
  await meet(hosting, host, joining, guest);
  await guest.kill();
  await expect.poll(async () => (await shareOf(hosting)).peers, { timeout: 120_000 }).toEqual(['Ben']);
  await expect(hosting.locator('#notice')).toBeHidden();
  await expect(hosting.locator('#chat')).toContainText('Anna has left.');
  const { time } = (await stateOf(hosting)).frame!;
  await later(hosting, 0.5);
  expect((await stateOf(hosting)).frame!.time).toBeGreaterThan(time);
  await guest.start();
});
