// The same page in another browser: Debian's Firefox ESR, drawing in software.
import { expect, test } from '@playwright/test';
import { Firefox, firefoxProgram } from './firefox';
import { Server } from './server';
import type { TestState } from '../../src/main';

const program = firefoxProgram();

test.skip(program === '', 'There is no firefox-esr here.');

const server = new Server();
let firefox: Firefox;

test.beforeAll(async () => {
  test.setTimeout(300_000);
  await server.start();
  firefox = await Firefox.start(program, 1280, 800);
});
test.afterAll(async () => {
  await firefox?.end();
  await server.end();
});

type Point = { x: number; y: number };

const state = () => firefox.run<TestState>('return cotouch.state();');
const to = ({ x, y }: Point) => ({ type: 'pointerMove', x: Math.round(x), y: Math.round(y), duration: 0, origin: 'viewport' });

// How many pixels of the scene alone are drawn, as a share, and how many colours they have.
const kDrawn = `
  const image = new Image();
  image.src = cotouch.thumbnail();
  return image.decode().then(() => {
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    const colors = new Set();
    let opaque = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] < 250) continue;
      ++opaque;
      colors.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    }
    return { share: opaque / (data.length / 4), colors: colors.size };
  });`;

test('the page opens a scene, draws it, and gives a force to whoever drags a body', async () => {
  test.setTimeout(600_000);
  await firefox.goto(server.address);
  await firefox.until('return window.cotouch?.state().complete && cotouch.state().frame !== null;');
  const name = await firefox.until<string>(`return document.querySelector('#scenes .card')?.dataset.scene;`);
  const { generation } = await state();
  await firefox.run(`document.querySelector('#scenes .card').click();`);
  await firefox.until(`return cotouch.state().generation !== ${generation} && cotouch.state().complete && cotouch.state().frame !== null;`);
  expect((await state()).scene).toBe(name);

  const drawn = await firefox.run<{ share: number; colors: number }>(kDrawn);
  expect(drawn.share).toBeGreaterThan(0.02);
  expect(drawn.colors).toBeGreaterThan(20); // lit, not flat

  const { received } = await state();
  await firefox.until(`return cotouch.state().received > ${received + 20};`);

  // Seen from the side, from one part towards the other.
  const { moving, parts } = await state();
  const still = parts.find((part) => part.role === 'static')!.id;
  const places = await firefox.run<{ from: Point; to: Point }>(
    `const way = () => [cotouch.part(arguments[0]), cotouch.part(arguments[1])];
     const [a, b] = way();
     const flat = Math.hypot(b.world[0] - a.world[0], b.world[1] - a.world[1]);
     const far = Math.hypot(flat, b.world[2] - a.world[2]);
     if (flat > 0.1 * far) cotouch.lookFrom((b.world[1] - a.world[1]) / flat, (a.world[0] - b.world[0]) / flat, 0);
     else cotouch.lookFrom(0, -1, 0);
     const [from, to] = way();
     return { from: from.screen, to: to.screen };`,
    moving!.part,
    still,
  );
  const grab = await grabPoint(places.from);
  expect((await state()).grip).toBe('free');
  await firefox.mouse(to(grab), { type: 'pointerDown', button: 0 });
  await firefox.until(`return cotouch.state().grip === 'held';`);
  const force = `Math.hypot(...(cotouch.state().frame?.hands[0]?.force ?? [0]))`;
  let felt = 0;
  for (let i = 1; i <= 60 && felt < 0.5; ++i) {
    const share = (1.5 * i) / 60;
    await firefox.mouse(to({ x: grab.x + share * (places.to.x - places.from.x), y: grab.y + share * (places.to.y - places.from.y) }));
    const { time } = (await state()).frame!;
    await firefox.until(`return (cotouch.state().frame?.time ?? 0) > ${time} + 0.05;`);
    felt = await firefox.run<number>(`return ${force};`);
  }
  expect(felt).toBeGreaterThan(0.5);
  await test.info().attach('firefox.png', { body: await firefox.screenshot(), contentType: 'image/png' });
  await firefox.mouse({ type: 'pointerUp', button: 0 });
  await firefox.until(`return cotouch.state().grip === 'free';`);
  expect((await state()).garbage).toBe(0);
  expect(await firefox.errors(new URL(server.address).origin)).toEqual([]);
});

// The middle of a part may be a hole.
async function grabPoint(middle: Point): Promise<Point> {
  for (let radius = 0; radius < 200; radius += 12) {
    for (let step = 0; step < (radius ? 8 : 1); ++step) {
      const angle = (step * Math.PI) / 4;
      const point = { x: middle.x + radius * Math.cos(angle), y: middle.y + radius * Math.sin(angle) };
      await firefox.mouse(to(point));
      if (await firefox.run<boolean>(`return document.getElementById('stage').classList.contains('grabbable');`)) return point;
    }
  }
  throw new Error('The moving part cannot be grabbed anywhere.');
}
