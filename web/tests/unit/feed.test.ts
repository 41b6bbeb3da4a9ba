import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { backOff, Feed, pauseAfter, type Socket } from '../../src/feed';
import type { Message } from '../../src/messages';
import { encodeInput } from '../../src/protocol';

class FakeSocket implements Socket {
  binaryType = '';
  readyState = 1;
  bufferedAmount = 0;
  onopen: Socket['onopen'] = null;
  onmessage: Socket['onmessage'] = null;
  onclose: Socket['onclose'] = null;
  onerror: Socket['onerror'] = null;
  sent: (string | ArrayBuffer)[] = [];

  send(data: string | ArrayBuffer): void {
    this.sent.push(data);
  }
  close(code = 1000, reason = ''): void {
    this.onclose?.({ code, reason });
  }
  receive(data: unknown): void {
    this.onmessage?.({ data });
  }
  hello(): void {
    this.receive('{"type":"hello","protocol":2}');
  }
}

// The smallest state frame that the specification allows: a head and a clock of 52 bytes.
function stateFrame(sequence: number): ArrayBuffer {
  const buffer = new ArrayBuffer(16 + 8 + 52);
  const view = new DataView(buffer);
  view.setUint32(0, 0x01025443, true);
  view.setUint32(4, 76, true);
  view.setUint32(8, sequence, true);
  view.setUint16(16, 1, true);
  view.setUint16(18, 52, true);
  view.setUint32(20, 1, true);
  return buffer;
}

const sockets: FakeSocket[] = [];
const links: string[] = [];
let messages: Message[] = [];
let refusal = '';

function makeFeed(): Feed {
  return new Feed({
    open: () => {
      sockets.push(new FakeSocket());
      return sockets[sockets.length - 1]!;
    },
    refusal: () => Promise.resolve(refusal),
    random: () => 0,
    name: () => 'Ann',
    events: {
      link: (link) => links.push(link),
      message: (message) => messages.push(message),
      frame: () => {},
      near: () => {},
    },
  });
}

beforeEach(() => {
  vi.useFakeTimers();
  sockets.length = 0;
  links.length = 0;
  messages = [];
  refusal = '';
});
afterEach(() => {
  vi.useRealTimers();
});

describe('Waiting before a reconnect', () => {
  it('doubles from a quarter of a second to five seconds', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 100].map((attempt) => backOff(attempt, 0))).toEqual([0.25, 0.5, 1, 2, 4, 5, 5, 5]);
  });

  it('is shortened at random by a quarter at most', () => {
    expect(backOff(2, 0.999)).toBeGreaterThan(0.75);
    expect(backOff(2, 0.999)).toBeLessThan(0.76);
  });

  it('is long after the server said that the page misbehaved', () => {
    expect([4000, 4001, 4002, 4004, 1009].map(pauseAfter)).toEqual([10, 10, 10, 10, 10]);
    expect([1001, 1006, 4003].map(pauseAfter)).toEqual([0, 0, 0]);
  });
});

describe('The feed', () => {
  it('reconnects by itself, later each time, and at once again after a hello', () => {
    makeFeed().connect();
    sockets[0]!.close(1006);
    vi.advanceTimersByTime(249);
    expect(sockets.length).toBe(1);
    vi.advanceTimersByTime(2);
    expect(sockets.length).toBe(2);
    sockets[1]!.close(1006);
    vi.advanceTimersByTime(499);
    expect(sockets.length).toBe(2);
    vi.advanceTimersByTime(2);
    expect(sockets.length).toBe(3);
    sockets[2]!.hello();
    sockets[2]!.close(1001);
    vi.advanceTimersByTime(251);
    expect(sockets.length).toBe(4);
  });

  it('waits ten seconds after it was closed for a flood', () => {
    makeFeed().connect();
    sockets[0]!.hello();
    sockets[0]!.close(4001, 'Too many messages.');
    vi.advanceTimersByTime(9_999);
    expect(sockets.length).toBe(1);
    vi.advanceTimersByTime(2);
    expect(sockets.length).toBe(2);
  });

  it('says when the server refuses this page, and still tries again', async () => {
    refusal = 'Wrong token.';
    const feed = makeFeed();
    feed.connect();
    sockets[0]!.close(1006);
    await Promise.resolve();
    await Promise.resolve();
    expect(feed.link).toBe('refused');
    vi.advanceTimersByTime(300);
    expect(sockets.length).toBe(2);
    sockets[1]!.hello();
    expect(feed.link).toBe('open');
  });

  it('does not come back by a link that was revoked', () => {
    const feed = makeFeed();
    feed.connect();
    sockets[0]!.hello();
    sockets[0]!.close(4005, 'This link was revoked.');
    expect(feed.link).toBe('refused');
    vi.advanceTimersByTime(60_000);
    expect(sockets.length).toBe(1);
  });

  it('speaks first, and says its version and who it is', () => {
    makeFeed().connect();
    expect(sockets[0]!.sent).toEqual([]);
    sockets[0]!.onopen!();
    expect(sockets[0]!.sent.map((text) => JSON.parse(text as string))).toEqual([
      { type: 'hello', protocol: 2, features: [], name: 'Ann' },
    ]);
  });

  it('ignores binary messages of a type that it does not know', () => {
    const feed = makeFeed();
    feed.connect();
    const later = stateFrame(1);
    new DataView(later).setUint8(3, 77);
    sockets[0]!.receive(later);
    expect(feed.garbage).toBe(0);
    expect(feed.frames).toBe(0);
  });

  it('keeps only the newest frame', () => {
    const feed = makeFeed();
    feed.connect();
    for (const sequence of [1, 2, 3]) sockets[0]!.receive(stateFrame(sequence));
    expect(feed.latest?.sequence).toBe(3);
    expect(feed.frames).toBe(3);
  });

  it('forgets the frame when the connection is gone', () => {
    const feed = makeFeed();
    feed.connect();
    sockets[0]!.receive(stateFrame(1));
    sockets[0]!.close(1006);
    expect(feed.latest).toBeNull();
  });

  it('counts garbage and goes on', () => {
    const feed = makeFeed();
    feed.connect();
    sockets[0]!.receive(new ArrayBuffer(3));
    sockets[0]!.receive('not json');
    sockets[0]!.receive(stateFrame(4));
    expect(feed.garbage).toBe(2);
    expect(feed.latest?.sequence).toBe(4);
  });

  it('numbers inputs from one on and drops them while the line is full', () => {
    const feed = makeFeed();
    const input = { generation: 1, hand: 0, buttons: 0, pose: { position: [0, 0, 0], rotation: [1, 0, 0, 0] } } as const;
    const send = () => feed.sendInput({ ...input, pose: { position: [0, 0, 0], rotation: [1, 0, 0, 0] } });
    expect(send()).toBe(0);
    feed.connect();
    expect(send()).toBe(1);
    sockets[0]!.bufferedAmount = 1e6;
    expect(send()).toBe(0);
    sockets[0]!.bufferedAmount = 0;
    expect(send()).toBe(2);
    expect(sockets[0]!.sent[1]).toEqual(
      encodeInput({ ...input, sequence: 2, pose: { position: [0, 0, 0], rotation: [1, 0, 0, 0] } }),
    );
  });

  it('reconnects when nothing was heard for ten seconds, though nobody closed', () => {
    const feed = makeFeed();
    feed.connect();
    sockets[0]!.hello();
    // A network that is gone does not answer to a goodbye either.
    sockets[0]!.close = vi.fn();
    for (let i = 0; i < 30; ++i) {
      sockets[0]!.receive(stateFrame(i));
      vi.advanceTimersByTime(1000);
    }
    expect(feed.link).toBe('open');
    vi.advanceTimersByTime(8_000);
    expect(feed.link).toBe('open');
    vi.advanceTimersByTime(2_500);
    expect(sockets[0]!.close).toHaveBeenCalled();
    expect(sockets.length).toBe(2);
    expect(links.slice(-2)).toEqual(['waiting', 'connecting']);
    sockets[0]!.receive(stateFrame(99));
    expect(feed.latest).toBeNull();
  });

  it('does not take a page that was frozen for a server that is gone', () => {
    const feed = makeFeed();
    feed.connect();
    sockets[0]!.hello();
    vi.setSystemTime(Date.now() + 3_600_000); // asleep: the clock went on, timers did not
    vi.advanceTimersByTime(2_000);
    expect(feed.link).toBe('open');
  });

  it('waits longer for a server that has not answered yet', () => {
    const feed = makeFeed();
    feed.connect();
    vi.advanceTimersByTime(60_000);
    expect(sockets.length).toBe(1);
  });

  it('does not keep commands for later', () => {
    const feed = makeFeed();
    feed.connect();
    expect(feed.send({ type: 'reset' })).toBe(false);
    sockets[0]!.hello();
    expect(feed.send({ type: 'reset' })).toBe(true);
    expect(sockets[0]!.sent).toEqual(['{"type":"reset"}']);
  });

  it('stays closed once closed', () => {
    const feed = makeFeed();
    feed.connect();
    feed.close();
    vi.advanceTimersByTime(60_000);
    expect(sockets.length).toBe(1);
  });
});
