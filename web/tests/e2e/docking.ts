// Docking the box with the mice of several pages at once.
import { expect, type Page } from '@playwright/test';
import { later, stateOf } from './page';
import type { TestHook } from '../../src/main';

declare const cotouch: TestHook;

type Point = { x: number; y: number };

// From the front: to the right is the world's x, up is z.
export async function lookAlongRails(page: Page): Promise<void> {
  await page.evaluate(() => cotouch.lookFrom(0, -1, 0.15));
  await later(page, 0.2);
}

// Takes the box, so far to the side of its middle (in halves of its width), and keeps holding it.
export async function takeHold(page: Page, side: number): Promise<void> {
  const { part } = (await stateOf(page)).moving!;
  const { screen } = (await page.evaluate((id) => cotouch.part(id), part))!;
  const grab = { x: screen.x + 60 * side, y: screen.y };
  await page.mouse.move(grab.x, grab.y);
  await page.mouse.down();
  await expect.poll(async () => (await stateOf(page)).grip).toBe('held');
  mice.set(page, grab);
}

const mice = new Map<Page, Point>();

// Names beside the hands of others.
export function labels(page: Page): Promise<string[]> {
  return page.locator('.hand-label:not(.pin-label)').allTextContents();
}

// Leads the held box up, across and down to its place, all pages together, until it snaps in.
export async function dockTogether(pages: Page[]): Promise<void> {
  const { frame, moving } = (await stateOf(pages[0]!))!;
  const from = frame!.bodies.find((body) => body.body === moving!.body)!.pose.position;
  const to = frame!.task!.target.position;
  const over = 0.05;
  const way = [
    [from[0], from[1], from[2] + over],
    [to[0], to[1], to[2] + over],
    [to[0], to[1], to[2]],
  ];
  const screens = async (page: Page, point: readonly number[]) =>
    page.evaluate(([x, y, z]) => cotouch.project(x!, y!, z!), [...point]);
  let last: readonly number[] = from;
  for (const next of way) {
    const steps = 12;
    const moves = await Promise.all(
      pages.map(async (page) => {
        const [a, b] = [await screens(page, last), await screens(page, next)];
        return { x: (b.x - a.x) / steps, y: (b.y - a.y) / steps };
      }),
    );
    for (let step = 0; step < steps; ++step) {
      for (const [i, page] of pages.entries()) {
        const mouse = mice.get(page)!;
        mouse.x += moves[i]!.x;
        mouse.y += moves[i]!.y;
        await page.mouse.move(mouse.x, mouse.y);
      }
      await later(pages[0]!, 0.05);
      if (await isDone(pages[0]!)) return release(pages);
    }
    last = next;
  }
  await expect.poll(() => isDone(pages[0]!)).toBe(true);
  await release(pages);
}

const kDone = 3; // state of a task

async function isDone(page: Page): Promise<boolean> {
  return (await stateOf(page)).frame?.task?.state === kDone;
}

async function release(pages: Page[]): Promise<void> {
  for (const page of pages) await page.mouse.up();
}
