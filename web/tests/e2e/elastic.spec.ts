// What users do with bodies that bend: parts of their own, recordings, sessions with others.
import { expect, test, type Page } from '@playwright/test';
import { newPage, share } from './meeting';
import { asked, boxStl, later, open, openOther, openScene, recordingOf, seek, settled, stateOf, watchErrors } from './page';
import { Server } from './server';
import type { TestHook } from '../../src/main';
import type { StateFrame } from '../../src/protocol';

declare const cotouch: TestHook;

const [server, guest] = [new Server(), new Server()];
const picture = (page: Page, name: string) => page.screenshot({ path: test.info().outputPath(`${name}.png`) });

test.beforeAll(() => server.start());
test.afterAll(() => Promise.all([server.end(), guest.end()]));

const bending = async (page: Page) => (await stateOf(page)).bending[0]!;
const drawn = async (page: Page) => (await bending(page)).drawn;
const toast = (page: Page, text: RegExp) => page.locator('.toast', { hasText: text });

// Where a point beside the middle of the first part that can be taken, or of the first of all, is in the window.
async function pointOf(page: Page, offset: [number, number, number]) {
  const { moving, parts } = await stateOf(page);
  const part = moving?.part ?? parts[0]!.id;
  return page.evaluate(([id, x, y, z]) => {
    const [a, b, c] = cotouch.part(id!)!.world;
    return cotouch.project(a + x!, b + y!, c + z!);
  }, [part, ...offset]);
}

// Takes a point of the body, leads it upwards by so many pixels, and keeps holding it.
async function pull(page: Page, offset: [number, number, number], pixels: number): Promise<void> {
  const from = await pointOf(page, offset);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await expect.poll(async () => (await stateOf(page)).grip).toBe('held');
  for (let i = 1; i <= 15; ++i) {
    await page.mouse.move(from.x, from.y - (pixels * i) / 15);
    await later(page, 0.04);
  }
}

async function addPart(page: Page, name: string, file: Buffer): Promise<void> {
  await page.locator('#tab-parts').click();
  await page.locator('#into').selectOption('new');
  await page.locator('#file').setInputFiles({ name: `${name}.stl`, mimeType: 'model/stl', buffer: file });
  await expect.poll(async () => (await stateOf(page)).parts.map((part) => part.name), { timeout: 180_000 }).toContain(name);
  await settled(page);
  await page.locator('#tab-world').click();
}

const selectFirst = async (page: Page) => {
  const { screen } = (await page.evaluate((id) => cotouch.part(id), (await stateOf(page)).parts[0]!.id))!;
  await page.mouse.click(screen.x, screen.y);
  await expect(page.locator('#elastic')).toBeVisible();
};

// Copies the first body that can be taken, and selects the copy.
async function addCopy(page: Page): Promise<void> {
  const bodies = (await stateOf(page)).bending.length;
  const { screen } = (await page.evaluate((id) => cotouch.part(id), (await stateOf(page)).moving!.part))!;
  await page.mouse.click(screen.x, screen.y);
  await page.locator('#body button', { hasText: 'Copy' }).click();
  await expect.poll(async () => (await stateOf(page)).bending.length).toBe(bodies + 1);
  await settled(page);
  const copy = (await page.evaluate((id) => cotouch.part(id), (await stateOf(page)).parts.at(-1)!.id))!.screen;
  await page.mouse.click(copy.x, copy.y);
  await expect(page.locator('#elastic')).toBeVisible();
}

// Presses the button that prepares the selected body and waits for the scene with the other body.
async function makeBend(page: Page): Promise<void> {
  const { generation } = await stateOf(page);
  await page.locator('#elastic button.primary').click();
  await page.waitForFunction((old) => cotouch.state().generation !== old, generation, { timeout: 180_000 });
  await settled(page);
}

// The most that is drawn during half a second. One look may meet a swinging bar on its way through the middle.
async function swing(page: Page): Promise<number> {
  let most = 0;
  for (let i = 0; i < 5; ++i) {
    most = Math.max(most, await drawn(page));
    await later(page, 0.1);
  }
  return most;
}

const kEnd: [number, number, number] = [0.042, 0, 0.004]; // of the beam's upper side

test('a dropped beam is made of silicone, held at one end, bent, saved and made rigid again', async ({ page }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await openOther(page);
  await addPart(page, 'beam', boxStl([100, 16, 8]));
  expect((await stateOf(page)).bending).toEqual([]);
  await expect(page.locator('#elastic')).toBeHidden();
  await selectFirst(page);
  await expect(page.locator('#bending')).toBeHidden();
  await page.locator('#elastic-material').selectOption('silicone');
  await page.locator('[id="elastic-x-"]').check();
  await picture(page, 'chosen');
  // It is prepared in the background, which says how far it is; the part stays where it is meanwhile.
  const stages = page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        const jobs = document.getElementById('jobs')!;
        new MutationObserver(() => jobs.textContent && resolve(jobs.textContent)).observe(jobs, { childList: true, subtree: true });
      }),
  );
  await makeBend(page);
  expect(await stages).toContain('Making beam bend');
  expect((await bending(page)).q).toHaveLength(15);
  await expect(page.locator('#bending-facts')).toContainText('silicone 600 kPa');
  await picture(page, 'made-to-bend');

  await pull(page, kEnd, 60);
  await expect.poll(() => drawn(page)).toBeGreaterThan(0.01);
  await page.locator('#bending-facts').scrollIntoViewIfNeeded();
  await picture(page, 'bent');
  await page.mouse.up();
  await expect.poll(() => drawn(page), { timeout: 30_000 }).toBeLessThan(0.002);

  // After a reload the panel says what was chosen. One more thing is changed, the others stay.
  await page.reload();
  await settled(page);
  await page.locator('#tab-world').click();
  await selectFirst(page);
  await expect(page.locator('#elastic-material')).toHaveValue('silicone');
  await expect(page.locator('[id="elastic-x-"]')).toBeChecked();
  await expect(page.locator('#body-density')).toHaveValue('1100');
  await expect(page.locator('#body-density')).toBeDisabled();
  await page.locator('#elastic button', { hasText: 'Hold a point' }).click();
  await expect(page.locator('#hint')).toContainText('Click the point');
  await expect.poll(() => swing(page), { timeout: 60_000 }).toBeLessThan(0.0002);
  const end = await pointOf(page, kEnd);
  await page.mouse.click(end.x, end.y);
  expect((await stateOf(page)).grip).toBe('free'); // the click took nothing
  await expect(page.locator('#elastic-points')).toContainText(/Point at 4[12]\.\d, -?\d/);
  await makeBend(page);
  await expect(page.locator('[id="elastic-x-"]')).toBeChecked();
  await expect(page.locator('#elastic-points li')).toHaveCount(1);
  await pull(page, [0, 0, 0.004], 60); // held at both ends it gives way in the middle
  await expect.poll(() => drawn(page)).toBeGreaterThan(0.001);
  await picture(page, 'held-at-both-ends');
  await page.mouse.up();

  await page.locator('#tab-parts').click();
  await page.locator('#save-name').fill('soft-beam');
  await page.locator('#parts button[type=submit]').click();
  await expect(toast(page, /Saved/)).toBeVisible();
  await openOther(page);
  await openScene(page, 'soft-beam');
  await page.locator('#tab-world').click();
  await selectFirst(page);
  await expect(page.locator('#elastic-points li')).toHaveCount(1);
  expect((await bending(page)).q).toHaveLength(15);

  const { generation } = await stateOf(page);
  await page.locator('#elastic button', { hasText: 'Make it rigid' }).click();
  await page.waitForFunction((old) => cotouch.state().generation !== old, generation);
  await settled(page);
  expect((await stateOf(page)).bending).toEqual([]);
  await expect(page.locator('#bending')).toBeHidden();
  expect(errors).toEqual([]);
});

test('what cannot bend is refused in words and stays as it is', async ({ page }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await openOther(page);
  await addPart(page, 'pieces', boxStl([20, 20, 20], [0, 60]));
  const beside = await pointOf(page, [-0.03, 0, 0]); // one of them; between them is nothing
  await page.mouse.click(beside.x, beside.y);
  await expect(page.locator('#elastic')).toBeVisible();
  const { generation } = await stateOf(page);
  await page.locator('#elastic button.primary').click();
  await expect(toast(page, /Making pieces bend: The part is not of one piece/)).toBeVisible({ timeout: 60_000 });
  await picture(page, 'refused');
  expect((await stateOf(page)).generation).toBe(generation);
  // What nothing holds cannot be made to stay where it is.
  await openScene(page, 'soft-bar');
  await addCopy(page);
  await page.locator('#body-free').click();
  await expect(toast(page, /nothing holds it: give it an anchor/)).toBeVisible();
  await expect(page.locator('#body-free')).toBeChecked();
  expect(errors).toEqual([]);
});

test('a recording of a soft bar bends again when it is replayed', async ({ page }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await openScene(page, 'soft-bar');
  await page.locator('#record').click();
  await expect(page.locator('#record')).toHaveText('Stop');
  await pull(page, [0.08, 0, 0], 120);
  await page.mouse.up();
  await page.locator('#record').click();
  await expect(page.locator('#record')).toHaveText('Record');
  await page.locator('#tab-record').click();
  const entry = page.locator('.recordings li').first();
  const { frames } = await recordingOf(page);
  const bent = (frame: StateFrame) => Math.hypot(...frame.bending[0]!.q);
  const most = frames.reduce((best, frame) => (bent(frame) > bent(best) ? frame : best));
  const csv = await asked(page, `/api/recording/${await entry.getAttribute('data-recording')}.csv`);
  const rows = csv.toString().split('\n').filter((line) => !line.startsWith('#'));
  const columns = rows[0]!.split(',');
  const { body, q } = most.bending[0]!;
  expect(columns.filter((name) => new RegExp(`^body${body}_q\\d+$`).test(name))).toHaveLength(q.length);
  const first = columns.indexOf(`body${body}_q1`);
  const largest = Math.max(...rows.slice(1).filter(Boolean).map((row) => Math.abs(Number(row.split(',')[first]))));
  expect(largest).toBeGreaterThanOrEqual(0.99 * Math.max(...frames.map((frame) => Math.abs(frame.bending[0]!.q[0]!))));

  await entry.getByRole('button', { name: /Replay/ }).click();
  await expect.poll(async () => (await stateOf(page)).replay?.frames ?? 0).toBeGreaterThan(5);
  // To the moment when it is bent most, back to the beginning, and there again.
  for (const frame of [most, frames[0]!, most]) {
    await seek(page, frame.time);
    await expect.poll(async () => Math.hypot(...(await bending(page)).q)).toBeCloseTo(bent(frame), 6);
  }
  expect(await drawn(page)).toBeGreaterThan(0.004);
  await picture(page, 'replayed');
  await page.locator('#replay').getByRole('button', { name: 'Back to the live scene' }).click();
  expect(errors).toEqual([]);
});

test('people on two computers see the same bar bend, and a mark stays on it', async ({ page, browser }) => {
  const errors = watchErrors(page);
  const joining = await newPage(browser);
  const theirs = watchErrors(joining);
  await guest.start();
  await open(page, server.address);
  await openScene(page, 'soft-bar');
  await share(page, joining, guest);
  await settled(joining, 'soft-bar');
  await page.bringToFront();
  for (const each of [page, joining]) await each.evaluate(() => cotouch.lookFrom(0, -1, 0.3));
  await page.locator('#mark-drop').click();
  const end = await pointOf(page, [0.09, 0, 0]);
  await page.mouse.click(end.x, end.y);
  await expect(joining.locator('.pin-label')).toHaveCount(1);
  const [mark] = (await stateOf(joining)).share.marks;
  // Its label stands at the pin's head, which leans another way once the bar is bent.
  const tip = () => joining.evaluate((id) => cotouch.tip(id)!, mark!);
  const before = await tip();

  await pull(page, [0.09, 0, 0], 150); // where the mark is
  await later(page, 2); // until nothing moves any more
  await expect.poll(() => drawn(joining)).toBeGreaterThan(0.004);
  await expect.poll(async () => {
    const [mine, other] = [await bending(page), await bending(joining)];
    return Math.hypot(...mine.q.map((value, i) => value - other.q[i]!)) / Math.hypot(...mine.q);
  }).toBeLessThan(0.05);
  const grip = (await stateOf(joining)).frame!.hands[0]!.grip.position;
  const held = await joining.evaluate(([x, y, z]) => cotouch.project(x!, y!, z!), grip);
  const after = await tip();
  expect(before.y - after.y).toBeGreaterThan(60);
  expect(Math.hypot(after.x - held.x, after.y - held.y)).toBeLessThan(5);
  for (const [each, name] of [[page, 'host'], [joining, 'guest']] as const) await picture(each, name);
  await page.mouse.up();
  await joining.close();
  expect([...errors, ...theirs]).toEqual([]);
});
