// Replays are the page's own: they open nothing for the others, and nothing that the others open ends them.
import { beforeEach, describe, expect, it } from 'vitest';
import type { RecordingEntry } from '../../src/messages';
import { kNoStory } from '../../src/recorded';
import { Replays, type ReplayPort } from '../../src/replays';

const entry = (id: string, scene: string): RecordingEntry => ({ id, scene, seconds: 1, peakForce: 0, bytes: 1, recovered: false });
const settle = () => new Promise((resolve) => setTimeout(resolve));

describe('A replay', () => {
  let told: string[];
  let shown: boolean;
  let replays: Replays;

  beforeEach(() => {
    told = [];
    shown = true;
    const port: ReplayPort = {
      sceneName: () => 'here',
      showScene: (id) => {
        told.push(`scene of ${id}`);
        return Promise.resolve(shown);
      },
      fetch: (id) => (id === 'gone' ? Promise.reject(new Error('gone')) : Promise.resolve([{ duration: 1, frames: [] }, kNoStory])),
      started: () => told.push('started'),
      stopped: () => told.push('stopped'),
      showLive: () => told.push('live'),
      failed: (error) => told.push(String(error)),
    };
    replays = new Replays(port);
  });

  it('of the scene in the picture takes nothing but its frames', async () => {
    replays.start(entry('a', 'here'));
    await settle();
    expect(told).toEqual(['started']);
    replays.stop();
    expect(told).toEqual(['started', 'stopped']);
  });

  it('of another scene shows that scene, and the live one again when it ends', async () => {
    replays.start(entry('a', 'there'));
    await settle();
    expect(told).toEqual(['scene of a', 'started']);
    expect(replays.away).toBe(true);
    replays.stop();
    expect(told.slice(2)).toEqual(['stopped', 'live']);
    expect(replays.away).toBe(false);
  });

  it('goes on when the server opens another scene, which is shown when it ends', async () => {
    replays.start(entry('a', 'here'));
    await settle();
    expect(replays.sceneChanges()).toBe(true);
    expect(replays.player).not.toBeNull();
    replays.stop();
    expect(told).toEqual(['started', 'stopped', 'live']);
    expect(replays.sceneChanges()).toBe(false);
  });

  it('that was stopped while its scene was on its way does not start', async () => {
    replays.start(entry('a', 'there'));
    await Promise.resolve();
    replays.stop();
    await settle();
    expect(replays.player).toBeNull();
    expect(told).not.toContain('started');
  });

  it('whose scene cannot be shown gives the live one back', async () => {
    shown = false;
    replays.start(entry('a', 'there'));
    await settle();
    expect(told).toEqual(['scene of a', 'live']);
    expect(replays.player).toBeNull();
  });

  it('that cannot be made says why and changes nothing', async () => {
    replays.start(entry('gone', 'there'));
    await settle();
    expect(told).toEqual(['Error: gone']);
    expect(replays.away).toBe(false);
  });
});
