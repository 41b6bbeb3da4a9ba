// @vitest-environment happy-dom
// While a scene is shared nobody changes it: what the server would refuse is not offered, and says why.
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { parseScene } from '../../src/messages';
import { Gallery } from '../../src/panels/gallery';
import { PartsPanel } from '../../src/panels/parts';
import { RecordingList } from '../../src/panels/recorder';
import { SettingsPanel } from '../../src/panels/settings';
import { WorldPanel } from '../../src/panels/world';
import { SharedWorld } from '../../src/shared-world';
import { Together } from '../../src/together';
import { fakeFeed, type FakeSocket } from './fake-feed';

const kReason = 'The scene is shared and stays as it is; leave the session to change it.';

const root = (id: string) => document.getElementById(id)!;
const controls = (id: string) => [...root(id).querySelectorAll<HTMLButtonElement | HTMLInputElement>('button, input')];
// Those that cannot be used and say why, by what they are otherwise called.
const held = (id: string) =>
  controls(id)
    .filter((control) => control.disabled && control.title === kReason)
    .map((control) => control.getAttribute('aria-label') ?? (control.id || control.dataset.scene || control.closest('label')!.textContent));
const usable = (id: string) => controls(id).every((control) => !control.disabled && control.title !== kReason);

function sceneOf(json: object) {
  const parsed = parseScene(json);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}

const nothing = () => {};

describe('The panels of a scene', () => {
  let gallery: Gallery;
  let recordings: RecordingList;
  let parts: PartsPanel;
  let settings: SettingsPanel;
  let world: SharedWorld;
  let panel: WorldPanel;

  const scene = () =>
    sceneOf({
      name: 'docking',
      gravity: 9.81,
      bodies: [{ id: 2, name: 'box', motion: 'free', mass: 0.5, density: 800, graspable: true, copy: true, removable: true }],
      parts: [{ id: 1, body: 2, name: 'box', role: 'moving', removable: true }],
    });
  const entry = (id: string, name: string) => ({ id, scene: name, seconds: 1, peakForce: 0, bytes: 1, recovered: false });
  const hold = (reason: string) => {
    world.hold(reason);
    for (const each of [gallery, parts, settings]) each.hold(reason);
  };

  beforeEach(() => {
    localStorage.clear();
    document.body.innerHTML = ['gallery', 'world', 'settings', 'parts', 'recordings'].map((id) => `<div id="${id}"></div>`).join('');
    root('gallery').innerHTML = '<ul id="scenes"></ul>';
    gallery = new Gallery(root('scenes'), (path) => Promise.resolve(path), { open: nothing, remove: nothing });
    world = new SharedWorld(nothing, () => panel?.show());
    panel = new WorldPanel(root('world'), world, nothing);
    world.canChange = true;
    settings = new SettingsPanel(root('settings'), { choices: nothing, settings: nothing });
    parts = new PartsPanel(root('parts'), { add: nothing, remove: nothing, reimport: nothing, setMotion: nothing, save: nothing });
    recordings = new RecordingList(root('recordings'), { replay: nothing, remove: nothing, download: nothing });
    world.open(scene());
    world.select(2);
    parts.set(scene());
  });

  const fill = () => {
    gallery.set(['docking', 'stack'].map((name) => ({ name, title: name, summary: '', saved: false, unsaved: false, thumbnail: '' })));
    recordings.set([entry('mine', 'docking'), entry('other', 'stack')], (name) => name);
  };

  it('offer nothing that a shared scene does not allow, and offer it again afterwards', () => {
    fill();
    for (const id of ['gallery', 'world', 'settings', 'parts', 'recordings']) expect(usable(id), id).toBe(true);
    hold(kReason);
    expect(held('gallery')).toEqual(['docking', 'stack']);
    expect(root('gallery').textContent).toContain(kReason);
    const world = ['gravity', 'gravity-strength', 'body-mass', 'body-density', 'body-free', 'Add a copy of this body', 'Remove this body'];
    expect(held('world')).toEqual(world);
    expect(root('world-held').textContent).toBe(kReason);
    expect(root('my-name')).toMatchObject({ disabled: false });
    expect(held('settings')).toEqual(['Contact stiffness']);
    expect(held('parts')).toEqual(['Make box static', 'Remove box', 'Add a part from a file']);
    expect(usable('recordings')).toBe(true); // a replay changes nothing for anybody
    hold('');
    for (const id of ['gallery', 'world', 'settings', 'parts', 'recordings']) expect(usable(id), id).toBe(true);
    expect(root('world-held').hidden).toBe(true);
    expect(root('parts').querySelector<HTMLButtonElement>('.primary')!.title).toBe('Add a part from a file');
  });

  it('offer nothing of what is listed anew meanwhile', () => {
    hold(kReason);
    fill();
    parts.set(scene());
    expect(held('gallery')).toEqual(['docking', 'stack']);
    expect(usable('recordings')).toBe(true);
    expect(held('parts')).toContain('Remove box');
  });

  it('show the unit that holds again when the server refused another', () => {
    const imported = { unit: 'mm', unit_from: 'guessed', up: 'z', up_from: 'guessed', guess: '', warnings: [] };
    parts.set(sceneOf({ name: 'mine', bodies: [], parts: [{ id: 1, body: 2, name: 'box', role: 'moving', import: imported }] }));
    const unit = () => root('parts').querySelector<HTMLSelectElement>('[aria-label="Unit of box"]')!;
    unit().value = 'cm';
    parts.restore();
    expect(unit().value).toBe('mm');
  });

  it('leave the strength of a gravity that is off alone when the session ends', () => {
    world.gravity = 0;
    hold(kReason);
    hold('');
    expect(root('gravity-strength')).toMatchObject({ disabled: true });
  });
});

describe('A session', () => {
  let socket: FakeSocket;
  let together: Together;

  beforeEach(() => {
    vi.useFakeTimers();
    const fake = fakeFeed((message) => together.received(message));
    socket = fake.socket;
    together = new Together(nothing, nothing);
    socket.say({ type: 'hello', protocol: 2, participant: 7, features: ['share'] });
    return () => vi.useRealTimers();
  });

  it('holds the scene from its beginning until it is left or has failed', () => {
    expect(together.holdsScene).toBe('');
    for (const state of ['starting', 'hosting', 'joining', 'joined', 'cut_off']) {
      socket.say({ type: 'share', state });
      expect(together.holdsScene, state).toBe(kReason);
    }
    for (const state of ['off', 'failed']) {
      socket.say({ type: 'share', state });
      expect(together.holdsScene, state).toBe('');
    }
  });
});
