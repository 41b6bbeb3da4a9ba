// Who is in the session, and how well each of them can be reached.
import { element } from '../../dom';
import * as format from '../../format';
import type { Peer, Peers } from '../../share-messages';
import type { Together } from '../../together';

const short = (milliseconds: number) => (milliseconds < 9.95 ? milliseconds.toFixed(1) : Math.round(milliseconds).toString());

// Round trip, loss and clock: "117 ± 3.2 ms · 1 % lost · 4 ms behind", as far as they are known; '' for the program itself.
export function reachText(peer: Peer): string {
  if (peer.self) return '';
  const known = Number.isFinite;
  const pieces: string[] = [];
  if (known(peer.latency)) {
    const spread = known(peer.jitter) ? ` ± ${short(peer.jitter)}` : '';
    pieces.push(`${short(peer.latency)}${spread} ms`);
  }
  if (known(peer.loss)) pieces.push(`${Number((100 * peer.loss).toFixed(1))} % lost`);
  if (known(peer.lead)) {
    const size = Math.round(Math.abs(peer.lead));
    pieces.push(size === 0 ? 'in step' : `${size} ms ${peer.lead > 0 ? 'ahead' : 'behind'}`);
  }
  return pieces.join(' · ');
}

// What is wrong with a peer, or ''.
export function troubleText(peer: Peer, silentFor: number, waitedFor: boolean): string {
  const waits = waitedFor ? 'the world waits for them' : '';
  if (peer.state === 'leaving') return 'leaving';
  if (peer.state === 'silent') return [`silent for ${Math.max(1, Math.floor(silentFor))} s`, waits].filter(Boolean).join(', ');
  return waits;
}

export function tagsOf(peer: Peer): string[] {
  return [
    ...(peer.self ? ['you'] : []),
    ...(peer.observer ? ['observer'] : []),
    ...(peer.peer === 0 ? ['host'] : []),
    ...(peer.path === 'relayed' ? ['relayed'] : peer.path === 'direct' && !peer.self ? ['direct'] : []),
  ];
}

class Row {
  readonly root: HTMLElement;
  private readonly name = element('strong', {});
  private readonly tags = element('span', { className: 'tags' });
  private readonly reach = element('small', {});
  private readonly trouble = element('small', { className: 'trouble' });

  constructor() {
    this.root = element('li', {}, element('div', {}, this.name, this.tags), this.reach, this.trouble);
  }

  show(peer: Peer, trouble: string): void {
    this.root.style.setProperty('--person', peer.color);
    this.root.dataset.state = peer.state;
    set(this.name, peer.name);
    set(this.reach, reachText(peer));
    set(this.trouble, trouble);
    const tags = tagsOf(peer);
    if (this.tags.textContent !== tags.join('')) this.tags.replaceChildren(...tags.map((tag) => element('i', {}, tag)));
  }
}

export class PeerList {
  readonly root: HTMLElement;
  private readonly list = element('ul', { className: 'peers', id: 'peers' });
  private readonly traffic = element('p', { className: 'note', id: 'traffic' });
  private readonly keys = element('details', { className: 'fold', id: 'keys' });
  private readonly keyList = element('dl', {});
  private readonly rows = new Map<number, Row>();

  constructor(private readonly together: Together) {
    this.list.setAttribute('aria-label', 'Who is in the session');
    this.keys.append(
      element('summary', {}, 'Keys'),
      element('p', { className: 'note' }, 'Read them to each other: if they are the same at both ends, nobody is in between.'),
      this.keyList,
    );
    this.root = element('div', { className: 'group' }, element('h2', {}, 'Who is here', element('small', {}, 'round trip · loss · clock')), this.list, this.traffic, this.keys);
  }

  show(): void {
    const { peers } = this.together;
    const entries = peers?.peers ?? [];
    for (const [number, row] of this.rows) {
      if (entries.some((peer) => peer.peer === number)) continue;
      row.root.remove();
      this.rows.delete(number);
    }
    for (const peer of entries) {
      const row = this.rows.get(peer.peer) ?? this.add(peer.peer);
      const waitedFor = peers!.waitingFor.includes(peer.peer);
      row.show(peer, troubleText(peer, this.together.silentFor(peer.peer), waitedFor));
    }
    set(this.traffic, peers ? trafficText(peers) : 'Nothing was heard of the others yet.');
    this.showKeys(entries.filter((peer) => peer.fingerprint));
  }

  private add(number: number): Row {
    const row = new Row();
    this.rows.set(number, row);
    this.list.append(row.root);
    return row;
  }

  private showKeys(peers: Peer[]): void {
    this.keys.hidden = peers.length === 0;
    const text = peers.map((peer) => peer.name + peer.fingerprint).join('');
    if (this.keyList.textContent === text) return;
    this.keyList.replaceChildren(
      ...peers.flatMap((peer) => [element('dt', {}, peer.name), element('dd', { className: 'mono' }, peer.fingerprint)]),
    );
  }
}

// What goes over the wire, and how far behind the newest tick the one lies that all agree on, or all of this part.
export function trafficText(peers: Peers): string {
  const rate = (value: number) => `${format.bytes(Math.round(value))}/s`;
  const behind = Math.max(0, peers.tick - peers.agreed);
  const agreed = `up to ${behind} ${behind === 1 ? 'tick' : 'ticks'} ago`;
  const who = peers.branch ? `all here agree ${agreed}, apart from most of the session` : `all agree ${agreed}`;
  return `${rate(peers.bytesIn)} in, ${rate(peers.bytesOut)} out · ${who}`;
}

function set(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text;
  target.hidden = text === '';
}
