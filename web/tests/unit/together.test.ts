// A shared session over a fake feed: messages of the server go in, commands come out.
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { joinOf, readInvite } from '../../src/invite';
import { parseMessage } from '../../src/messages';
import { kHistory, listed, Together, type Topic } from '../../src/together';
import { fakeFeed, type FakeSocket } from './fake-feed';

const kInvite = `cotouch:${'AbCd_-12'.repeat(12)}`;

let socket: FakeSocket;
let together: Together;
let topics: Topic[];
let now: number;

const peer = (members: object) => ({ peer: 0, name: 'Ben', color: '#1971c2', state: 'present', ...members });
const me = peer({ peer: 0, self: true, path: 'self' });
const anna = peer({ peer: 1, name: 'Anna', fingerprint: '1f6a' });
const carl = peer({ peer: 2, name: 'Carl', fingerprint: '77e2' });
const sayPeers = (members: object) => socket.say({ type: 'peers', peers: [me, anna], ...members });
const sayShare = (state: string, members: object = {}) => socket.say({ type: 'share', state, session: 'a3f9', ...members });
const sayChat = (text: string, time: number) => socket.say({ type: 'chat', name: 'Anna', color: '#9c36b5', text, time });

beforeEach(() => {
  vi.useFakeTimers();
  topics = [];
  now = 100;
  const fake = fakeFeed((message) => together.received(message));
  socket = fake.socket;
  together = new Together(
    (command) => void fake.feed.send(command),
    (topic) => topics.push(topic),
    () => now,
  );
  socket.say({ type: 'hello', protocol: 2, participant: 7, features: ['share'] });
  socket.sent = [];
  topics = [];
  return () => vi.useRealTimers();
});

describe('A message about a shared scene', () => {
  const parsed = (json: object) => {
    const message = parseMessage(JSON.stringify(json));
    if (!message.ok) throw new Error(message.error);
    return message.value;
  };

  it('is read with its members', () => {
    const share = { state: 'hosting', invite: kInvite, session: 'a3f9', stage: 'x', progress: 0.5, reason: '' };
    expect(parsed({ type: 'share', ...share })).toEqual({ type: 'share', share });
    const members = { peer: 3, participant: 9, name: 'Anna', color: '#9c36b5', self: false, observer: true, loss: 0.01 };
    const measured = { latency_ms: 117, jitter_ms: 3, lead_ms: -4, path: 'relayed', state: 'silent', fingerprint: '1f6a' };
    expect(
      parsed({
        type: 'peers',
        tick: 20,
        agreed: 12,
        branch: true,
        window: 128,
        synchronised: false,
        waiting_for: [3],
        rollback_ticks: 8,
        bytes_in: 100,
        bytes_out: 200,
        divergence_mm: 0.2,
        divergence_deg: 0.04,
        peers: [{ ...members, ...measured }],
      }),
    ).toEqual({
      type: 'peers',
      peers: {
        tick: 20,
        agreed: 12,
        branch: true,
        window: 128,
        synchronised: false,
        waitingFor: [3],
        rollbackTicks: 8,
        bytesIn: 100,
        bytesOut: 200,
        divergenceMm: 0.2,
        divergenceDeg: 0.04,
        peers: [{ ...members, latency: 117, jitter: 3, lead: -4, path: 'relayed', state: 'silent', fingerprint: '1f6a' }],
      },
    });
    expect(parsed({ type: 'network', profile: 'awful', profiles: ['lan', 'awful'], delay_ms: 400, jitter_ms: 150, loss: 0.3, synchronised: true })).toEqual({
      type: 'network',
      network: { profile: 'awful', profiles: ['lan', 'awful'], delay: 400, jitter: 150, loss: 0.3, synchronised: true },
    });
    expect(parsed({ type: 'mark', mark: 4, body: 2, point: [1, 2, 3], name: 'Anna', color: '#9c36b5' })).toEqual({
      type: 'mark',
      mark: { mark: 4, body: 2, point: [1, 2, 3], name: 'Anna', color: '#9c36b5' },
    });
    expect(parsed({ type: 'unmark', mark: 4 })).toEqual({ type: 'unmark', mark: 4 });
  });

  it('with misshapen members gets harmless ones', () => {
    expect(parsed({ type: 'share', state: 'odd', progress: 9, invite: 7 })).toMatchObject({ share: { state: 'off', progress: 1, invite: '' } });
    expect(parsed({ type: 'peers', peers: [null, { color: 'red', path: 'x', latency_ms: 'y' }], waiting_for: ['a'] })).toMatchObject({
      peers: {
        synchronised: true,
        waitingFor: [-1],
        divergenceMm: NaN,
        peers: [{ name: 'Peer 0' }, { color: '#a9b1b9', path: 'direct', state: 'present', latency: NaN }],
      },
    });
    expect(parsed({ type: 'network', profiles: [1, '', 'lan'], delay_ms: -5, loss: 3 })).toMatchObject({
      network: { profile: 'custom', profiles: ['lan'], delay: 0, loss: 1 },
    });
    expect(parsed({ type: 'people', people: [{ participant: 9, kind: 'peer' }] })).toMatchObject({ people: [{ kind: 'peer' }] });
  });

  it('that says nothing is ignored', () => {
    for (const nothing of [
      { type: 'chat', name: 'Anna' },
      { type: 'chat', text: 7 },
      { type: 'mark', mark: 1, body: 2 },
      { type: 'mark', mark: 1, body: 2, point: [1, 2] },
      { type: 'mark', body: 2, point: [1, 2, 3] },
      { type: 'unmark' },
    ]) {
      expect(parsed(nothing)).toEqual({ type: 'unknown' });
    }
  });
});

describe('An invitation', () => {
  it('is found in whatever was pasted', () => {
    const half = kInvite.length / 2;
    for (const text of [
      kInvite,
      `  ${kInvite}\n`,
      `"${kInvite}"`,
      `cotouch join ${kInvite}`,
      `$ cotouch join ${kInvite} --name Ben`,
      `Join me: <${kInvite}>`,
      `${kInvite.slice(0, half)}\r\n  ${kInvite.slice(half)}`,
      `http://127.0.0.1:7117/#token=abc&join=${kInvite}`,
      `http://127.0.0.1:7117/#token=abc&x=1&join=${encodeURIComponent(kInvite)}`,
    ]) {
      expect(readInvite(text)).toEqual({ invite: kInvite, wrong: '' });
    }
  });

  it('that cannot be one is refused in words', () => {
    const wrong = (text: string) => {
      const read = readInvite(text);
      expect(read.invite).toBe('');
      return read.wrong;
    };
    expect(wrong('  ')).toMatch(/Paste/);
    expect(wrong('hello')).toMatch(/begins with "cotouch:"/);
    expect(wrong('http://127.0.0.1:7117/#token=abc')).toMatch(/address of a page/);
    expect(wrong(kInvite.slice(0, 40))).toMatch(/missing/);
    expect(wrong(`${kInvite}!`)).toMatch(/"!"/);
    expect(wrong(`cotouch:${'A'.repeat(1100)}`)).toMatch(/too long/);
  });

  it('in an address may be missing or misshapen', () => {
    expect(joinOf('#other=1')).toBe('');
    expect(joinOf('')).toBe('');
    expect(joinOf('#join=%E0%A4%A')).toBe('%E0%A4%A');
    expect(joinOf('#join=')).toBe('');
  });
});

describe('A shared session', () => {
  it('is offered only by a server that knows it', () => {
    expect(together.can).toBe(true);
    socket.say({ type: 'hello', protocol: 2, participant: 7, features: ['world'] });
    expect(together.can).toBe(false);
  });

  it('is started, joined and left by asking', () => {
    together.start('Ben');
    expect(together.join(` ${kInvite} `, 'Ben')).toBe('');
    expect(together.join('nonsense', 'Ben')).toMatch(/not an invitation/);
    together.leave();
    expect(socket.sent).toEqual([
      { type: 'share_start', name: 'Ben' },
      { type: 'share_join', invite: kInvite, name: 'Ben' },
      { type: 'share_leave' },
    ]);
    expect(together.shared).toBe(false);
  });

  it('is what the server says it is', () => {
    const seen = ['off', 'starting', 'hosting', 'joining', 'joined', 'cut_off', 'failed'].map((state) => {
      sayShare(state);
      return [together.busy, together.shared];
    });
    const [no, busy, shared] = [[false, false], [true, false], [false, true]];
    expect(seen).toEqual([no, busy, shared, busy, shared, shared, no]);
  });

  it('changes the network and the synchronisation by asking', () => {
    together.tryNetwork({ profile: 'awful' });
    together.tryNetwork({ delay_ms: 120, loss: 0.05 });
    together.synchronise(false);
    expect(socket.sent).toEqual([
      { type: 'network', profile: 'awful' },
      { type: 'network', delay_ms: 120, loss: 0.05 },
      { type: 'synchronise', on: false },
    ]);
    expect(together.network).toBeNull();
    socket.say({ type: 'network', profile: 'custom', delay_ms: 120, synchronised: false });
    expect(together.network).toMatchObject({ profile: 'custom', delay: 120, synchronised: false });
  });

  it('says for whom the world waits', () => {
    sayShare('joined');
    sayPeers({});
    expect(together.notice).toBe('');
    sayPeers({ waiting_for: [1] });
    expect(together.notice).toBe('Waiting for Anna; the world goes on as soon as they are heard again.');
    sayPeers({ peers: [me, anna, carl], waiting_for: [1, 0, 2] });
    expect(together.notice).toMatch(/^Waiting for Anna and Carl;/);
    sayPeers({ waiting_for: [5] });
    expect(together.notice).toMatch(/^Waiting for peer 5;/);
    sayPeers({ waiting_for: [0] });
    expect(together.notice).toMatch(/waiting for this computer/);
    sayShare('cut_off', { reason: 'The cable is out.' });
    expect(together.notice).toBe('Cut off. The cable is out. The world goes on as soon as they are heard again.');
    sayShare('off');
    expect(together.notice).toBe('');
  });

  it('waits for nobody it cannot hear of', () => {
    sayShare('joined');
    sayPeers({ waiting_for: [1] });
    together.disconnected();
    expect(together.notice).toBe('');
  });

  it('counts how long a peer has been silent', () => {
    sayPeers({ peers: [me, { ...anna, state: 'silent' }] });
    now = 104;
    sayPeers({ peers: [me, { ...anna, state: 'silent' }] });
    expect(together.silentFor(1)).toBe(4);
    sayPeers({});
    expect(together.silentFor(1)).toBe(0);
  });

  it('tells who comes and goes, but not who was there before', () => {
    sayPeers({});
    sayPeers({ peers: [me, anna, carl] });
    sayPeers({ peers: [me, carl] });
    expect(together.lines.map((line) => line.text)).toEqual(['Carl is here.', 'Anna has left.']);
    expect(together.lines.every((line) => line.news)).toBe(true);
    expect(together.unread).toBe(0);
  });

  it('keeps a minute of divergence', () => {
    for (now = 0; now <= 100; now += 0.25) sayPeers({ divergence_mm: now, divergence_deg: 0.1, rollback_ticks: 3 });
    expect(together.samples.at(-1)).toEqual({ time: 100, millimetres: 100, degrees: 0.1, rollback: 3 });
    expect(together.samples[0]!.time).toBe(100 - kHistory);
    expect(together.samples.length).toBe(4 * kHistory + 1);
  });

  it('forgets everything once it is over', () => {
    sayShare('joined');
    sayPeers({});
    sayChat('hello', 1);
    socket.say({ type: 'mark', mark: 1, body: 2, point: [0, 0, 0] });
    sayShare('failed', { reason: 'The host closed it.' });
    expect([together.peers, together.lines, together.unread, together.samples, together.marks.size]).toEqual([null, [], 0, [], 0]);
    expect(together.share.reason).toBe('The host closed it.');
  });

  it('forgets the one before when it is another one', () => {
    sayShare('joined');
    sayChat('hello', 1);
    sayShare('joined');
    expect(together.lines.length).toBe(1);
    sayShare('joined', { session: 'bbbb' });
    expect(together.lines).toEqual([]);
  });
});

describe('The chat', () => {
  it('keeps lines in order and counts those that nobody read', () => {
    sayChat('hello', 1);
    sayChat('anybody there?', 2);
    expect(together.lines.map((line) => line.text)).toEqual(['hello', 'anybody there?']);
    expect(together.unread).toBe(2);
    together.read(true);
    expect(together.unread).toBe(0);
    sayChat('well then', 3);
    expect(together.unread).toBe(0);
    together.read(false);
    sayChat('goodbye', 4);
    expect(together.unread).toBe(1);
  });

  it('takes a line once, though the server repeats it after a reconnect', () => {
    sayChat('hello', 1);
    socket.say({ type: 'hello', protocol: 2, participant: 8, features: ['share'] });
    sayChat('hello', 1);
    sayChat('hello', 5);
    expect(together.lines.map((line) => line.time)).toEqual([1, 5]);
  });

  it('keeps the newest two hundred lines', () => {
    for (let i = 0; i < 250; ++i) sayChat(`line ${i}`, i);
    expect(together.lines.length).toBe(200);
    expect(together.lines[0]!.text).toBe('line 50');
  });

  it('sends what is not empty and not too long', () => {
    expect(together.say('   ')).toBe('');
    expect(together.say(' up we go ')).toBe('');
    // Two bytes each in UTF-8.
    expect(together.say('é'.repeat(250))).toBe('');
    expect(together.say('é'.repeat(251))).toMatch(/2 bytes too long/);
    expect(socket.sent).toEqual([
      { type: 'chat', text: 'up we go' },
      { type: 'chat', text: 'é'.repeat(250) },
    ]);
  });
});

describe('Marks', () => {
  const say = (mark: number, members: object = {}) => socket.say({ type: 'mark', mark, body: 2, point: [0, 0, 0.1], name: 'Anna', ...members });

  it('come, change and go as the server says', () => {
    together.mark(2, [0, 0, 0.1]);
    together.removeMark(1);
    expect(socket.sent).toEqual([
      { type: 'mark', body: 2, point: [0, 0, 0.1] },
      { type: 'remove_mark', mark: 1 },
    ]);
    expect(together.marks.size).toBe(0);
    say(1);
    say(2);
    say(1, { body: 3 });
    expect([...together.marks.values()].map(({ mark, body }) => [mark, body])).toEqual([[1, 3], [2, 2]]);
    topics = [];
    socket.say({ type: 'unmark', mark: 1 });
    socket.say({ type: 'unmark', mark: 1 });
    expect([...together.marks.keys()]).toEqual([2]);
    expect(topics).toEqual(['marks']);
  });

  it('are told anew after a reconnect', () => {
    say(1);
    socket.say({ type: 'hello', protocol: 2, participant: 8, features: ['share'] });
    expect(together.marks.size).toBe(0);
  });
});

describe('A list of names', () => {
  it('reads like one', () => {
    expect([listed([]), listed(['Anna']), listed(['Anna', 'Ben']), listed(['Anna', 'Ben', 'Carl'])]).toEqual([
      '',
      'Anna',
      'Anna and Ben',
      'Anna, Ben and Carl',
    ]);
  });
});
