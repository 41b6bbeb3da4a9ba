// The page by keyboard alone, and by ear.
import { expect, test } from '@playwright/test';
import { dragTogether, forceOf, later, open, openOther, stateOf, watchErrors } from './page';
import { Server } from './server';
import type { TestHook } from '../../src/main';

declare const cotouch: TestHook;

const server = new Server();

test.beforeAll(() => server.start());
test.afterAll(() => server.end());

test('arrows orbit and + and − zoom, with a frame around the picture, and leave the body alone', async ({ page }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await openOther(page);
  const start = await stateOf(page);
  const corner = (await stateOf(page)).moving!.wanted!.position;
  const seen = () => page.evaluate(([x, y, z]) => cotouch.project(x! + 0.01, y!, z!), corner);
  const middle = () => page.evaluate(([x, y, z]) => cotouch.project(x!, y!, z!), corner);
  await page.locator('#gallery-toggle').focus();
  await page.keyboard.press('Shift+Tab'); // the picture comes first of all
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('stage');
  expect(await page.locator('#stage').evaluate((stage) => getComputedStyle(stage).outlineStyle)).toBe('solid');

  const [a, b] = [await seen(), await middle()];
  for (let i = 0; i < 6; ++i) await page.keyboard.press('ArrowRight');
  const [c, d] = [await seen(), await middle()];
  const arm = (p: { x: number; y: number }, q: { x: number; y: number }) => [p.x - q.x, p.y - q.y] as const;
  expect(Math.hypot(arm(c, d)[0] - arm(a, b)[0], arm(c, d)[1] - arm(a, b)[1])).toBeGreaterThan(1);
  for (let i = 0; i < 6; ++i) await page.keyboard.press('ArrowLeft');
  await expect.poll(async () => Math.hypot((await seen()).x - a.x, (await seen()).y - a.y)).toBeLessThan(0.5);
  const far = Math.hypot(...arm(await seen(), await middle()));
  for (let i = 0; i < 5; ++i) await page.keyboard.press('+');
  expect(Math.hypot(...arm(await seen(), await middle()))).toBeGreaterThan(1.2 * far);
  for (let i = 0; i < 10; ++i) await page.keyboard.press('-');
  expect(Math.hypot(...arm(await seen(), await middle()))).toBeLessThan(0.8 * far);

  await later(page, 0.3);
  expect((await stateOf(page)).grip).toBe('free');
  expect((await stateOf(page)).frame!.hands).toEqual(start.frame!.hands);
  await page.keyboard.press('?');
  await expect(page.locator('#help')).toContainText('Arrow keys');
  await expect(page.locator('#help')).toContainText('orbit');
  expect(errors).toEqual([]);
});

test('figures that change all the time are not read out all the time', async ({ page }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await openOther(page);
  await dragTogether(page, (state) => forceOf(state) > 1);
  // Whatever a screen reader would speak: each change of a region that is live and does not say that it is not.
  await page.evaluate(() => {
    const spoken: string[] = [];
    const changed: string[] = [];
    Object.assign(window, { spoken, changed });
    const live = 'output, [role=status], [role=alert], [role=log], [aria-live=polite], [aria-live=assertive]';
    new MutationObserver((records) => {
      for (const { target } of records) {
        const element = target instanceof Element ? target : target.parentElement;
        const region = element?.closest(live);
        if (region?.tagName === 'OUTPUT') changed.push(region.textContent ?? '');
        if (region && region.getAttribute('aria-live') !== 'off') spoken.push(region.textContent ?? '');
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await later(page, 6);
  const { spoken, changed } = await page.evaluate(() => {
    const { spoken, changed } = window as unknown as { spoken: string[]; changed: string[] };
    return { spoken, changed };
  });
  expect(changed.length).toBeGreaterThan(10); // they do change
  expect(spoken.length).toBeLessThanOrEqual(4);
  await expect(page.locator('#spoken')).toHaveText(/^Touching, force .* newtons\.$/);
  await expect(page.locator('.tile', { hasText: 'Penetration' })).toContainText('m'); // depth, not by colour alone
  await page.mouse.up();
  expect(errors).toEqual([]);
});
