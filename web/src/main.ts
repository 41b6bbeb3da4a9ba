// Entry of the page, and its hook for tests and for the curious: `cotouch.state()` in the browser's console.
import './style.css';
import './together.css';
import { Vector3 } from 'three';
import { App } from './app';
import { toWire } from './hands/motion';
import type { Pose, StateFrame } from './protocol';

export interface TestState {
  link: string;
  scene: string;
  generation: number;
  parts: { id: number; name: string; role: string }[];
  // The first body that can be picked up, one of its parts, and where it is wanted: by a hand, or where it is.
  moving: { body: number; part: number; wanted: Pose | null } | null;
  complete: boolean; // every mesh of the scene is there
  frame:
    | (Omit<StateFrame, 'contacts' | 'traversed' | 'bending'> & { contacts: number[]; traversed: number[] })
    | null; // shown last
  // Bodies that bend: their coordinates in that frame, and how far the drawn shape goes from the one at rest, metres, at most.
  bending: { body: number; q: number[]; drawn: number }[];
  grip: string;
  replay: { time: number; duration: number; playing: boolean; frames: number } | null;
  received: number; // state frames
  garbage: number; // messages that made no sense
  drawn: number;
  drawTime: number; // milliseconds
  interactiveAt: number; // milliseconds after opening the page
  share: { state: string; invite: string; peers: string[]; chat: string[]; marks: number[] };
}

export interface TestHook {
  state(): TestState;
  // Middle of a part in the window (CSS pixels) and in the world, where it is drawn now.
  part(id: number): { screen: { x: number; y: number }; world: [number, number, number] } | null;
  tip(mark: number): { x: number; y: number } | null; // of a mark's pin in the window
  project(x: number, y: number, z: number): { x: number; y: number }; // a point of the world in the window
  lookFrom(x: number, y: number, z: number): void; // direction from the scene to the eye
  thumbnail(): string; // the scene alone, 320 by 200, as a PNG data address
}

declare global {
  interface Window {
    cotouch?: TestHook;
  }
}

function movingOf(app: App): TestState['moving'] {
  const body = app.shared.bodies.find((entry) => entry.graspable);
  const wanted = body && app.world.wantedPose(body.id);
  return body ? { body: body.id, part: body.parts[0] ?? 0, wanted: wanted ? toWire(wanted) : null } : null;
}

function hookOf(app: App): TestHook {
  return {
    state: () => ({
      link: app.feed.link,
      scene: app.world.info?.name ?? '',
      generation: app.world.info?.generation ?? 0,
      parts: app.world.info?.parts.map(({ id, name, role }) => ({ id, name, role })) ?? [],
      moving: movingOf(app),
      complete: app.world.complete,
      frame: app.shown && {
        ...app.shown,
        contacts: [...app.shown.contacts],
        traversed: [...app.shown.traversed],
      },
      bending: (app.shown?.bending ?? []).map(({ body, q }) => ({ body, q: [...q], drawn: app.world.bent.largestMove(body) })),
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
      share: {
        state: app.sharing.together.share.state,
        invite: app.sharing.together.share.invite,
        peers: app.sharing.together.peers?.peers.map((peer) => peer.name) ?? [],
        chat: app.sharing.together.lines.map((line) => line.text),
        marks: [...app.sharing.together.marks.keys()],
      },
    }),
    part: (id) => {
      const centre = app.world.centreOf(id);
      return centre && { screen: app.stage.project(centre), world: centre.toArray() };
    },
    tip: (mark) => {
      const at = app.world.pins.tipOf(mark);
      return at && app.stage.project(at);
    },
    project: (x, y, z) => app.stage.project(new Vector3(x, y, z)),
    lookFrom: (x, y, z) => {
      if (app.world.info) app.stage.lookAt(app.world.info.bounds, new Vector3(x, y, z));
    },
    thumbnail: () => app.stage.thumbnail().toDataURL('image/png'),
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
