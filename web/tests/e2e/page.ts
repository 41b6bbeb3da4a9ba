// What the tests do with a page, and how they read it back through the page's hook (see src/main.ts).
import { expect, type Page } from '@playwright/test';
import { decodeRecording, type Recording } from '../../src/protocol';
import type { TestHook, TestState } from '../../src/main';

declare const cotouch: TestHook;

export const stateOf = (page: Page): Promise<TestState> => page.evaluate(() => cotouch.state());

// Collects what a user would see as red lines in the console.
export function watchErrors(page: Page): string[] {
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(`${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => errors.push(error.message));
  return errors;
}

// Few pictures, as a user without a graphics card would have it: otherwise drawing takes most of the time of most tests.
export async function open(page: Page, address: string): Promise<void> {
  await page.addInitScript(() => {
    if (localStorage.getItem('cotouch.sparing') === null) localStorage.setItem('cotouch.sparing', 'on');
  });
  await page.goto(address);
  await settled(page);
}

// What the server answers to a request that carries this page's key.
export async function asked(page: Page, path: string): Promise<Buffer> {
  const key = await page.evaluate(() => sessionStorage.getItem('cotouch.key')!);
  const answer = await page.request.get(new URL(path, page.url()).href, { headers: { 'X-Cotouch-Key': key } });
  if (!answer.ok()) throw new Error(`${path}: ${answer.status()} ${await answer.text()}`);
  return answer.body();
}

// What the first recording in the list holds.
export async function recordingOf(page: Page): Promise<Recording> {
  const id = (await page.locator('.recordings li').first().getAttribute('data-recording'))!;
  const recording = decodeRecording(new Uint8Array(await asked(page, `/api/recording/${id}.frames`)).buffer);
  if (!recording.ok) throw new Error(recording.error);
  return recording.value;
}

// Moves the slider of a replay to the frame of this time.
export async function seek(page: Page, time: number): Promise<void> {
  await page.locator('#replay input').evaluate((slider: HTMLInputElement, at) => {
    slider.value = String(at);
    slider.dispatchEvent(new Event('input'));
  }, time + 1e-3); // it has steps of a millisecond
}

// The scene's meshes are there and a frame of it is shown.
export async function settled(page: Page, scene?: string): Promise<void> {
  await page.waitForFunction(
    (name) => {
      const state = window.cotouch?.state();
      return state !== undefined && state.complete && state.frame !== null && (!name || state.scene === name);
    },
    scene,
    { timeout: 120_000 },
  );
}

export function sceneNames(page: Page): Promise<string[]> {
  return page.locator('#scenes .card').evaluateAll((cards) => cards.map((card) => (card as HTMLElement).dataset.scene!));
}

export async function unsavedNames(page: Page): Promise<string[]> {
  return (await sceneNames(page)).filter((name) => name.startsWith('unsaved'));
}

export async function openScene(page: Page, name: string): Promise<void> {
  const before = (await stateOf(page)).generation;
  await page.locator(`#scenes .card[data-scene="${name}"]`).click();
  await page.waitForFunction((old) => cotouch.state().generation !== old, before, { timeout: 300_000 });
  await settled(page, name);
}

// A fresh scene, whatever an earlier test has left behind.
export async function openOther(page: Page): Promise<void> {
  await expect(page.locator('#scenes .card').first()).toBeVisible();
  await openScene(page, (await sceneNames(page))[0]!);
}

// Waits until the page shows what is `seconds` later on the server: a machine that is slow in any of the steps between a gesture
// and its picture only makes this take longer.
export async function later(page: Page, seconds: number): Promise<void> {
  const { time } = (await stateOf(page)).frame!;
  await page.waitForFunction((end) => (cotouch.state().frame?.time ?? 0) >= end, time + seconds, { timeout: 60_000 });
}

export const forceOf = (state: TestState) => Math.hypot(...(state.frame?.hands[0]?.force ?? []));

// Presses on for a second; the largest force met.
export async function peakForce(page: Page): Promise<number> {
  let most = 0;
  for (let i = 0; i < 20; ++i) {
    await later(page, 0.05);
    most = Math.max(most, forceOf(await stateOf(page)));
  }
  return most;
}

type Point = { x: number; y: number };

// A point of the window where the moving part can be grabbed: its middle may be a hole.
export async function grabPoint(page: Page): Promise<Point> {
  const moving = (await stateOf(page)).moving!.part;
  const centre = (await page.evaluate((id) => cotouch.part(id), moving))!.screen;
  for (let radius = 0; radius < 200; radius += 8) {
    for (let step = 0; step < 12; ++step) {
      const angle = (step * Math.PI) / 6;
      const point = { x: centre.x + radius * Math.cos(angle), y: centre.y + radius * Math.sin(angle) };
      await page.mouse.move(point.x, point.y);
      const found = await page.evaluate(() => document.getElementById('stage')!.classList.contains('grabbable'));
      if (found) return point;
      if (radius === 0) break;
    }
  }
  throw new Error('The moving part cannot be grabbed anywhere.');
}

// Looks at the scene so that the way from the moving part to the static one lies in the plane of the screen, then drags the
// one towards the other until `reached`, and keeps holding. Returns the unit direction dragged, in world axes.
export async function dragTogether(page: Page, reached: (state: TestState) => boolean): Promise<number[]> {
  const state = await stateOf(page);
  const ids = { moving: state.moving!.part, still: state.parts.find((part) => part.role === 'static')!.id };
  const centres = await page.evaluate(({ moving, still }) => [cotouch.part(moving)!, cotouch.part(still)!], ids);
  const way = [0, 1, 2].map((i) => centres[1]!.world[i]! - centres[0]!.world[i]!);
  const length = Math.hypot(...way);
  const direction = way.map((value) => value / (length || 1));
  // Any horizontal direction square to the way will do; from the front if the way is vertical.
  const flat = Math.hypot(direction[0]!, direction[1]!);
  const from = flat > 0.1 ? [direction[1]! / flat, -direction[0]! / flat, 0] : [0, -1, 0];
  await page.evaluate(([x, y, z]) => cotouch.lookFrom(x!, y!, z!), from);
  const seen = await page.evaluate(({ moving, still }) => [cotouch.part(moving)!, cotouch.part(still)!], ids);
  const [a, b] = [seen[0]!.screen, seen[1]!.screen];
  const grab = await grabPoint(page);
  await page.mouse.down();
  await expect.poll(async () => (await stateOf(page)).grip).toBe('held');
  for (let i = 1; i <= 80; ++i) {
    const part = (1.5 * i) / 80;
    await page.mouse.move(grab.x + part * (b.x - a.x), grab.y + part * (b.y - a.y));
    await later(page, 0.04);
    if (reached(await stateOf(page))) break;
  }
  return direction;
}

export async function waitForPart(page: Page, name: string): Promise<void> {
  const names = async () => (await stateOf(page)).parts.map((part) => part.name);
  await expect.poll(names, { timeout: 180_000 }).toContain(name);
}

// Drags a file over the page and drops it on what `where` finds.
export function dropFile(page: Page, name: string, content: Buffer, where = 'body', seen = async () => {}): Promise<void> {
  return dropFiles(page, [[name, content]], where, seen);
}

export async function dropFiles(page: Page, files: [string, Buffer][], where = 'body', seen = async () => {}): Promise<void> {
  const dataTransfer = await page.evaluateHandle(
    (all) => {
      const transfer = new DataTransfer();
      for (const [name, bytes] of all) transfer.items.add(new File([new Uint8Array(bytes)], name));
      return transfer;
    },
    files.map(([name, content]): [string, number[]] => [name, [...content]]),
  );
  await page.dispatchEvent('body', 'dragenter', { dataTransfer });
  await expect(page.locator('#drop')).toBeVisible();
  await seen();
  await page.dispatchEvent(where, 'drop', { dataTransfer });
  await expect(page.locator('#drop')).toBeHidden();
}

export const cubeStl = (side: number) => boxStl([side, side, side]);

// A box as a binary STL file, sides in the file's unit; or several, with their middles at these places along x.
export function boxStl(sides: [number, number, number], places = [0]): Buffer {
  const corner = (i: number, place: number) =>
    [i & 1, (i >> 1) & 1, (i >> 2) & 1].map((bit, axis) => sides[axis]! * (bit - 0.5) + (axis === 0 ? place : 0));
  const quads = [
    [0, 2, 3, 1],
    [4, 5, 7, 6],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 4, 6, 2],
    [1, 3, 7, 5],
  ];
  const triangles = quads.flatMap(([a, b, c, d]) => [
    [a!, b!, c!],
    [a!, c!, d!],
  ]);
  const all = places.flatMap((place) => triangles.map((triangle) => triangle.flatMap((i) => corner(i, place))));
  const file = Buffer.alloc(84 + 50 * all.length);
  file.writeUInt32LE(all.length, 80);
  all.forEach((triangle, t) => triangle.forEach((value, i) => file.writeFloatLE(value, 84 + 50 * t + 12 + 4 * i)));
  return file;
}
