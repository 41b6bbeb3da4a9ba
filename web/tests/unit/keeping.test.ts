// @vitest-environment happy-dom
// What is kept, and what is not lost: saving over a scene asks, recordings that broke off say so.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Api } from '../../src/api';
import { parseMessage } from '../../src/messages';
import { PartsPanel } from '../../src/panels/parts';
import { RecordingList } from '../../src/panels/recorder';

const answerWith = (status: number, json: object) =>
  vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(JSON.stringify(json), { status }));

afterEach(() => vi.restoreAllMocks());

describe('Saving a scene', () => {
  const api = new Api('t', 'http://localhost/');

  it('over a name that is taken is not done unless it is said', async () => {
    const fetched = answerWith(409, { error: 'There is a scene already.', code: 'exists' });
    expect(await api.saveScene('mine', false)).toBeNull();
    expect(String(fetched.mock.calls[0]![0])).not.toContain('replace');
    fetched.mockResolvedValue(new Response(JSON.stringify({ file: 'f', play: 'p' })));
    expect(await api.saveScene('mine', true)).toEqual({ file: 'f', play: 'p' });
    expect(String(fetched.mock.calls[1]![0])).toContain('replace=1');
  });

  it('says why if somebody stands in the way', async () => {
    answerWith(409, { error: 'Bob made it.' });
    await expect(api.saveScene('mine', false)).rejects.toThrow('Bob made it.');
  });
});

describe('The question whether to replace a scene', () => {
  const saved: [string, boolean][] = [];
  let panel: PartsPanel;
  const buttonNamed = (text: string) => [...document.querySelectorAll('button')].find((one) => one.textContent === text)!;

  beforeEach(() => {
    saved.length = 0;
    document.body.innerHTML = '<div id="parts"></div>';
    const nothing = () => {};
    panel = new PartsPanel(document.getElementById('parts')!, {
      add: nothing,
      remove: nothing,
      reimport: nothing,
      setMotion: nothing,
      save: (name, replace) => saved.push([name, replace]),
    });
  });

  it('is asked once, and answered by the button that says so', () => {
    expect(buttonNamed('Replace')).toBeUndefined();
    panel.askToReplace('mine');
    expect(document.querySelector('[role=alert]')!.textContent).toContain('“mine”');
    buttonNamed('Replace').click();
    expect(saved).toEqual([['mine', true]]);
    expect(document.querySelector<HTMLElement>('[role=alert]')!.hidden).toBe(true);
  });

  it('leaves everything as it is if that is wanted', () => {
    panel.askToReplace('mine');
    buttonNamed('Keep').click();
    expect(saved).toEqual([]);
    expect(document.querySelector<HTMLElement>('[role=alert]')!.hidden).toBe(true);
  });

  it('goes away with another name', () => {
    panel.askToReplace('mine');
    document.querySelector('#save-name')!.dispatchEvent(new Event('input'));
    expect(document.querySelector<HTMLElement>('[role=alert]')!.hidden).toBe(true);
  });
});

describe('A recording that broke off', () => {
  it('says so in the list', () => {
    const message = parseMessage(
      JSON.stringify({
        type: 'recordings',
        recordings: [
          { id: 'a', scene: 's', seconds: 1, peak_force: 0, bytes: 1, recovered: true },
          { id: 'b', scene: 's', seconds: 1, peak_force: 0, bytes: 1 },
        ],
      }),
    );
    if (!message.ok || message.value.type !== 'recordings') throw new Error('not a list');
    document.body.innerHTML = '<div id="recordings"></div>';
    const nothing = () => {};
    const list = new RecordingList(document.getElementById('recordings')!, {
      replay: nothing,
      remove: nothing,
      download: nothing,
    });
    list.set(message.value.recordings, (scene) => scene);
    const items = [...document.querySelectorAll('li')].map((item) => /Recovered/.test(item.textContent ?? ''));
    expect(items).toEqual([true, false]);
  });
});
