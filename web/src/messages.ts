// JSON of docs/viewer-protocol.md: text messages of the feed, the gallery and the scene. What arrives is checked member by
// member and filled up with defaults, so that the rest of the page never meets a missing or misshapen value.
import { array, colorOf, isObject, number, object, oneOf, parseObject, string, vector, type Json } from './json';
import type { Decoded, Pose, Quat, Vec3 } from './protocol';
import { shareMessageOf, type ShareCommand, type ShareMessage } from './share-messages';

export interface SceneEntry {
  name: string;
  title: string;
  summary: string;
  thumbnail: string;
  saved: boolean; // by the user, who may delete it
  unsaved: boolean; // kept for the user, who did not save it under a name
}

export interface Bounds {
  min: Vec3;
  max: Vec3;
}

// How a part bends, if it does.
export interface ElasticInfo {
  law: 'stvk' | 'warped';
  coordinates: number;
  tets: number;
  anchored: boolean;
  material: string; // that it is made of but for its stiffness; '' = none that has a name
  young: number; // pascals; 0 = not known
  anchors: string[]; // where it is held, as in the command that makes it bend
}

export interface PartInfo {
  id: number;
  body: number;
  name: string;
  role: 'moving' | 'static';
  color: string;
  pose: Pose;
  bounds: Bounds;
  vertices: number;
  triangles: number;
  decimated: boolean;
  shellPoints: number;
  levels: number;
  fieldCell: number;
  removable: boolean;
  elastic: ElasticInfo | null; // null: it is rigid
  import: ImportInfo | null; // null: it was not dropped here
}

export type ImportSource = 'stated' | 'guessed' | 'given';

// What was taken for the unit and the up axis of a dropped file.
export interface ImportInfo {
  unit: string;
  unitFrom: ImportSource;
  guess: string; // why this unit, if it was guessed
  up: string;
  upFrom: ImportSource;
  warnings: string[];
}

export type Motion = 'fixed' | 'path' | 'free';

export interface BodyInfo {
  id: number;
  name: string;
  parts: number[];
  motion: Motion;
  mass: number; // kilograms; 0 unless it is free
  density: number; // kg/m³
  pose: Pose; // at the start
  graspable: boolean;
  copy: boolean; // it can be copied
  bendable: boolean; // it can be made to bend
  removable: boolean;
}

export interface TaskInfo {
  title: string;
  body: number;
  target: Pose;
}

export interface Person {
  participant: number;
  name: string;
  color: string;
  kind: 'page' | 'device' | 'script' | 'peer';
}

export interface Settings {
  contactStiffness: number;
  maxForce: number;
  budget: number; // microseconds
  nodes: number; // that fit into the budget on the server's machine; 0 = not known
  ranges: Record<SettingKey, [low: number, high: number]>; // what the server and its device allow
}
export type SettingKey = 'contact_stiffness' | 'max_force' | 'budget_us';

export interface Scene {
  generation: number;
  name: string;
  title: string;
  summary: string;
  bounds: Bounds;
  parts: PartInfo[];
  bodies: BodyInfo[];
  task: TaskInfo | null;
  gravity: number; // m/s², downwards
  maxForce: number; // that a hand may feel, newtons
  maxTorque: number; // newton metres
}

export interface RecordingEntry {
  id: string;
  scene: string;
  seconds: number;
  peakForce: number;
  bytes: number;
  recovered: boolean; // it breaks off where the program that made it was ended
}

export type Rights = 'own' | 'hand' | 'watch';

export interface Hello {
  type: 'hello';
  protocol: number;
  version: string;
  participant: number; // this page's own
  rights: Rights; // of the link by which it came
  features: string[];
  materials: MaterialInfo[]; // that bodies can be made of which bend
  uploadBytes: number;
}

export interface MaterialInfo {
  name: string;
  young: number; // Pa
}

export interface Job {
  type: 'job';
  job: number;
  name: string;
  stage: string;
  progress: number;
  state: 'running' | 'done' | 'failed' | 'cancelled';
  reason: string;
}

export interface HandNews {
  type: 'hand';
  hand: number; // 0 if it was refused
  state: 'granted' | 'refused' | 'released' | 'lost';
  body: number;
  point: Vec3; // where the body is held, in its own frame
  reason: string;
}

// A device at the server's machine.
export interface DeviceInfo {
  device: number; // its number; 0 = it does not take part
  name: string;
  participant: number; // as in people
  motors: boolean;
  state: (typeof kDeviceStates)[number];
  body: number; // that it holds; 0 = none
  force: number; // newtons
  rate: number; // cycles a second
  reason: string; // a sentence, if there is something to say
}

const kDeviceStates = ['idle', 'ready', 'off', 'lost', 'faulty', 'disabled', 'unguarded', 'halted', 'hangs', 'refused'] as const;

export type Message =
  | Hello
  | Job
  | { type: 'scenes' }
  | { type: 'scene'; generation: number; name: string }
  | { type: 'people'; people: Person[] }
  | { type: 'devices'; devices: DeviceInfo[] }
  | HandNews
  | { type: 'world'; gravity: number }
  | { type: 'body'; body: number; motion: Motion; mass: number; density: number; graspable: boolean }
  | { type: 'recording'; active: boolean; seconds: number }
  | { type: 'recordings'; recordings: RecordingEntry[] }
  | { type: 'settings'; settings: Settings }
  | { type: 'reply'; id: number; ok: boolean; reason: string; code: string } // code: 'unkept', if changes would be lost
  | { type: 'error'; reason: string }
  | ShareMessage
  | { type: 'unknown' };

export type Command = { id?: number } & (
  | { type: 'hello'; protocol: number; features: string[]; name: string }
  | { type: 'view'; traversed?: boolean; near?: boolean; fps?: number }
  | { type: 'open_scene'; name: string; lose_changes?: boolean }
  | { type: 'delete_scene'; name: string }
  | { type: 'reset' | 'record_start' | 'record_stop' | 'task_reset' }
  | { type: 'grasp'; body: number; point?: Vec3 }
  | { type: 'release_hand'; hand?: number } // without one: whatever this page holds
  | { type: 'device'; device: number; on: boolean }
  | { type: 'world'; gravity: number }
  | { type: 'set_body'; body: number; mass?: number; density?: number; motion?: 'free' | 'fixed' }
  | { type: 'copy_body' | 'remove_body'; body: number }
  | { type: 'reimport'; body: number; unit?: string; up?: string }
  | { type: 'bend'; body: number; material: string; young?: number; anchors?: string[]; law?: string; coordinates?: number; tets?: number } // '': rigid again
  | { type: 'settings'; contact_stiffness?: number; max_force?: number; budget_us?: number }
  | { type: 'delete_recording'; recording: string }
  | { type: 'cancel_job'; job: number }
  | ShareCommand
);

const kMotions = ['fixed', 'path', 'free'] as const;

export function parseMessage(text: string): Decoded<Message> {
  const json = parseObject(text);
  if (!json) return { ok: false, error: 'a text message is not a JSON object' };
  return { ok: true, value: messageOf(json) };
}

function deviceOf(json: Json): DeviceInfo {
  return {
    device: number(json.device),
    name: string(json.name),
    participant: number(json.participant),
    motors: json.motors === true,
    state: oneOf(json.state, kDeviceStates, 'lost'),
    body: number(json.body),
    force: number(json.force),
    rate: number(json.rate),
    reason: string(json.reason),
  };
}

function messageOf(json: Json): Message {
  switch (json.type) {
    case 'hello':
      return {
        type: 'hello',
        protocol: number(json.protocol),
        version: string(json.version),
        participant: number(json.participant),
        rights: oneOf(json.rights, ['own', 'hand', 'watch'], 'own'),
        features: array(json.features).map((entry) => string(entry)),
        materials: array(json.materials).map((entry) => materialOf(object(entry))),
        uploadBytes: number(object(json.limits).upload_bytes, 256 * 1024 * 1024),
      };
    case 'scenes':
      return { type: 'scenes' };
    case 'scene':
      return { type: 'scene', generation: number(json.generation), name: string(json.name) };
    case 'people':
      return { type: 'people', people: array(json.people).map((entry) => personOf(object(entry))) };
    case 'devices':
      return { type: 'devices', devices: array(json.devices).map((entry) => deviceOf(object(entry))) };
    case 'hand':
      return {
        type: 'hand',
        hand: number(json.hand),
        state: oneOf(json.state, ['granted', 'refused', 'released', 'lost'], 'lost'),
        body: number(json.body),
        point: vector(json.point, [0, 0, 0]) as Vec3,
        reason: string(json.reason),
      };
    case 'world':
      return { type: 'world', gravity: number(json.gravity) };
    case 'body':
      return {
        type: 'body',
        body: number(json.body),
        motion: oneOf(json.motion, kMotions, 'fixed'),
        mass: number(json.mass),
        density: number(json.density),
        graspable: json.graspable === true,
      };
    case 'job':
      return {
        type: 'job',
        job: number(json.job),
        name: string(json.name),
        stage: string(json.stage),
        progress: Math.min(1, Math.max(0, number(json.progress))),
        state: oneOf(json.state, ['running', 'done', 'failed', 'cancelled'], 'running'),
        reason: string(json.reason),
      };
    case 'recording':
      return { type: 'recording', active: json.active === true, seconds: number(json.seconds) };
    case 'recordings':
      return { type: 'recordings', recordings: array(json.recordings).map(recordingOf) };
    case 'settings':
      return { type: 'settings', settings: settingsOf(json) };
    case 'reply':
      return { type: 'reply', id: number(json.id), ok: json.ok === true, reason: string(json.reason), code: string(json.code) };
    case 'error':
      return { type: 'error', reason: string(json.reason, 'The server reported an error without saying which.') };
    default:
      return shareMessageOf(json) ?? { type: 'unknown' };
  }
}

export function parseScene(json: unknown): Decoded<Scene> {
  if (!isObject(json)) return { ok: false, error: 'the scene is not a JSON object' };
  return {
    ok: true,
    value: {
      generation: number(json.generation),
      name: string(json.name),
      title: string(json.title, string(json.name)),
      summary: string(json.summary),
      bounds: boundsOf(json.bounds),
      parts: array(json.parts).map((entry) => partOf(object(entry))),
      bodies: array(json.bodies).map((entry) => bodyOf(object(entry))),
      task: isObject(json.task) ? taskOf(json.task) : null,
      gravity: number(json.gravity),
      maxForce: number(object(json.settings).max_force, 8),
      maxTorque: number(json.max_torque, 0.3),
    },
  };
}

export function parseScenes(json: unknown): SceneEntry[] {
  return array(object(json).scenes).map((value) => {
    const entry = object(value);
    const name = string(entry.name);
    return {
      name,
      title: string(entry.title, name),
      summary: string(entry.summary),
      thumbnail: string(entry.thumbnail),
      saved: entry.saved === true,
      unsaved: entry.unsaved === true,
    };
  });
}

function partOf(part: Json): PartInfo {
  return {
    id: number(part.id),
    body: number(part.body),
    name: string(part.name, 'part'),
    role: part.role === 'moving' ? 'moving' : 'static',
    color: colorOf(part.color),
    pose: poseOf(part.pose),
    bounds: boundsOf(part.bounds),
    vertices: number(part.vertices),
    triangles: number(part.triangles),
    decimated: part.decimated === true,
    shellPoints: number(part.shell_points),
    levels: number(part.levels),
    fieldCell: number(part.field_cell),
    removable: part.removable === true,
    elastic: isObject(part.elastic) ? elasticOf(part.elastic) : null,
    import: isObject(part.import) ? importOf(part.import) : null,
  };
}

function importOf(json: Json): ImportInfo {
  return {
    unit: string(json.unit, ''),
    unitFrom: oneOf(json.unit_from, ['stated', 'guessed', 'given'], 'guessed'),
    guess: string(json.guess, ''),
    up: oneOf(json.up, ['x', 'y', 'z'], 'z'),
    upFrom: oneOf(json.up_from, ['stated', 'guessed', 'given'], 'guessed'),
    warnings: array(json.warnings).map((warning) => string(warning, '')),
  };
}

function elasticOf(elastic: Json): ElasticInfo {
  return {
    law: oneOf(elastic.law, ['stvk', 'warped'], 'stvk'),
    coordinates: number(elastic.coordinates),
    tets: number(elastic.tets),
    anchored: elastic.anchored === true,
    material: string(elastic.material, ''),
    young: number(elastic.young),
    anchors: array(elastic.anchors).map((anchor) => string(anchor, '')),
  };
}

function bodyOf(body: Json): BodyInfo {
  return {
    id: number(body.id),
    name: string(body.name, 'body'),
    parts: array(body.parts).map((entry) => number(entry)),
    motion: oneOf(body.motion, kMotions, 'fixed'),
    mass: number(body.mass),
    density: number(body.density),
    pose: poseOf(body.pose),
    graspable: body.graspable === true,
    copy: body.copy === true,
    bendable: body.bendable === true,
    removable: body.removable === true,
  };
}

function materialOf(material: Json): MaterialInfo {
  return { name: string(material.name), young: number(material.young, 1e6) };
}

function taskOf(task: Json): TaskInfo {
  return { title: string(task.title, 'Task'), body: number(task.body), target: poseOf(task.target) };
}

function personOf(person: Json): Person {
  const participant = number(person.participant);
  return {
    participant,
    name: string(person.name, `Guest ${participant}`),
    color: colorOf(person.color),
    kind: oneOf(person.kind, ['page', 'device', 'script', 'peer'], 'page'),
  };
}

function settingsOf(json: Json): Settings {
  return {
    contactStiffness: number(json.contact_stiffness),
    maxForce: number(json.max_force),
    budget: number(json.budget_us),
    nodes: number(json.budget_nodes),
    ranges: {
      contact_stiffness: rangeOf(json, 'contact_stiffness'),
      max_force: rangeOf(json, 'max_force'),
      budget_us: rangeOf(json, 'budget_us'),
    },
  };
}

// Without a range nothing but the value itself may be chosen.
function rangeOf(settings: Json, key: SettingKey): [number, number] {
  const [low, high] = array(object(settings.ranges)[key]);
  return [number(low, number(settings[key])), number(high, number(settings[key]))];
}

function recordingOf(value: unknown): RecordingEntry {
  const entry = object(value);
  return {
    id: string(entry.id),
    scene: string(entry.scene),
    seconds: number(entry.seconds),
    peakForce: number(entry.peak_force),
    bytes: number(entry.bytes),
    recovered: entry.recovered === true,
  };
}

function poseOf(value: unknown): Pose {
  const pose = object(value);
  return { position: vector(pose.position, [0, 0, 0]) as Vec3, rotation: vector(pose.rotation, [1, 0, 0, 0]) as Quat };
}

function boundsOf(value: unknown): Bounds {
  const bounds = object(value);
  return {
    min: vector(bounds.min, [-0.1, -0.1, -0.1]) as Vec3,
    max: vector(bounds.max, [0.1, 0.1, 0.1]) as Vec3,
  };
}
