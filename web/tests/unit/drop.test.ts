// @vitest-environment happy-dom
// What a drop would do is said before it is done, and what would be lost is asked about.
import { beforeEach, describe, expect, it } from 'vitest';
import { WouldLose, type UploadWish } from '../../src/api';
import { parseMessage, parseScenes, type Command, type Job, type Scene } from '../../src/messages';
import { DropZone, Jobs } from '../../src/panels/drop';
import { Losing } from '../../src/panels/losing';

const fileEvent = (type: string) => {
  const event = new Event(type, { bubbles: true, cancelable: true });
  Object.assign(event, { dataTransfer: { types: ['Files'], files: [new File(['x'], 'a.stl')] } });
  return event;
};
const sceneOf = (name: string, title: string, parts: number) => ({ name, title, parts: Array.from({ length: parts }) }) as unknown as Scene;

describe('Files over the page', () => {
  let scene: Scene | null = null;
  let obstacle = '';
  const drops: [number, boolean][] = [];
  document.body.innerHTML = '<div id="drop" hidden></div>';
  const cover = document.getElementById('drop')!;
  new DropZone(cover, {
    scene: () => scene,
    obstacle: () => obstacle,
    dropped: (files, alone) => drops.push([files.length, alone]),
  });
  const alone = document.getElementById('drop-alone')!;

  beforeEach(() => {
    scene = sceneOf('docking', 'Docking', 3);
    obstacle = '';
    drops.length = 0;
  });

  it('are added to the scene that is named, and a built-in one stays as it is', () => {
    document.body.dispatchEvent(fileEvent('dragenter'));
    expect(cover.hidden).toBe(false);
    expect(cover.textContent).toContain('Drop to add to “Docking”');
    expect(cover.textContent).toContain('“Docking” itself stays as it is');
    document.body.dispatchEvent(fileEvent('drop'));
    expect(cover.hidden).toBe(true);
    expect(drops).toEqual([[1, false]]);
  });

  it('are opened alone only where the page says so', () => {
    document.body.dispatchEvent(fileEvent('dragenter'));
    expect(alone.hidden).toBe(false);
    alone.dispatchEvent(fileEvent('drop'));
    expect(drops).toEqual([[1, true]]);
  });

  it('need no other scene where there is an empty one', () => {
    scene = sceneOf('', '', 0);
    document.body.dispatchEvent(fileEvent('dragenter'));
    expect(cover.textContent).toContain('Drop to add to the scene');
    expect(alone.hidden).toBe(true);
    document.body.dispatchEvent(fileEvent('drop'));
  });

  it('are told why they cannot be added', () => {
    obstacle = 'Others are in this scene.';
    document.body.dispatchEvent(fileEvent('dragenter'));
    expect(cover.textContent).toContain('Nothing can be added now');
    expect(cover.textContent).toContain(obstacle);
    expect(alone.hidden).toBe(true);
    document.body.dispatchEvent(fileEvent('drop'));
  });
});

describe('Changes that cannot be kept', () => {
  let sent: Command[];
  let losing: Losing;
  const question = () => document.getElementById('losing')!;
  const answer = (text: string) => [...question().querySelectorAll('button')].find((one) => one.textContent === text)!.click();
  const settle = () => new Promise((resolve) => setTimeout(resolve));

  beforeEach(() => {
    document.body.innerHTML = '<div id="losing" hidden></div><div id="jobs"></div>';
    sent = [];
    losing = new Losing(question(), (command) => sent.push(command));
  });

  const replacing: [Command, string][] = [
    [{ type: 'open_scene', name: 'stack' }, 'Open and lose it'],
    [{ type: 'share_join', invite: 'cotouch:x', name: 'Ann' }, 'Join and lose it'],
  ];
  it.each(replacing)('are lost only if that is said (%j)', async (command, agree) => {
    losing.sent(7, command);
    losing.sent(8, { type: 'reset' });
    expect(losing.refused(8, 'No.')).toBe(false);
    expect(losing.refused(7, 'There are 32 unsaved scenes already.')).toBe(true);
    expect(question().hidden).toBe(false);
    expect(question().textContent).toContain('32 unsaved scenes');
    answer('Stay');
    await settle();
    expect([question().hidden, sent]).toEqual([true, []]);
    losing.refused(7, 'No space left on device.');
    answer(agree);
    await settle();
    expect([question().hidden, sent]).toEqual([true, [{ ...command, lose_changes: true }]]);
  });

  it('stay if something else is asked before the answer', async () => {
    const first = losing.ask('No space.', 'Open');
    const second = losing.ask('No space.', 'Join');
    expect(await first).toBe(false);
    answer('Join and lose it');
    expect(await second).toBe(true);
  });

  it('are lost to a file that is opened alone only if that is said', async () => {
    const wishes: (boolean | undefined)[] = [];
    const told: string[] = [];
    const upload = async (_file: unknown, wish: UploadWish) => {
      wishes.push(wish.loseChanges);
      if (!wish.loseChanges) throw new WouldLose('There are 32 unsaved scenes already.');
      return 3;
    };
    const jobs = new Jobs(document.getElementById('jobs')!, { upload }, losing, () => {}, (text) => told.push(text));
    const file = { name: 'a.stl', data: new Blob(['x']) };
    const wish = { unit: '', place: 'middle', split: false, alone: true } as const;
    for (const [text, job] of [['Stay', null], ['Open and lose it', 3]] as const) {
      const uploaded = jobs.upload(file, wish);
      await settle();
      answer(text);
      expect(await uploaded).toBe(job);
    }
    expect(wishes).toEqual([undefined, undefined, true]);
    expect([told, document.getElementById('jobs')!.childElementCount]).toEqual([[], 0]);
  });

  it('are known by a word in the reply', () => {
    const reply = (more: object) => parseMessage(JSON.stringify({ type: 'reply', id: 1, ok: false, reason: 'No.', ...more }));
    expect(reply({ code: 'unkept' })).toMatchObject({ value: { code: 'unkept' } });
    expect(reply({})).toMatchObject({ value: { code: '' } });
  });
});

describe('A job of the server', () => {
  const jobs = new Jobs(document.createElement('div'), { upload: async () => null }, { ask: async () => false }, () => {}, () => {});
  const show = (job: number, state: Job['state']) => jobs.show({ type: 'job', job, state, name: 'a.stl', stage: '', progress: 0, reason: '' });

  it('has its end known, whether it comes before or after it is asked for', async () => {
    show(1, 'done');
    const second = jobs.done(2);
    show(2, 'running');
    show(2, 'failed');
    expect([await jobs.done(1), await second]).toEqual([true, false]);
  });

  it('is given up with the connection', async () => {
    const third = jobs.done(3);
    jobs.clear();
    expect(await third).toBe(false);
  });
});

describe('The list of scenes', () => {
  it('says which were not saved', () => {
    const [saved, unsaved] = parseScenes({ scenes: [{ name: 'mine', saved: true }, { name: 'unsaved-1', saved: true, unsaved: true }] });
    expect([saved!.unsaved, unsaved!.unsaved]).toEqual([false, true]);
  });
});
