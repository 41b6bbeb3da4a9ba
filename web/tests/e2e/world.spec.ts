// The shared world in a real browser: gravity, masses, copies and a task, with a server that is made to know them. What it
// says beyond the real one is added on the way.
import { expect, test, type Page } from '@playwright/test';
import { grabPoint, later, open, openOther, stateOf, watchErrors } from './page';
import { Server } from './server';
import type { TestHook } from '../../src/main';

declare const cotouch: TestHook;

const server = new Server();
const picture = (page: Page, name: string) => page.screenshot({ path: test.info().outputPath(`${name}.png`) });

test.beforeAll(() => server.start());
test.afterAll(() => server.end());

interface Wished {
  type: string;
  body?: number;
  mass?: number;
  gravity?: number;
  point?: number[];
}

// A task for the body: 42.3 mm and 5.0 degrees off, running for 12 s, its place 5 cm above the origin.
function taskSection(body: number): Buffer {
  const section = Buffer.alloc(8 + 56);
  section.writeUInt16LE(6, 0);
  section.writeUInt16LE(56, 2);
  section.writeUInt32LE(1, 4);
  section.writeUInt8(2, 8);
  section.writeUInt32LE(body, 12);
  [0.0423, Math.PI / 36, 0.04, 0.166, 12, 0, 0, 0.05, 1, 0, 0, 0].forEach((value, i) => section.writeFloatLE(value, 16 + 4 * i));
  return section;
}

// A section of a later version: two entries of three bytes, padded.
const kLater = Buffer.from([77, 0, 3, 0, 2, 0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0]);

test('gravity, mass, copies and a task are asked of the server and shown as it says', async ({ page }) => {
  const errors = watchErrors(page);
  const wishes: Wished[] = [];
  let body = 0;
  await page.routeWebSocket(/\/feed/, (socket) => {
    const real = socket.connectToServer();
    const own = new Set(['world', 'set_body', 'copy_body', 'remove_body', 'task_reset']);
    socket.onMessage((message) => {
      const wish = typeof message === 'string' ? (JSON.parse(message) as Wished) : null;
      if (wish) wishes.push(wish);
      // Frames take the way through the test too; at full rate a busy machine would fall behind.
      if (wish?.type === 'view') return real.send(JSON.stringify({ ...wish, near: false, fps: 10 }));
      if (!wish || !own.has(wish.type)) return real.send(message);
      if (wish.type === 'world') socket.send(JSON.stringify({ type: 'world', gravity: wish.gravity }));
      if (wish.type === 'set_body') {
        const now = { body: wish.body, motion: 'free', mass: wish.mass, density: 1234, graspable: true };
        socket.send(JSON.stringify({ type: 'body', ...now }));
      }
    });
    real.onMessage((message) => {
      if (typeof message === 'string') {
        const json = JSON.parse(message) as { type: string; features?: string[] };
        json.features?.push('world', 'task');
        return socket.send(JSON.stringify(json));
      }
      if (message[3] !== 1 || body === 0) return socket.send(message);
      const longer = Buffer.concat([message, taskSection(body), kLater]);
      longer.writeUInt32LE(longer.length, 4);
      socket.send(longer);
    });
  });
  // Its bodies may be copied.
  await page.route('**/api/scene', async (route) => {
    const answer = await route.fetch();
    const scene = (await answer.json()) as { bodies: { copy: boolean }[] };
    for (const entry of scene.bodies) entry.copy = true;
    await route.fulfill({ response: answer, json: scene });
  });
  await open(page, server.address);
  await openOther(page);
  ({ body } = (await stateOf(page)).moving!);

  await expect(page.locator('#task-position')).toHaveText('42.3 mm (at most 40.0 mm)');
  await expect(page.locator('#task-angle')).toHaveText('5.0° (at most 9.5°)');
  await page.getByRole('button', { name: /Put the body of the task back/ }).click();
  await picture(page, 'task');

  await page.locator('#tab-world').click();
  await page.locator('#gravity').check();
  await expect(page.getByRole('status', { name: 'Strength' })).toHaveText('9.8 m/s²');
  await page.locator('#gravity').uncheck();
  await expect(page.getByRole('status', { name: 'Strength' })).toHaveText('off');

  await expect(page.locator('#body')).toBeHidden();
  const point = await grabPoint(page);
  await page.mouse.click(point.x, point.y);
  await expect(page.locator('#body')).toBeVisible();
  await page.locator('#body-mass').fill('0,25');
  await page.locator('#body-mass').press('Enter');
  await expect(page.locator('#body-density')).toHaveValue('1234');
  await page.getByRole('button', { name: 'Add a copy of this body' }).click();
  await expect(page.getByRole('button', { name: 'Remove this body' })).toBeHidden();
  await later(page, 0.2);
  await picture(page, 'world');

  // A hand that is granted after it was given up is given back once more, so releases are not counted.
  const asked = wishes.filter((wish) => !['view', 'open_scene', 'release_hand'].includes(wish.type));
  expect(asked.map((wish) => wish.type)).toEqual([
    'hello',
    'task_reset',
    'world',
    'world',
    'grasp',
    'set_body',
    'copy_body',
  ]);
  expect(asked[4]!.body).toBe(body);
  expect(asked[5]).toMatchObject({ body, mass: 0.25 });
  // The point that was clicked, in the body's frame: on the part, so no farther from its middle than its size.
  const centre = (await page.evaluate((id) => cotouch.part(id), (await stateOf(page)).moving!.part))!.world;
  const { position } = (await stateOf(page)).frame!.bodies[0]!.pose;
  const offset = asked[4]!.point!.map((value, i) => value + position[i]! - centre[i]!);
  expect(Math.hypot(...offset)).toBeLessThan(0.2);
  expect((await stateOf(page)).garbage).toBe(0);
  expect(errors).toEqual([]);
});
