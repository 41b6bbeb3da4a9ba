// The shared world over a fake feed: messages of the server go in, commands come out.
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { parseScene } from '../../src/messages';
import { quantity } from '../../src/panels/world';
import { SharedWorld } from '../../src/shared-world';
import { fakeFeed, type FakeSocket } from './fake-feed';

let socket: FakeSocket;
let world: SharedWorld;
let changes: number;

const scene = () => {
  const parsed = parseScene({
    gravity: 9.81,
    bodies: [
      { id: 1, name: 'table', motion: 'fixed' },
      { id: 2, name: 'block', motion: 'free', mass: 0.5, density: 800, graspable: true, copy: true },
      { id: 3, name: 'block', motion: 'free', graspable: true, removable: true },
    ],
    task: { title: 'Dock it', body: 2 },
  });
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
};

beforeEach(() => {
  vi.useFakeTimers();
  changes = 0;
  const fake = fakeFeed((message) => world.received(message));
  socket = fake.socket;
  world = new SharedWorld(
    (command) => void fake.feed.send(command),
    () => ++changes,
  );
  socket.say({ type: 'hello', protocol: 2, participant: 7, features: ['world'] });
  world.open(scene());
  socket.sent = [];
  return () => vi.useRealTimers();
});

describe('The shared world', () => {
  it('knows who this page is and what the server can do', () => {
    expect(world.me).toBe(7);
    expect([world.canChange, world.canRestart]).toEqual([true, false]);
  });

  it('knows who takes part, and forgets who has left', () => {
    const ann = { participant: 7, name: 'Ann', color: '#2f9e44', kind: 'page' };
    const bob = { participant: 8, name: 'Bob', color: '#9c36b5', kind: 'page' };
    socket.say({ type: 'people', people: [ann, bob] });
    expect(world.nameOf(8)).toBe('Bob');
    socket.say({ type: 'people', people: [ann] });
    expect([...world.people.keys()]).toEqual([7]);
    expect(world.nameOf(8)).toBe('Someone else');
  });

  it('asks for gravity and shows it once the server has said so', () => {
    world.setGravity(0);
    expect(socket.sent).toEqual([{ type: 'world', gravity: 0 }]);
    expect(world.gravity).toBe(9.81);
    socket.say({ type: 'world', gravity: 0 });
    expect(world.gravity).toBe(0);
  });

  it('changes what is selected and nothing else', () => {
    world.setMass(2);
    world.copySelected();
    expect(socket.sent).toEqual([]);
    world.select(2);
    expect(world.selected?.name).toBe('block');
    world.setMass(2);
    world.setDensity(900);
    world.setMotion(2, 'fixed');
    world.copySelected();
    expect(socket.sent).toEqual([
      { type: 'set_body', body: 2, mass: 2 },
      { type: 'set_body', body: 2, density: 900 },
      { type: 'set_body', body: 2, motion: 'fixed' },
      { type: 'copy_body', body: 2 },
    ]);
    socket.say({ type: 'body', body: 2, motion: 'fixed', mass: 2, density: 3200 });
    expect(world.selected).toMatchObject({ motion: 'fixed', mass: 2, density: 3200, graspable: false });
  });

  it('copies only what may be copied', () => {
    world.select(3);
    world.copySelected();
    expect(socket.sent).toEqual([]);
    expect(world.selected?.removable).toBe(true);
    world.remove(3);
    expect(socket.sent).toEqual([{ type: 'remove_body', body: 3 }]);
  });

  it('knows that what is made free can be picked up', () => {
    socket.say({ type: 'body', body: 1, motion: 'free', mass: 2, density: 800, graspable: true });
    expect(world.bodies[0]).toMatchObject({ motion: 'free', graspable: true });
  });

  it('does not take a body of another scene for the one that was selected', () => {
    world.select(2);
    world.open({ ...scene(), name: 'another' });
    expect(world.selected).toBeNull();
  });

  it('keeps what is selected when bodies come and go, as long as it is there', () => {
    world.select(3);
    world.open(scene());
    expect(world.selected?.id).toBe(3);
    world.open({ ...scene(), bodies: scene().bodies.slice(0, 2) });
    expect(world.selected).toBeNull();
  });

  it('tells the panel once for each change', () => {
    changes = 0;
    world.select(2);
    world.select(2);
    socket.say({ type: 'world', gravity: 1 });
    socket.say({ type: 'scenes' });
    socket.say({ type: 'body', body: 99, motion: 'free', mass: 1, density: 1 });
    expect(changes).toBe(2);
  });

  it('starts the task over', () => {
    expect(world.task?.title).toBe('Dock it');
    world.restartTask();
    expect(socket.sent).toEqual([{ type: 'task_reset' }]);
  });
});

describe('A mass or density that was typed', () => {
  it('is taken with a point or a comma, within what the server allows', () => {
    expect(quantity(' 0,25 ', 'mass')).toBe(0.25);
    expect(quantity('7850', 'density')).toBe(7850);
    for (const text of ['', 'x', '-1', '0', '0.00009', '10.1', 'Infinity', 'NaN']) expect(quantity(text, 'mass')).toBeNull();
    expect(quantity('25001', 'density')).toBeNull();
  });
});
