// Two pages of two processes in one session.
import { expect, type Browser, type Page } from '@playwright/test';
import { open, openScene, settled, stateOf } from './page';
import type { Server } from './server';

export const shareOf = async (page: Page) => (await stateOf(page)).share;

export async function newPage(browser: Browser): Promise<Page> {
  return (await browser.newContext({ viewport: { width: 1280, height: 720 } })).newPage();
}

// For the end of each test: pages that it opened besides its own would go on drawing, and looking for their servers, beside all others.
export async function closePages({ browser }: { browser: Browser }): Promise<void> {
  for (const context of browser.contexts()) await context.close();
}

// Ben shares the docking scene from his page, Anna joins from hers. The panel is open on both, and both are in the session.
export async function meet(hosting: Page, host: Server, joining: Page, guest: Server): Promise<void> {
  await open(hosting, host.address);
  await openScene(hosting, 'docking');
  await share(hosting, joining, guest);
  await settled(joining, 'docking');
}

// The scene that is open, whatever it is.
export async function share(hosting: Page, joining: Page, guest: Server): Promise<void> {
  await hosting.locator('#together-open').click();
  await hosting.locator('#share-name').fill('Ben');
  await hosting.locator('#share-start').click();
  await expect.poll(async () => (await shareOf(hosting)).state).toBe('hosting');
  await open(joining, guest.address);
  await joining.locator('#together-open').click();
  await joining.locator('#share-name').fill('Anna');
  await joining.locator('#invite').fill((await shareOf(hosting)).invite);
  await joining.locator('#share-join').click();
  await expect.poll(async () => (await shareOf(joining)).state).toBe('joined');
  for (const page of [hosting, joining]) await expect.poll(async () => (await shareOf(page)).peers.sort()).toEqual(['Anna', 'Ben']);
}
