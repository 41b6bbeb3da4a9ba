// The text messages about a scene that is shared with others over a network: who the peers are, the network between them,
// chat and marks. See "A shared scene" in docs/viewer-protocol.md.
import { array, colorOf, number, object, oneOf, string, vector, type Json } from './json';
import type { Vec3 } from './protocol';

const kStates = ['off', 'starting', 'hosting', 'joining', 'joined', 'cut_off', 'failed'] as const;

export interface Share {
  state: (typeof kStates)[number];
  invite: string; // '' unless this program is the host
  session: string; // short name of the session
  stage: string; // what is being done, in words
  progress: number; // 0…1
  reason: string; // a sentence, or ''
}

// Numbers that the server does not know are NaN.
export interface Peer {
  peer: number;
  participant: number; // as in hands and people; 0 = none
  name: string;
  color: string;
  self: boolean; // the program that serves this page
  observer: boolean; // without a hand
  latency: number; // round trip, milliseconds
  jitter: number; // milliseconds
  loss: number; // 0…1
  lead: number; // how far ahead of us its clock is, milliseconds
  path: 'direct' | 'relayed' | 'self';
  state: 'present' | 'silent' | 'leaving';
  fingerprint: string; // of its key: the same at both ends
}

export interface Peers {
  tick: number;
  agreed: number; // the newest tick that all agree on
  branch: boolean; // all of a part that goes on without the larger one
  window: number; // ticks that the world goes ahead of those whose inputs are all known
  synchronised: boolean;
  waitingFor: number[]; // peer numbers
  rollbackTicks: number; // the most of the last second
  bytesIn: number; // a second
  bytesOut: number;
  divergenceMm: number; // of this view from the others' at the same tick; NaN = not known
  divergenceDeg: number;
  peers: Peer[];
}

export interface Network {
  profile: string; // 'custom' if it is none of the profiles
  profiles: string[];
  delay: number; // round trip, milliseconds
  jitter: number; // milliseconds
  loss: number; // 0…1
  synchronised: boolean;
}

export interface ChatLine {
  name: string;
  color: string;
  text: string;
  time: number; // seconds since the session began
}

export interface Mark {
  mark: number;
  body: number;
  point: Vec3; // in the body's frame
  name: string; // of who put it there
  color: string;
}

export type ShareMessage =
  | { type: 'share'; share: Share }
  | { type: 'peers'; peers: Peers }
  | { type: 'network'; network: Network }
  | { type: 'chat'; line: ChatLine }
  | { type: 'mark'; mark: Mark }
  | { type: 'unmark'; mark: number };

export interface NetworkChange {
  profile?: string;
  delay_ms?: number; // round trip
  jitter_ms?: number;
  loss?: number; // 0…1
}

export type ShareCommand =
  | { type: 'share_start'; name: string }
  | { type: 'share_join'; invite: string; name: string; lose_changes?: boolean }
  | { type: 'share_leave' }
  | ({ type: 'network' } & NetworkChange)
  | { type: 'synchronise'; on: boolean }
  | { type: 'chat'; text: string }
  | { type: 'mark'; body: number; point: Vec3 }
  | { type: 'remove_mark'; mark: number };

// Undefined if it is none of them, or one that says nothing.
export function shareMessageOf(json: Json): ShareMessage | undefined {
  switch (json.type) {
    case 'share':
      return { type: 'share', share: shareOf(json) };
    case 'peers':
      return { type: 'peers', peers: peersOf(json) };
    case 'network':
      return { type: 'network', network: networkOf(json) };
    case 'chat': {
      const text = string(json.text);
      if (!text) return undefined;
      return { type: 'chat', line: { name: string(json.name, 'Someone'), color: colorOf(json.color), text, time: number(json.time) } };
    }
    case 'mark': {
      const point = vector(json.point, [NaN, NaN, NaN]) as Vec3;
      const [mark, body] = [number(json.mark, NaN), number(json.body, NaN)];
      if (Number.isNaN(mark + body + point[0])) return undefined;
      return { type: 'mark', mark: { mark, body, point, name: string(json.name, 'Someone'), color: colorOf(json.color) } };
    }
    case 'unmark': {
      const mark = number(json.mark, NaN);
      return Number.isNaN(mark) ? undefined : { type: 'unmark', mark };
    }
    default:
      return undefined;
  }
}

function shareOf(json: Json): Share {
  return {
    state: oneOf(json.state, kStates, 'off'),
    invite: string(json.invite),
    session: string(json.session),
    stage: string(json.stage),
    progress: fraction(json.progress),
    reason: string(json.reason),
  };
}

function peersOf(json: Json): Peers {
  return {
    tick: number(json.tick),
    agreed: number(json.agreed),
    branch: json.branch === true,
    window: number(json.window),
    synchronised: json.synchronised !== false,
    waitingFor: array(json.waiting_for).map((entry) => number(entry, -1)),
    rollbackTicks: number(json.rollback_ticks),
    bytesIn: number(json.bytes_in),
    bytesOut: number(json.bytes_out),
    divergenceMm: number(json.divergence_mm, NaN),
    divergenceDeg: number(json.divergence_deg, NaN),
    peers: array(json.peers).map((entry) => peerOf(object(entry))),
  };
}

function peerOf(json: Json): Peer {
  const peer = number(json.peer);
  return {
    peer,
    participant: number(json.participant),
    name: string(json.name, `Peer ${peer}`),
    color: colorOf(json.color),
    self: json.self === true,
    observer: json.observer === true,
    latency: number(json.latency_ms, NaN),
    jitter: number(json.jitter_ms, NaN),
    loss: number(json.loss, NaN),
    lead: number(json.lead_ms, NaN),
    path: oneOf(json.path, ['direct', 'relayed', 'self'], 'direct'),
    state: oneOf(json.state, ['present', 'silent', 'leaving'], 'present'),
    fingerprint: string(json.fingerprint),
  };
}

function networkOf(json: Json): Network {
  return {
    profile: string(json.profile, 'custom'),
    profiles: array(json.profiles).map((entry) => string(entry)).filter((name) => name !== ''),
    delay: Math.max(0, number(json.delay_ms)),
    jitter: Math.max(0, number(json.jitter_ms)),
    loss: fraction(json.loss),
    synchronised: json.synchronised !== false,
  };
}

const fraction = (value: unknown): number => Math.min(1, Math.max(0, number(value)));
