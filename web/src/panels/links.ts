// The links by which people come to this page, for owners: one for each person, with what it may do, how long, and an end at once.
import { button, element } from '../dom';
import * as format from '../format';
import type { LinkInfo, LinkList } from '../links';

export interface LinkActions {
  list(): Promise<LinkList>;
  add(rights: string, label: string, minutes: number): Promise<string>; // its token
  revoke(id: string): Promise<void>;
  copy(text: string): Promise<boolean>;
  tell(text: string, kind: 'info' | 'error'): void;
}

const kRights: Record<LinkInfo['rights'], string> = {
  own: 'may do everything',
  hand: 'holds and moves things',
  watch: 'watches',
};

const kLasting: [string, number][] = [
  ['for an hour', 60],
  ['for a day', 24 * 60],
  ['for a week', 7 * 24 * 60],
  ['until the server ends', 0],
];

export class LinksPanel {
  private base = location.origin; // by which whoever gets a link reaches the server
  private readonly group = element('div', { className: 'group', id: 'links', hidden: true });
  private readonly items = element('ul', { className: 'links' });
  private readonly note = element('p', { className: 'note' });
  private readonly rights = element('select', { id: 'link-rights' });
  private readonly lasting = element('select', { id: 'link-lasting' });
  private readonly label = element('input', { type: 'text', id: 'link-label', maxLength: 40, placeholder: 'For whom', autocomplete: 'off' });

  constructor(
    root: HTMLElement,
    private readonly actions: LinkActions,
  ) {
    for (const rights of ['hand', 'watch', 'own'] as const) this.rights.append(element('option', { value: rights }, kRights[rights]));
    for (const [text, minutes] of kLasting) this.lasting.append(element('option', { value: String(minutes) }, text));
    this.rights.setAttribute('aria-label', 'What who comes by it may do');
    this.lasting.setAttribute('aria-label', 'How long it lasts');
    this.label.setAttribute('aria-label', 'For whom it is');
    const form = element('form', {}, element('div', { className: 'row' }, this.label, element('button', { type: 'submit', id: 'link-add' }, 'Make a link')));
    form.append(element('div', { className: 'row' }, this.rights, this.lasting));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.attempt(async () => {
        const token = await actions.add(this.rights.value, this.label.value.trim(), Number(this.lasting.value));
        this.label.value = '';
        await this.copy(token); // an owner's link is not told again
      });
    });
    this.group.append(element('h2', {}, 'Links'), this.note, this.items, form);
    root.append(this.group);
  }

  allow(features: string[]): void {
    this.group.hidden = !features.includes('links');
    if (!this.group.hidden) void this.attempt(() => Promise.resolve());
  }

  // Does it, and shows what there is then.
  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.show(await this.actions.list());
    } catch (error) {
      this.actions.tell(error instanceof Error ? error.message : String(error), 'error');
    }
  }

  private show({ links, origins }: LinkList): void {
    this.base = origins[0] ?? location.origin;
    this.note.textContent =
      origins.length > 0
        ? 'Whoever has a link can come by it from another machine.'
        : 'Links work at this machine only: the server was not started with --listen.';
    this.items.replaceChildren(...links.filter((link) => link.state === 'open').map((link) => this.item(link)));
  }

  private item(link: LinkInfo): HTMLLIElement {
    const end = link.expires === null ? 'until the server ends' : `until ${format.time(link.expires)}`;
    const pages = link.pages === 1 ? 'one page' : `${link.pages} pages`;
    const row = element('div', { className: 'row' });
    if (link.token) row.append(button('Copy', `Copy the link for ${link.label || 'somebody'}`, () => void this.copy(link.token)));
    if (!link.yours) row.append(button('Revoke', `Revoke the link for ${link.label || 'somebody'}`, () => void this.attempt(() => this.actions.revoke(link.id))));
    const item = element(
      'li',
      {},
      element('strong', {}, link.label || 'Link'),
      element('small', {}, `${kRights[link.rights]} · ${end} · ${pages}${link.yours ? ' · you came by it' : ''}`),
      row,
    );
    item.dataset.link = link.id;
    return item;
  }

  private async copy(token: string): Promise<void> {
    const address = `${this.base}/#token=${token}`;
    const done = await this.actions.copy(address);
    this.actions.tell(done ? 'Copied. Give it to one person only.' : `Copy it yourself: ${address}`, 'info');
  }
}
