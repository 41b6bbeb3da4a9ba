// The connection to the server: connects, decodes, keeps the latest frame, reconnects by itself.
//
// Latest value wins: frames are decoded as they arrive, and whoever draws asks for the newest one. Text messages are
// rare and each is handed on.
import { parseMessage, type Command, type Message } from './messages';
import { decodeFrame, encodeInput, kVersion, type HandInput, type NearFrame, type StateFrame } from './protocol';

export type Link = 'connecting' | 'open' | 'waiting' | 'refused';

// Waiting time before the n-th attempt in a row (n = 0 after the first failure), seconds. `random` is in [0, 1): many pages
// waiting for the same server should not all come back in the same instant.
export function backOff(attempt: number, random: number): number {
  const full = Math.min(5, 0.25 * 2 ** Math.min(attempt, 10));
  return full * (1 - 0.25 * random);
}

// Codes after which coming back at once would only repeat what went wrong (see "Closing" in the specification).
export function pauseAfter(code: number): number {
  return code === 1009 || code === 4000 || code === 4001 || code === 4002 || code === 4004 ? 10 : 0;
}

// The link by which this page came was revoked or has expired: there is no coming back by it.
const kLinkEnded = 4005;

// What the feed needs of a WebSocket; tests give it a fake one.
export interface Socket {
  binaryType: string;
  readyState: number;
  bufferedAmount: number;
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  onerror: (() => void) | null;
  send(data: string | ArrayBuffer): void;
  close(code?: number, reason?: string): void;
}

export interface FeedEvents {
  link(link: Link, reason: string): void;
  message(message: Message): void;
  frame(frame: StateFrame): void;
  near(frame: NearFrame): void;
}

export interface FeedSettings {
  open: () => Socket;
  // Asked after a connection that never opened: the reason why it cannot, or '' when only the network is in the way.
  refusal: () => Promise<string>;
  random?: () => number;
  name?: () => string; // what others shall call the user; asked at every connection
  events: FeedEvents;
}

const kOpen = 1; // WebSocket.OPEN
const kUnreachable = 1006; // what a browser says when a connection broke without a goodbye
const kWatchEvery = 1000; // milliseconds
const kSilentWatches = 10; // in a row, with nothing heard between them
const kMaxBuffered = 64 * 1024; // an input that would queue behind this much is stale before it leaves

export class Feed {
  latest: StateFrame | null = null;
  link: Link = 'connecting';
  frames = 0;
  garbage = 0;

  private socket: Socket | null = null;
  private attempt = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private closed = false;
  private inputSequence = 0;
  private silentWatches = 0;

  constructor(private readonly settings: FeedSettings) {
    setInterval(() => this.watch(), kWatchEvery);
  }

  connect(): void {
    clearTimeout(this.timer);
    if (this.closed || this.socket) return;
    this.setLink('connecting', '');
    const socket = this.settings.open();
    this.socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => this.greet();
    socket.onmessage = (event) => this.receive(event.data);
    socket.onerror = () => {}; // a close event always follows, and it knows more
    socket.onclose = (event) => this.lost(event.code, event.reason);
  }

  // The page speaks first: which version it speaks, what it can do beyond that, and who it is. Later again, if the name
  // has changed.
  greet(): void {
    if (this.socket?.readyState !== kOpen) return;
    const hello: Command = { type: 'hello', protocol: kVersion, features: [], name: this.settings.name?.() ?? '' };
    this.socket.send(JSON.stringify(hello));
  }

  // For good: no reconnect.
  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.socket?.close(1000);
  }

  // Returns false when there is no connection; commands are not kept for later, because the world has moved on by then.
  send(command: Command): boolean {
    if (!this.socket || this.socket.readyState !== kOpen || this.link !== 'open') return false;
    this.socket.send(JSON.stringify(command));
    return true;
  }

  // Returns the sequence it was sent with, or 0 when it was not sent.
  sendInput(input: Omit<HandInput, 'sequence'>): number {
    const socket = this.socket;
    if (!socket || socket.readyState !== kOpen || socket.bufferedAmount > kMaxBuffered) return 0;
    this.inputSequence = (this.inputSequence + 1) >>> 0 || 1;
    socket.send(encodeInput({ ...input, sequence: this.inputSequence }));
    return this.inputSequence;
  }

  // Frames always flow while the link is open, so a server that says nothing is out of reach, though TCP may take minutes
  // to notice (sleep, another Wi-Fi). Watches are counted and no clock is read: a page that the browser froze or slowed
  // down has not listened, which says nothing about the server.
  private watch(): void {
    if (this.link !== 'open' || ++this.silentWatches < kSilentWatches || !this.socket) return;
    const dead = this.socket;
    dead.onopen = dead.onmessage = dead.onclose = null; // its own close event would come once the network is back
    dead.close();
    this.lost(kUnreachable, '');
  }

  private receive(data: unknown): void {
    this.silentWatches = 0;
    if (typeof data === 'string') {
      const message = parseMessage(data);
      if (!message.ok) {
        ++this.garbage;
        return;
      }
      if (message.value.type === 'hello') {
        this.attempt = 0;
        this.setLink('open', '');
      }
      this.settings.events.message(message.value);
      return;
    }
    if (!(data instanceof ArrayBuffer)) return;
    const frame = decodeFrame(data);
    if (!frame.ok) {
      ++this.garbage;
      return;
    }
    if (frame.value.kind === 'state') {
      ++this.frames;
      this.latest = frame.value;
      this.settings.events.frame(frame.value);
    } else if (frame.value.kind === 'near') {
      this.settings.events.near(frame.value);
    }
  }

  private lost(code: number, reason: string): void {
    const wasOpen = this.link === 'open';
    this.socket = null;
    this.latest = null;
    if (this.closed) return;
    if (code === kLinkEnded) {
      this.closed = true;
      return this.setLink('refused', reason);
    }
    this.setLink('waiting', reason);
    const random = this.settings.random ?? Math.random;
    const wait = Math.max(pauseAfter(code), backOff(this.attempt++, random()));
    this.timer = setTimeout(() => this.connect(), wait * 1000);
    if (!wasOpen) {
      void this.settings.refusal().then((refusal) => {
        if (refusal && !this.socket && !this.closed) this.setLink('refused', refusal);
      });
    }
  }

  private setLink(link: Link, reason: string): void {
    // While a refusal stands, each new attempt would only make the message flicker.
    if (link === 'connecting' && this.link === 'refused') return;
    if (link === 'waiting' && this.link === 'refused' && !reason) return;
    this.link = link;
    this.settings.events.link(link, reason);
  }
}
