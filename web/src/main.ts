// Entry of the page, and its hook for tests and for the curious: `cotouch.state()` in the browser's console.
import './style.css';
import { Vector3 } from 'three';
import { App } from './app';
import type { StateFrame } from './protocol';

export interface TestState {
  link: string;
  scene: string;
  generation: number;
  complete: boolean; // every mesh of the scene is there
  frame: (Omit<StateFrame, 'contacts' | 'traversed'> & { contacts: number[]; traversed: number[] }) | null; // shown last
  grip: string;
  replay: { time: number; duration: number; playing: boolean; frames: number } | null;
  received: number; // state frames
  garbage: number; // messages that made no sense
  drawn: number;
  drawTime: number; // milliseconds
  interactiveAt: number; // milliseconds after opening the page
  objectOnScreen: { x: number; y: number } | null; // middle of the object in the first hand, CSS pixels
}

export interface TestHook {
  state(): TestState;
  project(x: number, y: number, z: number): { x: number; y: number };
  picture(): string; // the scene alone, as a PNG data address
}

declare global {
  interface Window {
    cotouch?: TestHook;
  }
}

function hookOf(app: App): TestHook {
  return {
    state: () => ({
      link: app.feed.link,
      scene: app.world.info?.name ?? '',
      generation: app.world.info?.generation ?? 0,
      complete: app.world.complete,
      frame: app.shown && {
        ...app.shown,
        contacts: [...app.shown.contacts],
        traversed: [...app.shown.traversed],
      },
      grip: app.hand.grip,
      replay: app.player && {
        time: app.player.time,
        duration: app.player.recording.duration,
        playing: app.player.playing,
        frames: app.player.recording.frames.length,
      },
      received: app.feed.frames,
      garbage: app.feed.garbage,
      drawn: app.stage.drawn,
      drawTime: app.stage.drawTime,
      interactiveAt: app.interactiveAt,
      objectOnScreen: app.world.screenPosition(app.world.info?.hands[0]?.hand ?? 0),
    }),
    project: (x, y, z) => app.stage.project(new Vector3(x, y, z)),
    picture: () => app.stage.picture(),
  };
}

try {
  window.cotouch = hookOf(new App(window.location));
} catch (error) {
  // Without WebGL there is nothing to show; say so instead of leaving an empty page.
  const text = error instanceof Error ? error.message : String(error);
  const notice = document.createElement('p');
  notice.className = 'fatal';
  notice.textContent = `This page could not start: ${text} It needs WebGL 2; software rendering is enough.`;
  document.body.append(notice);
}
