// @vitest-environment happy-dom
// The panel "Together" as it is built: what it shows in each state, and what its controls ask for.
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { TaskStrip } from '../../src/panels/task';
import { columns } from '../../src/panels/together/agreement';
import { qrPath } from '../../src/panels/together/invitation';
import { Paced, profileText } from '../../src/panels/together/network';
import { TogetherPanel } from '../../src/panels/together/panel';
import { reachText, tagsOf, trafficText, troubleText } from '../../src/panels/together/peers';
import { TaskState, type TaskEntry } from '../../src/protocol';
import type { Peer, Peers } from '../../src/share-messages';
import { Together } from '../../src/together';
import { fakeFeed, type FakeSocket } from './fake-feed';

const kInvite = `cotouch:${'AbCd_-12'.repeat(12)}`;
const kPeer: Peer = {
  peer: 1,
  participant: 9,
  name: 'Anna',
  color: '#9c36b5',
  self: false,
  observer: false,
  latency: 117.4,
  jitter: 3.2,
  loss: 0.012,
  lead: -4,
  path: 'direct',
  state: 'present',
  fingerprint: '1f6a 03bd',
};

let socket: FakeSocket;
let together: Together;
let panel: TogetherPanel;
let told: string[];
let marking: number;

const id = <T extends HTMLElement>(name: string) => document.getElementById(name) as T;
const shown = () => ['share-off', 'share-busy', 'share-on'].filter((name) => !id(name).hidden);
const share = (state: string, members: object = {}) => socket.say({ type: 'share', state, session: 'a3f9', ...members });
const type = (name: string, text: string) => {
  id<HTMLInputElement>(name).value = text;
  id(name).dispatchEvent(new Event('input', { bubbles: true }));
};
const submit = (name: string) => id(name).closest('form')!.dispatchEvent(new Event('submit', { cancelable: true }));

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
  document.body.innerHTML = '<section id="together"></section><div id="task-strip"></div>';
  told = [];
  marking = 0;
  const fake = fakeFeed((message) => together.received(message));
  socket = fake.socket;
  together = new Together(
    (command) => void fake.feed.send(command),
    (topic) => panel.show(topic),
  );
  panel = new TogetherPanel(id('together'), together, {
    renamed: () => told.push('renamed'),
    toggleMarking: () => ++marking,
    bodyName: (body) => (body === 2 ? 'box' : ''),
    tell: (text) => told.push(text),
  });
  socket.say({ type: 'hello', protocol: 2, participant: 7, features: ['share'] });
  share('off');
  socket.sent = [];
  return () => vi.useRealTimers();
});

describe('The panel of a scene that is not shared', () => {
  it('shares it under the name that was typed', () => {
    expect(shown()).toEqual(['share-off']);
    type('share-name', '  Ben ');
    id('share-start').click();
    expect(socket.sent).toEqual([{ type: 'share_start', name: 'Ben' }]);
    expect(localStorage.getItem('cotouch.name')).toBe('Ben');
    expect(told).toEqual(['renamed']);
  });

  it('joins with an invitation, and says what is wrong with what is none', () => {
    type('invite', 'nonsense');
    submit('invite');
    expect(id('share-wrong').hidden).toBe(false);
    expect(id('share-wrong').textContent).toMatch(/not an invitation/);
    expect(socket.sent).toEqual([]);
    type('invite', `  cotouch join ${kInvite}\n`);
    expect(id('share-wrong').hidden).toBe(true);
    submit('invite');
    expect(socket.sent).toEqual([{ type: 'share_join', invite: kInvite, name: '' }]);
  });

  it('has the invitation of the address ready, and joins nothing by itself', () => {
    panel.invited(kInvite);
    expect(id<HTMLInputElement>('invite').value).toBe(kInvite);
    expect(socket.sent).toEqual([]);
    submit('invite');
    expect(socket.sent).toMatchObject([{ type: 'share_join', invite: kInvite }]);
  });

  it('says why it is not shared any more', () => {
    share('failed', { reason: 'The invite has expired; ask the host for a new one.' });
    expect(shown()).toEqual(['share-off']);
    expect(id('share-wrong').textContent).toBe('The invite has expired; ask the host for a new one.');
    expect(id('share-wrong').getAttribute('role')).toBe('alert');
    share('failed');
    expect(id('share-wrong').textContent).toMatch(/did not say why/);
  });
});

describe('The panel while a session begins', () => {
  it('shows how far it is, and can give up', () => {
    share('joining', { stage: 'Fetching the scene', progress: 0.25 });
    expect(shown()).toEqual(['share-busy']);
    expect(id('share-stage').textContent).toBe('Fetching the scene');
    expect(document.querySelector('progress')!.value).toBe(0.25);
    id('share-cancel').click();
    expect(socket.sent).toEqual([{ type: 'share_leave' }]);
    share('starting');
    expect(id('share-stage').textContent).toBe('Starting');
  });
});

describe('The panel of a shared scene', () => {
  const sayPeers = (members: object = {}) => {
    const me = { peer: 0, name: 'Ben', self: true, path: 'self' };
    const anna = { peer: 1, name: 'Anna', color: '#9c36b5', latency_ms: 117.4, fingerprint: '1f6a 03bd', ...members };
    socket.say({ type: 'peers', tick: 20, agreed: 8, window: 128, peers: [me, anna] });
  };

  it('gives the host an invitation in three forms', () => {
    share('hosting', { invite: kInvite });
    expect(shown()).toEqual(['share-on']);
    expect(id<HTMLInputElement>('invite-own').value).toBe(kInvite);
    expect(id<HTMLInputElement>('invite-command').value).toBe(`cotouch join ${kInvite}`);
    expect(document.querySelector('.qr path')!.getAttribute('d')).toMatch(/^M4 4h1v1h-1z/); // after a border of four
    expect(id<HTMLDetailsElement>('invitation').open).toBe(true);
    sayPeers();
    expect(id<HTMLDetailsElement>('invitation').open).toBe(false);
    share('joined', { invite: '' });
    expect(id('invitation').hidden).toBe(true);
  });

  it('copies the invitation', async () => {
    share('hosting', { invite: kInvite });
    const copied: string[] = [];
    vi.stubGlobal('navigator', { clipboard: { writeText: (text: string) => Promise.resolve(void copied.push(text)) } });
    document.querySelector<HTMLElement>('[aria-label="Copy the command"]')!.click();
    await vi.waitFor(() => expect(told).toEqual(['Copied.']));
    expect(copied).toEqual([`cotouch join ${kInvite}`]);
    vi.unstubAllGlobals();
  });

  it('lists everybody, and leaves', () => {
    share('joined');
    expect(id('share-status').textContent).toBe('Nobody else is here yet');
    sayPeers();
    expect(id('share-status').textContent).toBe('Together with Anna');
    const rows = [...id('peers').children] as HTMLElement[];
    expect(rows.map((row) => row.querySelector('strong')!.textContent)).toEqual(['Ben', 'Anna']);
    expect(rows[1]!.style.getPropertyValue('--person')).toBe('#9c36b5');
    sayPeers({ state: 'silent' });
    expect(rows[1]!.textContent).toContain('silent for 1 s');
    expect(rows[1]!.dataset.state).toBe('silent');
    expect(id('keys').textContent).toContain('1f6a 03bd');
    socket.say({ type: 'peers', peers: [] });
    expect(id('peers').children.length).toBe(0);
    id('share-leave').click();
    expect(socket.sent).toEqual([{ type: 'share_leave' }]);
  });

  it('does not say that nobody is here when the program is gone', () => {
    share('hosting', { invite: kInvite });
    sayPeers();
    together.disconnected();
    expect(id('share-status').textContent).toBe('The program behind this page does not answer');
    expect(id<HTMLDetailsElement>('invitation').open).toBe(false);
    socket.say({ type: 'hello', protocol: 2, participant: 7, features: ['share'] });
    share('hosting', { invite: kInvite });
    sayPeers();
    expect(id('share-status').textContent).toBe('Together with Anna');
  });

  it('counts ticks in good English', () => {
    const peers = { tick: 9, agreed: 8, window: 128, bytesIn: 0, bytesOut: 0 } as Peers;
    expect(trafficText(peers)).toContain('up to 1 tick ago');
    expect(trafficText({ ...peers, tick: 10 })).toContain('up to 2 ticks ago');
  });

  it('shows what people write as text, whatever it looks like', () => {
    share('joined');
    const text = '<img src=x onerror="alert(1)"> & <b>bold</b>';
    socket.say({ type: 'chat', name: '<i>Anna</i>', color: 'red;} body{display:none', text, time: 65 });
    expect(id('chat').querySelector('img, b, i')).toBeNull();
    const line = id('chat').firstElementChild as HTMLElement;
    expect(line.textContent).toBe(`<i>Anna</i> ${text} 1:05`);
    expect(line.querySelector('strong')!.style.getPropertyValue('--person')).toBe('#a9b1b9');
    expect([id('chat').getAttribute('role'), id('chat').getAttribute('aria-live')]).toEqual(['log', 'polite']);
  });

  it('adds to the chat at its end and sends on Enter', () => {
    share('joined');
    socket.say({ type: 'chat', name: 'Anna', text: 'one', time: 1 });
    const first = id('chat').firstElementChild;
    socket.say({ type: 'chat', name: 'Anna', text: 'two', time: 2 });
    expect(id('chat').firstElementChild).toBe(first); // read aloud only once
    expect(id('chat').children.length).toBe(2);
    expect(id('chat').lastElementChild!.textContent).toContain('two');
    type('chat-text', 'up we go');
    submit('chat-text');
    expect(id<HTMLInputElement>('chat-text').value).toBe('');
    type('chat-text', 'é'.repeat(300));
    submit('chat-text');
    expect(id('chat-wrong').textContent).toMatch(/100 bytes too long/);
    expect(id<HTMLInputElement>('chat-text').value).not.toBe('');
    expect(socket.sent).toEqual([{ type: 'chat', text: 'up we go' }]);
  });

  it('lists marks, which anybody may remove', () => {
    share('joined');
    socket.say({ type: 'mark', mark: 3, body: 2, point: [0, 0, 0], name: 'Anna', color: '#9c36b5' });
    socket.say({ type: 'mark', mark: 4, body: 9, point: [0, 0, 0], name: 'Ben', color: '#1971c2' });
    expect([...id('marks').children].map((item) => item.querySelector('span')!.textContent)).toEqual(['3 · Anna, on box', '4 · Ben']);
    document.querySelector<HTMLElement>('[aria-label="Remove mark 3 of Anna"]')!.click();
    id('mark-drop').click();
    expect(socket.sent).toEqual([{ type: 'remove_mark', mark: 3 }]);
    expect(marking).toBe(1);
    panel.marking(true);
    expect(id('mark-drop').getAttribute('aria-pressed')).toBe('true');
  });

  it('drives the network', () => {
    share('joined');
    expect(id('network').hidden).toBe(true);
    const network = { type: 'network', profile: 'custom', profiles: ['lan', 'awful'], delay_ms: 120, jitter_ms: 4, loss: 0.05 };
    socket.say(network);
    expect(id('network').hidden).toBe(false);
    const profile = id<HTMLSelectElement>('network-profile');
    expect([...profile.options].map((option) => option.text)).toEqual(['Custom', 'LAN', 'Awful']);
    expect(id<HTMLInputElement>('network-loss').value).toBe('5');
    expect([...document.querySelectorAll('#network output')].map((output) => output.textContent)).toEqual(['120 ms', '4 ms', '5 %']);
    socket.say({ ...network, profile: 'lan' });
    expect([...profile.options].map((option) => option.value)).toEqual(['lan', 'awful']);
    profile.value = 'awful';
    profile.dispatchEvent(new Event('change'));
    type('network-delay_ms', '300');
    id('synchronised').click();
    expect(socket.sent).toEqual([
      { type: 'network', profile: 'awful' },
      { type: 'network', delay_ms: 300 },
      { type: 'synchronise', on: false },
    ]);
    type('network-loss', '10');
    vi.advanceTimersByTime(100);
    expect(socket.sent.at(-1)).toEqual({ type: 'network', loss: 0.1 }); // a share, not per cent
    // Refused: what holds comes back.
    panel.restore();
    expect([profile.value, id<HTMLInputElement>('synchronised').checked]).toEqual(['lan', true]);
  });
});

describe('A slider that is dragged', () => {
  it('asks for the newest of its values, not for all of them', () => {
    const asked: object[] = [];
    const paced = new Paced<{ a?: number; b?: number }>(100, (change) => asked.push(change));
    paced.push({ a: 1 });
    paced.push({ a: 2 });
    paced.push({ a: 3, b: 1 });
    expect(asked).toEqual([{ a: 1 }]);
    vi.advanceTimersByTime(100);
    expect(asked).toEqual([{ a: 1 }, { a: 3, b: 1 }]);
    vi.advanceTimersByTime(1000);
    expect(asked.length).toBe(2);
    paced.push({ a: 4 });
    expect(asked.length).toBe(3);
  });
});

describe('What is said of a peer', () => {
  it('is how well it can be reached', () => {
    expect(reachText(kPeer)).toBe('117 ± 3.2 ms · 1.2 % lost · 4 ms behind');
    expect(reachText({ ...kPeer, lead: 11.2, loss: 0, latency: 0.31, jitter: NaN })).toBe('0.3 ms · 0 % lost · 11 ms ahead');
    expect(reachText({ ...kPeer, lead: 0.2 })).toMatch(/in step$/);
    expect(reachText({ ...kPeer, latency: NaN, jitter: NaN, loss: NaN, lead: NaN })).toBe('');
    expect(reachText({ ...kPeer, self: true })).toBe('');
  });

  it('is what it is', () => {
    expect(tagsOf(kPeer)).toEqual(['direct']);
    expect(tagsOf({ ...kPeer, observer: true, path: 'relayed' })).toEqual(['observer', 'relayed']);
    expect(tagsOf({ ...kPeer, peer: 0, self: true, path: 'self' })).toEqual(['you', 'host']);
  });

  it('is what is wrong with it', () => {
    expect(troubleText(kPeer, 0, false)).toBe('');
    expect(troubleText({ ...kPeer, state: 'silent' }, 4.7, true)).toBe('silent for 4 s, the world waits for them');
    expect(troubleText({ ...kPeer, state: 'leaving' }, 0, false)).toBe('leaving');
    expect(troubleText(kPeer, 0, true)).toBe('the world waits for them');
  });

  it('is what all of them send', () => {
    const peers = { bytesIn: 6210, bytesOut: 880, tick: 20, agreed: 8, window: 128 } as Peers;
    expect(trafficText(peers)).toBe('6.21 kB/s in, 880 B/s out · all agree up to 12 ticks ago');
    expect(trafficText({ ...peers, branch: true })).toContain('all here agree up to 12 ticks ago, apart from most of the session');
  });
});

describe('The divergence plot', () => {
  it('has a gap where nothing is known', () => {
    const sample = (time: number, millimetres: number) => ({ time, millimetres, degrees: 0.5, rollback: 3 });
    const samples = [sample(1, 0.1), sample(2, NaN), sample(3, 0.2)];
    expect(columns(samples, [(entry) => entry.millimetres, (entry) => entry.degrees])).toEqual([
      [1, 2, 3],
      [0.1, null, 0.2],
      [0.5, 0.5, 0.5],
    ]);
  });
});

describe('A network profile', () => {
  it('has a name that can be read', () => {
    expect(['lan', 'network-1', 'transatlantic'].map(profileText)).toEqual(['LAN', 'Network 1', 'Transatlantic']);
  });
});

describe('A QR code', () => {
  it('is drawn square by square', () => {
    expect(qrPath([[true, false], [false, true]])).toBe('M0 0h1v1h-1zM1 1h1v1h-1z');
  });
});

describe('The task in a shared session', () => {
  const task = { state: TaskState.running, body: 2, positionError: 0.0423, angleError: 0, positionTolerance: 0.04, angleTolerance: 0.166, seconds: 31.24 } as TaskEntry;

  it('is over the picture only then, and is done by all', () => {
    const root = id('task-strip');
    const strip = new TaskStrip(root);
    const show = (entry: TaskEntry | null, people: number) => strip.show(entry, 'Dock it', () => 'box', people);
    show(task, 0);
    expect(root.hidden).toBe(true);
    show(null, 2);
    expect(root.hidden).toBe(true);
    show(task, 2);
    expect(root.hidden).toBe(false);
    expect(root.textContent).toBe('Dock it0:31.242.3 mm0.0°');
    expect([...root.querySelectorAll('.good')].map((output) => output.textContent)).toEqual(['0.0°']);
    show({ ...task, state: TaskState.done }, 2);
    expect(root.querySelector('[role=status]')!.textContent).toBe('Done, by all 2 of you together');
    show({ ...task, state: TaskState.done }, 1);
    expect(root.querySelector('[role=status]')!.textContent).toBe('Done');
  });
});
