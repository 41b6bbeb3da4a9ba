// Nothing that was changed is lost: a drop adds to what is open, and every scene that was changed is in the list.
import { expect, test } from '@playwright/test';
import { cubeStl, dropFile, dropFiles, grabPoint, open, openOther, openScene, sceneNames, settled, stateOf, unsavedNames, waitForPart, watchErrors } from './page';
import { Server } from './server';

const server = new Server();

test.beforeAll(async () => {
  await server.start();
});
test.afterAll(async () => {
  await server.end();
});

const kPictures = process.env.COTOUCH_E2E_OUTPUT ?? 'test-results';

test('a drop onto a changed scene adds to it, and both are listed after another was opened', async ({ page }) => {
  const errors = watchErrors(page);
  await open(page, server.address);
  await openOther(page);
  const builtIn = (await sceneNames(page))[0]!;
  const before = (await stateOf(page)).parts.length;

  // Changed: a copy of a body. Then a part is dropped.
  await page.locator('#tab-world').click();
  const at = await grabPoint(page);
  await page.mouse.click(at.x, at.y);
  await page.getByRole('button', { name: 'Add a copy of this body' }).click();
  await expect.poll(async () => (await stateOf(page)).parts.length).toBe(before + 1);
  await settled(page);
  await dropFile(page, 'block.stl', cubeStl(20), 'body', async () => {
    await expect(page.locator('#drop')).toContainText('Drop to add to “');
    await page.screenshot({ path: `${kPictures}/drop.png` });
  });
  await waitForPart(page, 'block');
  await settled(page);
  expect((await stateOf(page)).parts.length).toBe(before + 2);
  await expect.poll(() => unsavedNames(page)).toHaveLength(1);

  // The built-in scene is as it was; and changed anew it is another unsaved scene.
  await openScene(page, builtIn);
  expect((await stateOf(page)).parts.length).toBe(before);
  await dropFile(page, 'second.stl', cubeStl(12));
  await waitForPart(page, 'second');
  await settled(page);
  await expect.poll(() => unsavedNames(page)).toHaveLength(2);

  // A file on its own, in a new scene: nothing of the others is lost.
  await dropFile(page, 'alone.stl', cubeStl(30), '#drop-alone');
  await waitForPart(page, 'alone');
  await settled(page);
  expect((await stateOf(page)).parts.length).toBe(1);
  await expect.poll(() => unsavedNames(page)).toHaveLength(3);
  await page.locator('#scenes .card[data-scene^="unsaved"]').last().scrollIntoViewIfNeeded();
  await page.screenshot({ path: `${kPictures}/unsaved.png` });

  const counts: number[] = [];
  for (const name of await unsavedNames(page)) {
    const card = page.locator(`#scenes .card[data-scene="${name}"]`);
    await expect(card).toContainText('Unsaved: ');
    const { generation, parts } = await stateOf(page);
    await card.click();
    if (parts.length > 1 || counts.length > 0) {
      await page.waitForFunction((old) => window.cotouch!.state().generation !== old, generation);
    } else {
      await expect(page.locator('.toast', { hasText: 'open already' })).toBeVisible();
    }
    await settled(page);
    counts.push((await stateOf(page)).parts.length);
  }
  expect(counts.sort((a, b) => a - b)).toEqual([1, before + 1, before + 2]);
  expect(errors).toEqual([]);
});

test('what cannot be kept is lost only if that is said, to a scene, a file and a session', async ({ page }) => {
  const full = new Server();
  full.fillWithUnsaved(32);
  await full.start();
  try {
    await open(page, full.address);
    await openOther(page);
    await dropFile(page, 'block.stl', cubeStl(20));
    await waitForPart(page, 'block');
    await settled(page);
    const before = (await stateOf(page)).parts.length;
    const question = page.locator('#losing');
    const stays = async () => {
      await expect(question).toContainText('32 unsaved scenes');
      await question.getByRole('button', { name: 'Stay' }).click();
      await expect(question).toBeHidden();
      expect((await stateOf(page)).parts.length).toBe(before);
    };

    await page.locator('#tab-together').click();
    await page.locator('#invite').fill(`cotouch:${'AbCd_-12'.repeat(12)}`);
    await page.locator('#share-join').click();
    await expect(question.getByRole('button', { name: 'Join and lose what was changed' })).toBeVisible();
    await page.screenshot({ path: `${kPictures}/losing.png` });
    await stays();
    const scene = page.locator('#scenes .card').first();
    await scene.click();
    await stays();
    await dropFile(page, 'alone.stl', cubeStl(30), '#drop-alone');
    await stays();

    await dropFile(page, 'alone.stl', cubeStl(30), '#drop-alone');
    await question.getByRole('button', { name: 'Open and lose what was changed' }).click();
    await waitForPart(page, 'alone');
    await settled(page);
    expect((await stateOf(page)).parts.length).toBe(1);
    await scene.click();
    await question.getByRole('button', { name: 'Open and lose what was changed' }).click();
    await expect.poll(async () => (await stateOf(page)).parts.length).toBeGreaterThan(1);
  } finally {
    await full.end();
  }
});

test('a file that cannot be read leaves the open scene, also if others came with it', async ({ page }) => {
  await open(page, server.address);
  await openOther(page);
  const { generation, parts } = await stateOf(page);
  const together: [string, Buffer][] = [['damaged.stl', Buffer.from('solid rubbish facet!')], ['whole.stl', cubeStl(20)]];
  await dropFiles(page, together, '#drop-alone');
  await expect(page.locator('.toast', { hasText: 'damaged' })).toBeVisible();
  // What is added after that comes into the scene that stayed, and is all that does.
  await dropFile(page, 'later.stl', cubeStl(20));
  await waitForPart(page, 'later');
  const now = await stateOf(page);
  expect([now.generation, now.parts.length]).toEqual([generation + 1, parts.length + 1]);
});
