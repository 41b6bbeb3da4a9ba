import { describe, expect, it } from 'vitest';
import { parseMessage, parseScene, parseScenes } from '../../src/messages';

const parsed = (json: unknown) => {
  const message = parseMessage(JSON.stringify(json));
  if (!message.ok) throw new Error(message.error);
  return message.value;
};

describe('A text message', () => {
  it('is read with its members', () => {
    expect(parsed({ type: 'hand', hand: 4, state: 'granted', body: 2, point: [1, 2, 3], reason: '' })).toEqual({
      type: 'hand',
      hand: 4,
      state: 'granted',
      body: 2,
      point: [1, 2, 3],
      reason: '',
    });
    const values = { contact_stiffness: 500, max_force: 4, budget_us: 300, budget_nodes: 9000 };
    const ranges = { contact_stiffness: [100, 1000], max_force: [0, 5], budget_us: [50, 900] };
    const settings = { contactStiffness: 500, maxForce: 4, budget: 300, nodes: 9000 };
    expect(parsed({ type: 'settings', ...values, ranges })).toEqual({ type: 'settings', settings: { ...settings, ranges } });
    // Without a range nothing but the value itself may be chosen.
    const none = { contact_stiffness: [500, 500], max_force: [4, 4], budget_us: [300, 300] };
    expect(parsed({ type: 'settings', ...values, ranges: { max_force: 'all' } })).toEqual({
      type: 'settings',
      settings: { ...settings, ranges: none },
    });
  });

  it('says who takes part, each with a colour that is one', () => {
    const people = [{ participant: 3, name: 'Ann', color: '#2f9e44', kind: 'page' }, { participant: 4, color: 'red', kind: 'x' }];
    expect(parsed({ type: 'people', people })).toEqual({
      type: 'people',
      people: [people[0], { participant: 4, name: 'Guest 4', color: '#a9b1b9', kind: 'page' }],
    });
  });

  it('says what gravity and bodies are like now', () => {
    expect(parsed({ type: 'world', gravity: 9.81 })).toEqual({ type: 'world', gravity: 9.81 });
    const body = { type: 'body', body: 2, motion: 'free', mass: 0.5, density: 900, graspable: true };
    expect(parsed(body)).toEqual(body);
  });

  it('says that the gallery changed', () => {
    expect(parsed({ type: 'scenes' })).toEqual({ type: 'scenes' });
  });

  it('of a type from the future is ignored', () => {
    expect(parsed({ type: 'telepathy' })).toEqual({ type: 'unknown' });
  });

  it('that is not an object is an error and not an exception', () => {
    for (const text of ['', '[]', 'null', '7', '"hello"', '{', '{"type":']) expect(parseMessage(text).ok).toBe(false);
  });

  it('with misshapen members gets harmless ones', () => {
    expect(parsed({ type: 'job', job: 'x', progress: 7, state: 'odd' })).toMatchObject({
      job: 0,
      progress: 1,
      state: 'running',
    });
    expect(parsed({ type: 'recordings', recordings: [null, 3, { id: 'a' }] })).toMatchObject({
      recordings: [{ id: '' }, { id: '' }, { id: 'a' }],
    });
  });

  it('is never taken for an error without words', () => {
    expect(parsed({ type: 'error' })).toMatchObject({ reason: expect.stringMatching(/./) });
  });
});

describe('A scene', () => {
  it('is filled up where members are missing', () => {
    const scene = parseScene({ name: 'a', parts: [{ id: 3 }], bodies: [{ id: 3 }] });
    if (!scene.ok) throw new Error(scene.error);
    expect(scene.value.title).toBe('a');
    expect(scene.value.parts[0]).toMatchObject({
      id: 3,
      role: 'static',
      pose: { position: [0, 0, 0], rotation: [1, 0, 0, 0] },
    });
    expect(scene.value.bodies[0]).toEqual({
      id: 3,
      name: 'body',
      parts: [],
      motion: 'fixed',
      mass: 0,
      density: 0,
      pose: { position: [0, 0, 0], rotation: [1, 0, 0, 0] },
      graspable: false,
      copy: false,
      bendable: false,
      removable: false,
    });
    expect(scene.value).toMatchObject({ task: null, gravity: 0, maxForce: 8, maxTorque: 0.3 });
  });

  it('takes a colour only as #rrggbb, and a plain grey otherwise', () => {
    const colorOf = (color: string) => {
      const scene = parseScene({ parts: [{ id: 1, color }] });
      return scene.ok && scene.value.parts[0]?.color;
    };
    expect(colorOf('#a0B1c2')).toBe('#a0B1c2');
    expect(colorOf('red; background: url(x)')).toBe('#a9b1b9');
    expect(colorOf('')).toBe('#a9b1b9');
  });

  it('that is not an object is refused', () => {
    expect(parseScene(null).ok).toBe(false);
    expect(parseScenes('nonsense')).toEqual([]);
  });
});
