// What a newcomer does in the first minutes, in a real browser against a real server.
import { readFileSync } from 'node:fs';
import { expect, test, type Page } from '@playwright/test';
import {
  asked,
  cubeStl,
  dragTogether,
  forceOf,
  grabPoint,
  later,
  open,
  dropFile,
  openOther,
  openScene,
  peakForce,
  recordingOf,
  sceneNames,
  seek,
  settled,
  stateOf,
  waitForPart,
  watchErrors,
} from './page';
import { Server } from './server';
import type { TestHook } from '../../src/main';
import { HolderKind, type StateFrame } from '../../src/protocol';

declare const cotouch: TestHook;

const server = new Server();
const picture = (page: Page, name: string) => page.screenshot({ path: test.info().outputPath(`${name}.png`) });
const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

const kBuiltIn = [
  ...['ball-socket', 'bridge-creature', 'hose-bracket', 'gears', 'threaded-peg', 'box-bracket', 'engine-bay', 'stack', 'docking'],
  ...['assembly', 'billiard', 'hoses', 'bridge-creature-soft', 'soft-soft', 'soft-bar', 'snap-clip'],
];

// How much of the picture of the scene alone is drawn, and in how many colours.
async function pictureOf(): Promise<{ share: number; colors: number }> {
  const image = new Image();
  image.src = cotouch.thumbnail();
  await image.decode();
  const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
  const context = canvas.getContext('2d')!;
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  const colors = new Set<number>();
  let opaque = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3]! < 250) continue;
    ++opaque;
    colors.add((data[i]! << 16) | (data[i + 1]! << 8) | data[i + 2]!);
  }
  return { share: opaque / (data.length / 4), colors: colors.size };
}

test.beforeAll(() => server.start());
test.afterAll(() => server.end());

test('the gallery loads and every scene opens', async ({ page }) => {
  test.setTimeout(1_800_000); // scenes are prepared the first time they are opened
  const errors = watchErrors(page);
  await open(page, server.address);
  await expect(page.locator('#scenes .card').first()).toBeVisible();
  const names = await sceneNames(page);
  // The built-in scenes, and none that the server does not have, in its order.
  const ask = async <T>(what: string) => JSON.parse((await asked(page, `/api/${what}`)).toString()) as T;
  const { scenes } = await ask<{ scenes: { name: string }[] }>('scenes');
  expect(names).toEqual(scenes.map((scene) => scene.name));
  expect(names).toEqual(expect.arrayContaining(kBuiltIn));
  const { interactiveAt } = await stateOf(page);
  console.log(`    interactive ${interactiveAt.toFixed(0)} ms after the page was opened`);
  // Starting with the second, because the first may be open already.
  for (const name of [...names.slice(1), names[0]!]) {
    await openScene(page, name);
    const served = await ask<{ name: string; parts: { id: number; name: string; role: string }[] }>('scene');
    const state = await stateOf(page);
    expect(served.name).toBe(name);
    expect(state.scene).toBe(name);
    expect(state.parts).toEqual(served.parts.map(({ id, name: part, role }) => ({ id, name: part, role })));
    expect(state.parts.length).toBeGreaterThan(0);
    const { share, colors } = await page.evaluate(pictureOf);
    expect(share, `${name} fills its picture`).toBeGreaterThan(0.02);
    expect(colors, `${name} is lit`).toBeGreaterThan(20);
    await page.waitForTimeout(600);
    await picture(page, `scene-${name}`);
  }
  expect((await stateOf(page)).garbage).toBe(0);
  expect(errors).toEqual([]);
});

test('dragging one part into the other gives a force that opposes the motion', async ({ page }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await openOther(page);
  await page.locator('#sound').click(); // heard as well as seen
  await expect(page.locator('#sound')).toHaveAttribute('aria-pressed', 'true');
  const direction = await dragTogether(page, (state) => forceOf(state) > 0.5);
  // Held still against the other part: the force stays.
  await expect.poll(async () => forceOf(await stateOf(page))).toBeGreaterThan(0.2);
  const state = await stateOf(page);
  const hand = state.frame!.hands[0]!;
  expect(dot(hand.force, direction)).toBeLessThan(0);
  // The hand has gone deeper than contact lets the object go, and the spring pulls it back.
  const stretch = hand.pose.position.map((value, i) => value - hand.grip.position[i]!);
  expect(dot(hand.force, stretch)).toBeLessThan(0);
  expect(hand.inContact).toBeGreaterThan(0);
  expect(state.frame!.contacts.length).toBeGreaterThan(0);
  await picture(page, 'push-light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForTimeout(800);
  await picture(page, 'push-dark');
  await page.mouse.up();
  await expect.poll(async () => (await stateOf(page)).grip).toBe('free');
  // Let go, the spring relaxes.
  await expect.poll(async () => forceOf(await stateOf(page))).toBeLessThan(0.2);
  expect(errors).toEqual([]);
});

test('few pictures or as many as there can be is for the user to say', async ({ page }) => {
  await open(page, server.address);
  await openScene(page, 'soft-bar');
  // The eye goes round all the time, so there is always something new to draw.
  const shortest = () =>
    page.evaluate(async () => {
      let [least, last, drawn] = [Infinity, -Infinity, cotouch.state().drawn];
      for (let i = 0; least === Infinity || i < 40; ++i) {
        const now = await new Promise<number>(requestAnimationFrame);
        document.body.dispatchEvent(new KeyboardEvent('keydown', { code: 'ArrowLeft', bubbles: true }));
        if (cotouch.state().drawn === drawn) continue;
        drawn = cotouch.state().drawn;
        least = Math.min(least, now - last);
        last = now;
      }
      return least;
    });
  const few = await shortest();
  expect(few).toBeGreaterThan(150);
  await page.locator('#tab-settings').click();
  await page.locator('#show-sparing').click();
  expect(await shortest()).toBeLessThan(few - 50);
  await page.reload();
  await settled(page);
  expect(await page.locator('#show-sparing').isChecked()).toBe(false);
});

test('light and dark can be chosen, and the choice stays', async ({ page }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  expect(await theme()).toBe('light');
  await page.locator('#theme').click();
  expect(await theme()).toBe('dark');
  await open(page, server.address);
  expect(await theme()).toBe('dark');
  expect(errors).toEqual([]);
});

test('keys move the part, Escape lets go, and Reset puts it back', async ({ page }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await openOther(page);
  const start = (await stateOf(page)).moving!.wanted!.position;
  await page.locator('#stage').focus();
  await page.keyboard.down('KeyW');
  const wanted = async () => distance((await stateOf(page)).moving!.wanted!.position, start); // the part itself may be held up
  await expect.poll(wanted).toBeGreaterThan(0.001);
  await page.keyboard.up('KeyW');
  expect((await stateOf(page)).grip).toBe('held');
  await page.keyboard.press('Escape');
  await expect.poll(async () => (await stateOf(page)).grip).toBe('free');
  const away = async () => distance((await stateOf(page)).frame!.bodies[0]!.pose.position, start);
  await page.keyboard.press('KeyR');
  await expect.poll(away).toBeLessThan(1e-4);
  // After a click on a box or a slider the keys still move the part; Reset puts it back from the hand, and it stays there.
  await page.locator('#tab-settings').click();
  await page.locator('#show-traversed').click();
  await page.keyboard.down('KeyW');
  await expect.poll(wanted).toBeGreaterThan(0.001);
  await page.keyboard.up('KeyW');
  await page.keyboard.press('KeyR');
  await expect.poll(away).toBeLessThan(1e-4);
  await later(page, 1);
  expect(await away()).toBeLessThan(1e-4);
  expect((await stateOf(page)).grip).toBe('free');
  expect(errors).toEqual([]);
});

test('the wheel pushes, Shift and the right button turn, and letting go of them does not throw the part', async ({ page }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await openOther(page);
  await page.evaluate(() => cotouch.lookFrom(0, -1, 0)); // the line of sight is y
  const hand = async () => (await stateOf(page)).moving!.wanted!;
  const angle = (a: readonly number[], b: readonly number[]) => 2 * Math.acos(Math.min(1, Math.abs(dot(a, b))));
  const grab = await grabPoint(page);
  const start = { ...(await hand()), part: (await stateOf(page)).moving!.part };
  await page.mouse.down();
  await expect.poll(async () => (await stateOf(page)).grip).toBe('held');
  await page.mouse.wheel(0, -300);
  // A single event counts two notches at most: a fiftieth of the scene.
  await expect.poll(async () => (await hand()).position[1]! - start.position[1]!).toBeGreaterThan(1e-3);
  expect(Math.abs((await hand()).position[0]! - start.position[0]!)).toBeLessThan(1e-4);
  await page.mouse.wheel(0, 300);
  await expect.poll(async () => Math.abs((await hand()).position[1]! - start.position[1]!)).toBeLessThan(1e-4);

  await page.keyboard.down('Shift');
  await page.mouse.move(grab.x + 40, grab.y, { steps: 4 });
  await expect.poll(async () => angle((await hand()).rotation, start.rotation)).toBeGreaterThan(0.1);
  await page.keyboard.up('Shift');
  await settledHand(page);
  const turned = await hand();
  await page.mouse.move(grab.x + 40, grab.y + 1);
  await page.mouse.move(grab.x + 40, grab.y);
  await settledHand(page);
  expect(distance((await hand()).position, turned.position)).toBeLessThan(1e-4);
  await page.mouse.up();
  await page.keyboard.press('KeyR');
  await expect.poll(async () => angle((await hand()).rotation, start.rotation)).toBeLessThan(1e-3);

  // Beside the part the mouse moves the eye, and a double click brings it back.
  const middle = () => page.evaluate((id) => cotouch.part(id)!.screen, start.part);
  await page.keyboard.press('KeyF');
  const seen = await middle();
  await page.mouse.move(300, 600);
  await page.mouse.down();
  await page.mouse.move(500, 640, { steps: 4 });
  await page.mouse.up();
  await page.mouse.wheel(0, 300);
  await expect.poll(async () => distance(Object.values(await middle()), Object.values(seen))).toBeGreaterThan(2);
  await page.mouse.dblclick(300, 600);
  await expect.poll(async () => distance(Object.values(await middle()), Object.values(seen))).toBeLessThan(0.5);

  const again = await grabPoint(page);
  await page.mouse.down({ button: 'right' });
  await page.mouse.move(again.x, again.y + 40, { steps: 4 });
  await expect.poll(async () => angle((await hand()).rotation, start.rotation)).toBeGreaterThan(0.1);
  await page.mouse.up({ button: 'right' });
  await expect.poll(async () => (await stateOf(page)).grip).toBe('free');
  expect(errors).toEqual([]);
});

test('a slider changes what is felt without letting go, and not while recording', async ({ page }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await openOther(page);
  await dragTogether(page, (state) => forceOf(state) > 1);
  const felt = async () => forceOf(await stateOf(page));
  const { cycles } = (await stateOf(page)).frame!;
  // Not by mouse, which holds the part.
  const change = (label: string, position: number) =>
    page.locator('.slider', { hasText: label }).locator('input').evaluate((slider: HTMLInputElement, value) => {
      slider.value = String(value);
      slider.dispatchEvent(new Event('input'));
      slider.dispatchEvent(new Event('change'));
    }, position);
  // The watchdog of a loop that a busy machine has stalled takes the force away for a moment, and counts that. A change during
  // which it did says nothing; of the others there must be one, and in none of them the force may have gone.
  let undisturbed = 0;
  for (let round = 0; round < 30 && undisturbed < 2; ++round) {
    await expect.poll(felt).toBeGreaterThan(0.5);
    const { stalls } = (await stateOf(page)).frame!;
    if ((await felt()) < 0.5) continue; // gone in between
    await change('Contact stiffness', round % 2 ? 0.5 : 0.6);
    let least = Infinity;
    for (let i = 0; i < 15; ++i) {
      least = Math.min(least, await felt());
      await later(page, 0.02);
    }
    if ((await stateOf(page)).frame!.stalls !== stalls) continue;
    ++undisturbed;
    expect(least).toBeGreaterThan(0.3);
  }
  expect(undisturbed).toBeGreaterThan(0);
  const after = (await stateOf(page)).frame!;
  expect(after.cycles).toBeGreaterThan(cycles);
  expect((await stateOf(page)).grip).toBe('held');
  const shown = page.locator('.slider', { hasText: 'Largest force' }).locator('output');
  const before = await shown.textContent();
  await page.keyboard.press('Space');
  await expect(page.locator('#record')).toHaveText('Stop');
  await change('Largest force', 0.9);
  await expect(page.locator('.toast', { hasText: 'recording' })).toBeVisible();
  await expect(shown).toHaveText(before!);
  await page.keyboard.press('Space');
  await expect(page.locator('#record')).toHaveText('Record');
  await page.mouse.up();
  expect(errors).toEqual([]);
});

test('a finger moves the part, and two push it in depth', async ({ browser }) => {
  const context = await browser.newContext({ viewport: { width: 1024, height: 768 }, hasTouch: true });
  const page = await context.newPage();
  const errors = watchErrors(page);
  await open(page, server.address);
  await page.locator('#gallery-toggle').click();
  await openOther(page);
  const grab = await grabPoint(page);
  const touch = await context.newCDPSession(page);
  const fingers = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...points: [number, number][]) =>
    touch.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  const device = async () => (await stateOf(page)).moving!.wanted!.position;
  const start = await device();
  await fingers('touchStart', [grab.x, grab.y]);
  await expect(page.locator('#hint')).toContainText('finger');
  for (let i = 1; i <= 5; ++i) await fingers('touchMove', [grab.x + 8 * i, grab.y - 4 * i]);
  await expect.poll(async () => distance(await device(), start)).toBeGreaterThan(1e-3);
  expect((await stateOf(page)).grip).toBe('held');
  const [x, y] = [grab.x + 40, grab.y - 20];
  const before = await device();
  await fingers('touchStart', [x, y], [x + 60, y]);
  for (let i = 1; i <= 5; ++i) await fingers('touchMove', [x, y], [x + 60 + 20 * i, y]);
  await expect.poll(async () => distance(await device(), before)).toBeGreaterThan(1e-3);
  // A twist rolls it.
  const rotation = async () => (await stateOf(page)).moving!.wanted!.rotation;
  const [w] = await rotation();
  for (let i = 1; i <= 5; ++i) await fingers('touchMove', [x, y], [x + 160 * Math.cos(0.1 * i), y + 160 * Math.sin(0.1 * i)]);
  await expect.poll(async () => Math.abs((await rotation())[0]! - w!)).toBeGreaterThan(0.01);
  await fingers('touchEnd');
  await expect.poll(async () => (await stateOf(page)).grip).toBe('free');
  expect(errors).toEqual([]);
  await context.close();
});

test('a gamepad moves the part', async ({ page }) => {
  const errors = watchErrors(page);
  // No pad is plugged into a test machine; the browser's interface is given one with its left stick pushed to the right.
  await page.addInitScript(() => {
    const pad = { id: 'pad', connected: true, axes: [0, 0, 0, 0], buttons: [] as unknown[], vibrationActuator: null };
    Object.assign(window, { pad });
    navigator.getGamepads = () => [pad as unknown as Gamepad, null, null, null];
  });
  await open(page, server.address);
  await openOther(page);
  const start = (await stateOf(page)).moving!.wanted!.position;
  await page.evaluate(() => ((window as unknown as { pad: { axes: number[] } }).pad.axes[0] = 1));
  await expect.poll(async () => distance((await stateOf(page)).moving!.wanted!.position, start)).toBeGreaterThan(1e-3);
  await page.evaluate(() => ((window as unknown as { pad: { axes: number[] } }).pad.axes[0] = 0));
  expect((await stateOf(page)).grip).toBe('held');
  await page.keyboard.press('Escape');
  await expect.poll(async () => (await stateOf(page)).grip).toBe('free');
  expect(errors).toEqual([]);
});

test('two dropped STL files become a scene to try out and to save', async ({ page }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await page.locator('#tab-parts').click();
  await page.locator('#into').selectOption('new');
  await page.locator('#file').setInputFiles({ name: 'block.stl', mimeType: 'model/stl', buffer: cubeStl(20) });
  await waitForPart(page, 'block');
  await settled(page); // or its mesh may be asked for when the scene has been replaced, which browsers call an error
  // The second one by drag and drop.
  await expect(page.locator('#into')).toHaveValue('open'); // what comes next belongs to it
  await dropFile(page, 'tool.stl', cubeStl(8));
  await waitForPart(page, 'tool');
  await settled(page);
  const { parts } = await stateOf(page);
  expect(parts.map((part) => part.role).sort()).toEqual(['moving', 'static']);
  await picture(page, 'own-parts');
  await page.locator('#save-name').fill('two-cubes');
  await page.locator('#parts button[type=submit]').click();
  await expect(page.locator('.toast.info', { hasText: 'cotouch play' })).toBeVisible();
  // A file that is none is refused in words.
  await page.locator('#file').setInputFiles({ name: 'bad.stl', mimeType: 'model/stl', buffer: Buffer.from('hello') });
  await expect(page.locator('.toast.error', { hasText: 'bad.stl is' })).toBeVisible();
  expect(errors).toEqual([]);
});

test('a saved scene is deleted after one question, on every page', async ({ page, context }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await openOther(page);
  await page.locator('#tab-parts').click();
  await page.locator('#save-name').fill('short-lived');
  await page.locator('#parts button[type=submit]').click();
  const cardIn = (where: Page) => where.locator('.card[data-scene=short-lived]');
  await expect(cardIn(page)).toBeVisible();
  const other = await context.newPage();
  await open(other, server.address);
  await expect(cardIn(other)).toBeVisible();
  await page.bringToFront();
  const item = page.locator('#scenes li').filter({ has: cardIn(page) });
  await item.getByRole('button', { name: /^Delete/ }).click();
  await item.getByRole('button', { name: /^Keep/ }).click();
  await expect(item.locator('.removal')).toHaveText('Delete');
  await item.getByRole('button', { name: /^Delete/ }).click();
  await item.getByRole('button', { name: /for good/ }).click();
  await expect(cardIn(page)).toHaveCount(0);
  await expect(cardIn(other)).toHaveCount(0);
  // Built-in scenes stay.
  const builtIn = page.locator('#scenes li').filter({ has: page.locator(`.card[data-scene="${(await sceneNames(page))[0]!}"]`) });
  await expect(builtIn.locator('.removal')).toHaveCount(0);
  await other.close();
  expect(errors).toEqual([]);
});

test('a recording can be replayed with the time slider', async ({ page }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await openOther(page);
  await page.locator('#record').click();
  await expect(page.locator('#record')).toHaveText('Stop');
  await dragTogether(page, (state) => forceOf(state) > 0.5);
  const felt = await peakForce(page);
  expect(felt).toBeGreaterThan(0.5);
  await page.mouse.up();
  await page.locator('#record').click();
  await expect(page.locator('#record')).toHaveText('Record');
  await page.locator('#tab-record').click();
  const entry = page.locator('.recordings li').first();
  for (const ending of ['csv', 'svg', 'cotrec']) {
    const downloading = page.waitForEvent('download');
    await entry.getByRole('button', { name: new RegExp(`Download .*\\.${ending}`) }).click();
    const download = await downloading;
    // What the browser remembers of it holds no secret of ours.
    expect(download.url()).toMatch(/^blob:/);
    expect(readFileSync(await download.path()).length).toBeGreaterThan(100);
  }
  await entry.getByRole('button', { name: /Replay/ }).click();
  await expect.poll(async () => (await stateOf(page)).replay?.frames ?? 0).toBeGreaterThan(5);
  // The page shows what was felt, where the slider is put to the strongest moment of all.
  const { duration } = (await stateOf(page)).replay!;
  expect(duration).toBeGreaterThan(0.5);
  const recorded = await recordingOf(page);
  const strength = (frame: StateFrame) => Math.hypot(...(frame.hands[0]?.force ?? []));
  const strongest = recorded.frames.reduce((most, frame) => (strength(frame) > strength(most) ? frame : most));
  expect(strength(strongest)).toBeGreaterThan(0.3 * felt);
  await seek(page, strongest.time);
  await expect.poll(async () => forceOf(await stateOf(page))).toBeCloseTo(strength(strongest), 3);
  expect((await stateOf(page)).replay!.playing).toBe(false);
  // What the cycles cost was recorded too.
  const shown = (await stateOf(page)).frame!;
  expect(shown.cycleMedian).toBeGreaterThan(0);
  expect(shown.visited).toBeGreaterThan(0);
  await picture(page, 'replay');
  await page.locator('#replay').getByRole('button', { name: 'Back to the live scene' }).click();
  await expect.poll(async () => (await stateOf(page)).replay).toBeNull();
  expect(errors).toEqual([]);
});

test('two pages hold the same part, and see each other\'s hand', async ({ page, context }) => {
  const errors = watchErrors(page);
  const other = await context.newPage();
  await open(page, server.address);
  await openOther(page);
  await open(other, server.address);
  await page.bringToFront();
  await expect(page.locator('#link')).toContainText('2 viewers');
  await page.locator('#tab-world').click();
  await page.locator('#my-name').fill('Ann');
  await page.locator('#my-name').press('Enter');
  await expect(page.locator('#people')).toContainText('Ann (you)');
  const start = (await stateOf(page)).moving!.wanted!.position;
  const grab = await grabPoint(page);
  await page.mouse.down();
  await page.mouse.move(grab.x + 30, grab.y - 20, { steps: 5 });
  await expect.poll(async () => (await stateOf(page)).grip).toBe('held');
  await other.bringToFront();
  await expect(other.locator('.hand-label')).toHaveText('Ann');
  await expect(other.locator('#hint')).toHaveText('Ann holds the body.');
  await expect(page.locator('.hand-label')).toHaveCount(0); // nobody needs a label for the own hand
  await picture(other, 'the-hand-of-another');
  await grabPoint(other);
  await other.mouse.down();
  await expect.poll(async () => (await stateOf(other)).grip).toBe('held');
  await expect(page.locator('.hand-label')).toHaveText(/^Guest/);
  expect((await stateOf(page)).grip).toBe('held');
  await other.mouse.up();
  await expect.poll(async () => (await stateOf(other)).grip).toBe('free');
  // What one does the other sees.
  await expect.poll(async () => distance((await stateOf(other)).moving!.wanted!.position, start)).toBeGreaterThan(1e-3);
  await page.bringToFront();
  await page.mouse.up();
  await other.bringToFront();
  const holders = async () => (await stateOf(other)).frame!.hands.filter((hand) => hand.holder !== HolderKind.nobody);
  await expect.poll(holders).toEqual([]);
  await grabPoint(other);
  await other.mouse.down();
  await expect.poll(async () => (await stateOf(other)).grip).toBe('held');
  await other.mouse.up();
  await other.close();
  expect(errors).toEqual([]);
});

test('the page comes back by itself after the server was killed', async ({ page }) => {
  await open(page, server.address);
  const address = server.address;
  await server.kill();
  await expect(page.locator('#link')).toContainText('Reconnecting');
  await server.start();
  expect(server.address).toBe(address);
  await expect(page.locator('#link')).toContainText('Live');
  await settled(page);
  const before = (await stateOf(page)).received;
  await expect.poll(async () => (await stateOf(page)).received).toBeGreaterThan(before + 5);
});

test('a wrong token is explained in words', async ({ page }) => {
  await page.goto(server.address.replace(/token=.*/, 'token=wrongwrongwrongwrongwrongwrongwr'));
  await expect(page.locator('#link')).toContainText('does not know that link');
});

test('the page fits a tablet, in the dark, with its help open', async ({ browser }) => {
  const context = await browser.newContext({
    viewport: { width: 1024, height: 768 },
    colorScheme: 'dark',
    hasTouch: true,
  });
  const page = await context.newPage();
  const errors = watchErrors(page);
  await open(page, server.address);
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(wide).toBeLessThanOrEqual(1024);
  await page.waitForTimeout(600);
  await picture(page, 'tablet-dark');
  await page.keyboard.press('?');
  await expect(page.locator('#help')).toBeVisible();
  await picture(page, 'help');
  await page.keyboard.press('Escape');
  await expect(page.locator('#help')).toBeHidden();
  expect(errors).toEqual([]);
  await context.close();
});

test('an upright tablet shows the read-outs below the picture', async ({ browser }) => {
  const context = await browser.newContext({ viewport: { width: 820, height: 1180 }, hasTouch: true });
  const page = await context.newPage();
  const errors = watchErrors(page);
  await open(page, server.address);
  await expect(page.locator('#force')).toBeVisible();
  const side = (await page.locator('#side').boundingBox())!;
  expect(side.y).toBeGreaterThan(0.5 * 1180);
  // The part is drawn in what is left, not behind the panel.
  const { part } = (await stateOf(page)).moving!;
  const seen = await page.evaluate((id) => cotouch.part(id)!.screen, part);
  expect(seen.y).toBeGreaterThan(60);
  expect(seen.y).toBeLessThan(side.y);
  await page.locator('#side-toggle').click();
  await expect(page.locator('#force')).toBeHidden();
  await picture(page, 'tablet-upright');
  expect(errors).toEqual([]);
  await context.close();
});

// The hand glides; this waits until it has arrived.
async function settledHand(page: Page): Promise<void> {
  let last = [NaN];
  await expect
    .poll(async () => {
      await later(page, 0.1); // the same frame twice would look like rest
      const now = (await stateOf(page)).moving!.wanted!.position;
      const moved = distance(now, last);
      last = now;
      return moved;
    })
    .toBeLessThan(1e-7);
}

function distance(a: readonly number[], b: readonly number[]): number {
  return Math.hypot(...a.map((value, i) => value - b[i]!));
}
