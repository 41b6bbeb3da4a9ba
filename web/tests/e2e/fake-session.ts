// A session with peers that are not there, for tests of the page alone: what a real server would say about it is said on the way, and
// what the page asks for is kept.
import type { Page, WebSocketRoute } from '@playwright/test';

export interface Wish {
  type: string;
  [member: string]: unknown;
}

const kOwn = new Set(['share_start', 'share_join', 'share_leave', 'network', 'synchronise', 'chat', 'mark', 'remove_mark']);
const kSaid = new Set(['share', 'peers', 'network', 'chat', 'mark', 'unmark']);

export const kInvite = `cotouch:${'AbCd_-12'.repeat(14)}`;

export const kProfiles = ['lan', 'network-1', 'network-2', 'network-3', 'transatlantic', 'awful'];

export const share = (members: object) => ({ type: 'share', state: 'off', invite: '', session: '', stage: '', progress: 0, reason: '', ...members });

export const peer = (members: object) => ({
  peer: 0,
  participant: 0,
  name: 'Ben',
  color: '#2f9e44',
  self: false,
  observer: false,
  latency_ms: 117.4,
  jitter_ms: 3.2,
  loss: 0.012,
  lead_ms: -4,
  path: 'direct',
  state: 'present',
  fingerprint: '1f6a 03bd 77e2 9c40 5b0e 8d11 c2f7 e3a9',
  ...members,
});

export const peers = (members: object) => ({
  type: 'peers',
  tick: 4120,
  agreed: 4108,
  branch: false,
  window: 128,
  synchronised: true,
  waiting_for: [],
  rollback_ticks: 12,
  bytes_in: 6210,
  bytes_out: 5880,
  divergence_mm: 0.05,
  divergence_deg: 0.02,
  peers: [peer({ peer: 0, self: true, path: 'self' })],
  ...members,
});

export const network = (members: object = {}) => ({
  type: 'network',
  profile: 'lan',
  profiles: kProfiles,
  delay_ms: 0,
  jitter_ms: 0,
  loss: 0,
  synchronised: true,
  ...members,
});

export class FakeSession {
  readonly asked: Wish[] = [];
  private socket: WebSocketRoute | null = null;

  // What is said after the page's hello, again after each reconnect.
  constructor(private readonly first: object[] = [share({}), network()]) {}

  async attach(page: Page): Promise<void> {
    await page.routeWebSocket(/\/feed/, (socket) => {
      this.socket = socket;
      const real = socket.connectToServer();
      socket.onMessage((message) => {
        const wish = typeof message === 'string' ? (JSON.parse(message) as Wish) : null;
        // Frames take the way through the test too; at full rate a busy machine would fall behind.
        if (wish?.type === 'view') return real.send(JSON.stringify({ ...wish, near: false, fps: 10 }));
        if (!wish || !kOwn.has(wish.type)) return real.send(message);
        this.asked.push(wish);
        this.say({ type: 'reply', id: wish.id, ok: true, reason: '' });
      });
      real.onMessage((message) => {
        if (typeof message !== 'string') return socket.send(message);
        const json = JSON.parse(message) as Wish & { features?: string[] };
        if (kSaid.has(json.type)) return;
        if (json.features && !json.features.includes('share')) json.features.push('share');
        socket.send(JSON.stringify(json));
        if (json.type === 'hello') for (const next of this.first) this.say(next);
      });
    });
  }

  say(message: object): void {
    this.socket?.send(JSON.stringify(message));
  }
}
