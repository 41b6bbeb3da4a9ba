// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from 'vitest';
import { parseLinks } from '../../src/links';
import { LinksPanel } from '../../src/panels/links';

const link = (members: object) => ({ id: 'a', rights: 'hand', label: 'Ben', expires: null, state: 'open', pages: 0, yours: false, token: 't1', ...members });

describe('The links', () => {
  let asked: string[] = [];
  let list: object[] = [];

  beforeEach(() => {
    document.body.innerHTML = '<div id="settings"></div>';
    asked = [];
    list = [link({ id: 'own', rights: 'own', label: 'Owner', yours: true, token: undefined }), link({}), link({ id: 'b', label: 'Old', state: 'revoked' })];
  });

  async function shown(): Promise<HTMLElement> {
    const root = document.getElementById('settings')!;
    const panel = new LinksPanel(root, {
      list: () => Promise.resolve(parseLinks({ links: list, origins: ['http://192.168.1.5:7117'] })),
      add: (rights, label, minutes) => Promise.resolve(asked.push(`add ${rights} ${label} ${minutes}`)).then(() => 'new'),
      revoke: (id) => Promise.resolve(void asked.push(`revoke ${id}`)),
      copy: (text) => Promise.resolve(asked.push(`copy ${text}`) > 0),
      tell: (text) => asked.push(`tell ${text}`),
    });
    panel.allow(['links']);
    await new Promise((resolve) => setTimeout(resolve));
    return root;
  }

  it('are for owners only', async () => {
    const root = document.createElement('div');
    new LinksPanel(root, { list: () => Promise.reject(new Error('403')) } as never).allow(['hand']);
    expect((root.firstElementChild as HTMLElement).hidden).toBe(true);
  });

  it('show those that count, and end others than one’s own', async () => {
    const root = await shown();
    const items = [...root.querySelectorAll('.links li')];
    expect(items.map((item) => item.querySelector('strong')!.textContent)).toEqual(['Owner', 'Ben']);
    expect(items[0]!.textContent).toContain('you came by it');
    expect(items[0]!.querySelectorAll('button').length).toBe(0);
    const [copy, revoke] = items[1]!.querySelectorAll('button');
    copy!.click();
    revoke!.click();
    await new Promise((resolve) => setTimeout(resolve));
    expect(asked).toContain('copy http://192.168.1.5:7117/#token=t1');
    expect(asked).toContain('revoke a');
  });

  it('are made for somebody, and copied at once', async () => {
    const root = await shown();
    root.querySelector<HTMLInputElement>('#link-label')!.value = ' Carl ';
    root.querySelector('form')!.dispatchEvent(new Event('submit', { cancelable: true }));
    await new Promise((resolve) => setTimeout(resolve));
    expect(asked.slice(0, 2)).toEqual(['add hand Carl 60', 'copy http://192.168.1.5:7117/#token=new']);
  });
});
