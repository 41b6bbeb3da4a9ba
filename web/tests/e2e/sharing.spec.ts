// The panel "Together" in a real browser, with a session whose peers are made up: what the page shows of it, and what it asks for.
import { expect, test, type Page } from '@playwright/test';
import { FakeSession, kInvite, network, peer, peers, share } from './fake-session';
import { later, open, openScene, stateOf, watchErrors } from './page';
import { Server } from './server';
import type { TestHook } from '../../src/main';

declare const cotouch: TestHook;

const server = new Server();
const picture = (page: Page, name: string) => page.screenshot({ path: test.info().outputPath(`${name}.png`) });

test.beforeAll(() => server.start());
test.afterAll(() => server.end());

const me = peer({ peer: 0, name: 'Ben', color: '#1971c2', self: true, path: 'self' });
const anna = peer({ peer: 1, name: 'Anna', color: '#9c36b5' });
const carl = peer({ peer: 2, name: 'Carl', color: '#e8590c', path: 'relayed', latency_ms: 243, jitter_ms: 18, loss: 0.05, lead_ms: 11 });
const keeper = peer({ peer: 3, name: 'Archive', color: '#868e96', observer: true, latency_ms: 1.2, jitter_ms: 0.1, loss: 0, lead_ms: 0 });

test('a scene is shared: invitation, peers, chat, marks, network', async ({ page }) => {
  const errors = watchErrors(page);
  const session = new FakeSession();
  await session.attach(page);
  await open(page, server.address);
  await openScene(page, 'docking');
  await page.keyboard.press('t');
  await expect(page.locator('#share-off')).toBeVisible();
  await picture(page, 'off');

  await page.locator('#invite').fill('hello');
  await page.locator('#share-join').click();
  await expect(page.locator('#share-wrong')).toHaveText(/One begins with "cotouch:"/);
  expect(session.asked).toEqual([]);
  await page.locator('#share-name').fill('Ben');
  await page.locator('#share-start').click();
  await expect.poll(() => session.asked.at(-1)).toMatchObject({ type: 'share_start', name: 'Ben' });

  session.say(share({ state: 'starting', stage: 'Finding a way through the router', progress: 0.4 }));
  await expect(page.locator('#share-stage')).toHaveText('Finding a way through the router');
  await picture(page, 'starting');
  session.say(share({ state: 'hosting', invite: kInvite, session: 'a3f9' }));
  session.say(peers({ peers: [me] }));
  await expect(page.locator('#invite-command')).toHaveValue(`cotouch join ${kInvite}`);
  await expect(page.locator('.qr')).toBeVisible();
  await picture(page, 'hosting-alone');

  const all = { peers: [me, anna, carl, keeper] };
  for (let i = 0; i < 40; ++i) {
    const late = i > 20 && i < 30;
    session.say(peers({ ...all, divergence_mm: late ? 0.3 : 0.05 + 0.02 * Math.sin(i), rollback_ticks: late ? 31 : 12 }));
    await page.waitForTimeout(60);
  }
  await expect(page.locator('#peers li')).toHaveCount(4);
  await expect(page.locator('#peers li').nth(1)).toContainText('117 ± 3.2 ms · 1.2 % lost · 4 ms behind');
  await expect(page.locator('#peers li').nth(2)).toContainText('relayed');
  await expect(page.locator('#share-status')).toHaveText('Together with Anna, Carl and Archive');

  session.say({ type: 'chat', name: 'Anna', color: '#9c36b5', text: 'I hold the left side <img src=x onerror=alert(1)>', time: 12 });
  session.say({ type: 'chat', name: 'Carl', color: '#e8590c', text: 'and I the right one', time: 14.2 });
  await expect(page.locator('#chat li').nth(-2)).toContainText('left side <img src=x onerror=alert(1)>');
  expect(await page.locator('#chat img').count()).toBe(0);
  await page.keyboard.press('c');
  await page.keyboard.type('up we go');
  await page.keyboard.press('Enter');
  await expect.poll(() => session.asked.at(-1)).toMatchObject({ type: 'chat', text: 'up we go' });
  await expect(page.locator('#chat-text')).toHaveValue('');

  // A mark on the box.
  const moving = (await stateOf(page)).moving!;
  const { screen } = (await page.evaluate((id) => cotouch.part(id), moving.part))!;
  await page.locator('#stage').focus();
  await page.keyboard.press('m');
  await expect(page.locator('#hint')).toHaveText(/Click a point/);
  await page.mouse.click(screen.x, screen.y);
  await expect.poll(() => session.asked.at(-1)).toMatchObject({ type: 'mark', body: moving.body });
  expect((await stateOf(page)).grip).toBe('free');
  const { body, point } = session.asked.at(-1)!;
  session.say({ type: 'mark', mark: 1, body, point, name: 'Ben', color: '#1971c2' });
  const label = page.locator('.pin-label');
  await expect(label).toHaveText('1 Ben');
  const box = (await label.boundingBox())!;
  expect(Math.hypot(box.x - screen.x, box.y - screen.y)).toBeLessThan(60);
  await picture(page, 'together');
  await page.getByRole('button', { name: 'Remove mark 1 of Ben' }).click();
  await expect.poll(() => session.asked.at(-1)).toMatchObject({ type: 'remove_mark', mark: 1 });

  await page.locator('#network summary').click();
  await page.locator('#network-profile').selectOption('transatlantic');
  await expect.poll(() => session.asked.at(-1)).toMatchObject({ type: 'network', profile: 'transatlantic' });
  session.say(network({ profile: 'transatlantic', delay_ms: 120, jitter_ms: 5, loss: 0.01 }));
  await expect(page.locator('#network .slider output').first()).toHaveText('120 ms');
  await page.locator('#network-loss').fill('10');
  await expect.poll(() => session.asked.at(-1)).toMatchObject({ type: 'network', loss: 0.1 });
  await page.locator('#synchronised').uncheck();
  await expect.poll(() => session.asked.at(-1)).toMatchObject({ type: 'synchronise', on: false });
  await picture(page, 'network');

  session.say(peers({ ...all, waiting_for: [1] }));
  await expect(page.locator('#notice')).toHaveText('Waiting for Anna; the world goes on as soon as they are heard again.');
  await page.waitForTimeout(600);
  await picture(page, 'waiting');
  session.say(share({ state: 'cut_off', session: 'a3f9' }));
  await expect(page.locator('#notice')).toHaveText(/^Cut off/);
  session.say(share({ state: 'failed', reason: 'The session has ended; the host closed it.' }));
  await expect(page.locator('#share-wrong')).toHaveText('The session has ended; the host closed it.');
  await expect(page.locator('#share-off')).toBeVisible();
  expect((await stateOf(page)).garbage).toBe(0);
  expect(errors).toEqual([]);
});

test('what is said while the panel is closed is counted', async ({ page }) => {
  const session = new FakeSession([share({ state: 'joined', session: 'a3f9' }), network(), peers({ peers: [me, anna] })]);
  await session.attach(page);
  await open(page, server.address);
  await expect(page.locator('#together-open')).toContainText('Together · 2');
  session.say({ type: 'chat', name: 'Anna', color: '#9c36b5', text: 'hello', time: 1 });
  session.say({ type: 'chat', name: 'Anna', color: '#9c36b5', text: 'anybody there?', time: 2 });
  await expect(page.locator('#together-open .badge')).toHaveText('2');
  await page.locator('#together-open').click();
  await expect(page.locator('#together-open .badge')).toBeHidden();
  await page.locator('#together-open').click();
  session.say({ type: 'chat', name: 'Anna', color: '#9c36b5', text: 'well then', time: 3 });
  await expect(page.locator('#together-open .badge')).toHaveText('1');
});

test('an invitation in the address is offered, not taken', async ({ page }) => {
  const session = new FakeSession();
  await session.attach(page);
  await open(page, `${server.address}&join=${encodeURIComponent(kInvite)}`);
  await expect(page.locator('#invite')).toHaveValue(kInvite);
  expect(page.url()).not.toContain('join');
  expect(session.asked).toEqual([]);
  await page.keyboard.press('Enter');
  await expect.poll(() => session.asked).toMatchObject([{ type: 'share_join', invite: kInvite }]);
});

for (const [name, width, height] of [['narrow', 390, 844], ['tablet', 820, 1180]] as const) {
  test(`the panel fits a ${name} screen`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    const session = new FakeSession([share({ state: 'hosting', invite: kInvite, session: 'a3f9' }), network(), peers({ peers: [me, anna, carl] })]);
    await session.attach(page);
    await open(page, server.address);
    await page.locator('#together-open').click();
    if (!(await page.locator('#together').isVisible())) await page.locator('#together-open').click();
    session.say({ type: 'chat', name: 'Anna', color: '#9c36b5', text: 'I hold the left side', time: 12 });
    session.say(peers({ peers: [me, anna, carl], waiting_for: [1, 2] }));
    await later(page, 1);
    await picture(page, name);
    const wide = await page.evaluate(() => [document.getElementById('side')!.scrollWidth, document.getElementById('side')!.clientWidth]);
    expect(wide[0]).toBeLessThanOrEqual(wide[1]!);
  });
}
