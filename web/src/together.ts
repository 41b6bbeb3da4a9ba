// The session that this page's server shares with others: who is in it, the network between them, chat and marks. It listens to
// the server's messages and turns what the user asks for into commands. As in the shared world, what holds is what the
// server says.
import { readInvite } from './invite';
import type { Message } from './messages';
import type { Vec3 } from './protocol';
import type { ChatLine, Mark, Network, NetworkChange, Peer, Peers, Share, ShareCommand } from './share-messages';

export type Topic = 'share' | 'peers' | 'network' | 'chat' | 'marks';

// A line of the chat, or a piece of news among them (then without a name).
export interface Line extends ChatLine {
  news: boolean;
}

export interface Sample {
  time: number; // seconds, of this page's clock
  millimetres: number;
  degrees: number;
  rollback: number; // ticks
}

export const kHistory = 60; // seconds of samples kept
const kMostLines = 200;
const kMostBytes = 500; // of a line of chat, as UTF-8

const kOff: Share = { state: 'off', invite: '', session: '', stage: '', progress: 0, reason: '' };

export class Together {
  can = false; // the server can share
  share = kOff;
  reachable = true; // the server, as far as the page knows
  peers: Peers | null = null;
  network: Network | null = null;
  lines: Line[] = [];
  unread = 0;
  reading = false; // the chat can be seen
  samples: Sample[] = [];
  readonly marks = new Map<number, Mark>();
  private readonly silentSince = new Map<number, number>();

  constructor(
    private readonly send: (command: ShareCommand) => void,
    private readonly changed: (topic: Topic) => void,
    private readonly now: () => number = () => performance.now() / 1000,
  ) {}

  // The others can be reached, or could a moment ago.
  get shared(): boolean {
    return ['hosting', 'joined', 'cut_off'].includes(this.share.state);
  }

  get busy(): boolean {
    return this.share.state === 'starting' || this.share.state === 'joining';
  }

  // Why the scene cannot be opened, changed or replaced now; '' if it can.
  get holdsScene(): string {
    if (!this.can || this.share.state === 'off' || this.share.state === 'failed') return '';
    return 'The scene is shared and stays as it is; leave the session to change it.';
  }

  get others(): Peer[] {
    return this.peers?.peers.filter((peer) => !peer.self) ?? [];
  }

  received(message: Message): void {
    switch (message.type) {
      case 'hello':
        this.can = message.features.includes('share');
        this.reachable = true;
        // The server says again what there is. Chat stays: it comes again only as far as it was kept.
        this.marks.clear();
        this.changed('marks');
        this.changed('share');
        break;
      case 'share':
        this.setShare(message.share);
        break;
      case 'peers':
        this.setPeers(message.peers);
        break;
      case 'network':
        this.network = message.network;
        this.changed('network');
        break;
      case 'chat':
        this.addLine(message.line);
        break;
      case 'mark':
        this.marks.set(message.mark.mark, message.mark);
        this.changed('marks');
        break;
      case 'unmark':
        if (this.marks.delete(message.mark)) this.changed('marks');
        break;
      default:
        break;
    }
  }

  // ---- what the user asks for ----

  start(name: string): void {
    this.send({ type: 'share_start', name });
  }

  // What is wrong with the invitation, or '' if it was sent.
  join(pasted: string, name: string): string {
    const { invite, wrong } = readInvite(pasted);
    if (!wrong) this.send({ type: 'share_join', invite, name });
    return wrong;
  }

  leave(): void {
    this.send({ type: 'share_leave' });
  }

  tryNetwork(change: NetworkChange): void {
    this.send({ type: 'network', ...change });
  }

  synchronise(on: boolean): void {
    this.send({ type: 'synchronise', on });
  }

  // What is wrong with the line, or '' if it was sent or there was nothing to send.
  say(typed: string): string {
    const text = typed.trim();
    if (!text) return '';
    const over = new TextEncoder().encode(text).length - kMostBytes;
    if (over > 0) return `This is ${over} ${over === 1 ? 'byte' : 'bytes'} too long. Send it in two pieces.`;
    this.send({ type: 'chat', text });
    return '';
  }

  // The point is in the body's frame.
  mark(body: number, point: Vec3): void {
    this.send({ type: 'mark', body, point });
  }

  removeMark(mark: number): void {
    this.send({ type: 'remove_mark', mark });
  }

  // The chat can be seen from now on, or no longer.
  read(reading: boolean): void {
    if (reading === this.reading) return;
    this.reading = reading;
    if (reading) this.unread = 0;
    this.changed('chat');
  }

  // ---- what can be said about it ----

  // Seconds that nothing was heard of a peer; 0 while it is heard.
  silentFor(peer: number): number {
    const since = this.silentSince.get(peer);
    return since === undefined ? 0 : this.now() - since;
  }

  // What everybody should know who looks at the picture: the world stands still, and why. '' while it goes on.
  get notice(): string {
    if (this.share.state === 'cut_off') {
      const why = this.share.reason || 'None of the others is heard.';
      return `Cut off. ${why} The world goes on as soon as they are heard again.`;
    }
    const waiting = this.shared ? (this.peers?.waitingFor ?? []) : [];
    if (waiting.length === 0) return '';
    const names = waiting.flatMap((number) => {
      const peer = this.peers?.peers.find((entry) => entry.peer === number);
      return peer?.self ? [] : [peer?.name ?? `peer ${number}`];
    });
    if (names.length === 0) return 'The others are waiting for this computer.';
    return `Waiting for ${listed(names)}; the world goes on as soon as they are heard again.`;
  }

  // The server is out of reach: what it said of the others is no longer true.
  disconnected(): void {
    this.reachable = false;
    this.peers = null;
    this.silentSince.clear();
    this.changed('peers');
  }

  private setShare(share: Share): void {
    const before = this.share;
    this.share = share;
    const another = share.session !== '' && before.session !== '' && share.session !== before.session;
    if (share.state === 'off' || share.state === 'failed' || another) this.forget();
    this.changed('share');
  }

  private setPeers(peers: Peers): void {
    const before = this.peers;
    const first = before === null;
    this.peers = peers;
    const now = this.now();
    for (const peer of peers.peers) {
      if (peer.state !== 'silent') this.silentSince.delete(peer.peer);
      else if (!this.silentSince.has(peer.peer)) this.silentSince.set(peer.peer, now);
    }
    this.samples.push({ time: now, millimetres: peers.divergenceMm, degrees: peers.divergenceDeg, rollback: peers.rollbackTicks });
    const old = this.samples.findIndex((sample) => sample.time >= now - kHistory);
    if (old > 0) this.samples.splice(0, old);
    if (!first) this.tellWhoCameAndWent(before.peers, peers.peers);
    this.changed('peers');
  }

  private tellWhoCameAndWent(before: Peer[], after: Peer[]): void {
    const key = (peer: Peer) => `${peer.peer} ${peer.fingerprint}`;
    const missing = (from: Peer[], those: Peer[]) => from.filter((peer) => !those.some((other) => key(other) === key(peer)));
    for (const peer of missing(after, before)) this.addNews(`${peer.name} is here.`);
    for (const peer of missing(before, after)) this.addNews(`${peer.name} has left.`);
  }

  private addNews(text: string): void {
    this.push({ name: '', color: '', text, time: this.lines.at(-1)?.time ?? 0, news: true });
    this.changed('chat');
  }

  private addLine(line: ChatLine): void {
    // After a reconnect the server repeats what this page may know already.
    const known = this.lines.some((old) => !old.news && old.time === line.time && old.text === line.text && old.name === line.name);
    if (known) return;
    this.push({ ...line, news: false });
    if (!this.reading) ++this.unread;
    this.changed('chat');
  }

  private push(line: Line): void {
    this.lines.push(line);
    if (this.lines.length > kMostLines) this.lines.shift();
  }

  private forget(): void {
    this.peers = null;
    this.lines = [];
    this.unread = 0;
    this.samples = [];
    this.silentSince.clear();
    this.marks.clear();
    this.changed('peers');
    this.changed('chat');
    this.changed('marks');
  }
}

// Anna; Anna and Ben; Anna, Ben and Carl.
export function listed(names: string[]): string {
  if (names.length < 2) return names[0] ?? '';
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
