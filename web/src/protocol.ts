// Binary messages of docs/viewer-protocol.md: little-endian, fixed layouts, SI units, quaternions as w x y z.
//
// Decoders never throw and never read past the end: whatever arrives, they answer with a value or with a reason. Arrays of
// points are views into the received buffer, so decoding a frame costs the same however many points it carries.

export const kVersion = 1;
export const kHeaderBytes = 16;
export const kStateBytes = 64;
export const kHandBytes = 104;
export const kBodyBytes = 32;
export const kPointBytes = 16;
export const kInputBytes = 48;
const kNearBytes = 32;
const kMeshBytes = 16;
const kRecordingBytes = 16;

export const enum MessageType {
  state = 1,
  near = 2,
  input = 16,
}

export const enum StateFlag {
  running = 1,
  recording = 2,
  replay = 4,
  moreContacts = 16,
  moreTraversed = 32,
}

export const enum HandFlag {
  forceLimited = 1,
  levelLimited = 2,
}

export const enum Holder {
  nobody = 0,
  me = 1,
  viewer = 2,
  device = 3,
  script = 4,
}

export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number]; // w x y z

export interface Pose {
  position: Vec3;
  rotation: Quat;
}

export interface HandState {
  hand: number;
  holder: Holder;
  flags: number;
  level: number;
  part: number;
  device: Pose; // where the hand is
  object: Pose; // where contact lets the object be
  force: Vec3; // on the hand
  torque: Vec3; // on the hand, about the object's position
  visited: number;
  inContact: number;
  deepest: number;
  input: number; // sequence of the last hand input applied
}

export interface BodyState {
  part: number;
  pose: Pose;
}

export interface StateFrame {
  kind: 'state';
  sequence: number;
  generation: number;
  time: number;
  flags: number;
  viewers: number;
  cycleMedian: number; // microseconds
  cycleLongest: number; // microseconds
  cycles: number;
  missed: number;
  clearance: number; // metres; NaN = not known, negative = penetration
  dropped: number;
  hands: HandState[];
  bodies: BodyState[];
  contacts: Float32Array; // x y z depth, repeated
  traversed: Float32Array; // x y z level, repeated
}

export interface NearFrame {
  kind: 'near';
  sequence: number;
  generation: number;
  part: number;
  range: number;
  distances: Uint8Array; // 0 = touching, 255 = range or farther
}

// A type that this page does not know yet: to be ignored, as the specification asks.
export interface UnknownFrame {
  kind: 'unknown';
  type: number;
}

export interface MeshData {
  generation: number;
  positions: Float32Array;
  indices: Uint32Array;
}

export interface Recording {
  duration: number;
  frames: StateFrame[];
}

export interface HandInput {
  sequence: number;
  generation: number;
  hand: number;
  buttons: number;
  pose: Pose;
}

export type Decoded<T> = { ok: true; value: T } | { ok: false; error: string };

const failed = (error: string): { ok: false; error: string } => ({ ok: false, error });

export function decodeFrame(buffer: ArrayBuffer): Decoded<StateFrame | NearFrame | UnknownFrame> {
  return decodeAt(buffer, 0, buffer.byteLength);
}

// Decodes the message in bytes [start, end) of the buffer; its own length must fill exactly that.
function decodeAt(buffer: ArrayBuffer, start: number, end: number): Decoded<StateFrame | NearFrame | UnknownFrame> {
  const size = end - start;
  if (size < kHeaderBytes) return failed(`a message of ${size} bytes is shorter than its header`);
  const view = new DataView(buffer, start, size);
  if (view.getUint8(0) !== 0x43 || view.getUint8(1) !== 0x54) return failed('a message does not start with "CT"');
  if (view.getUint8(2) !== kVersion) return failed(`the server speaks version ${view.getUint8(2)}, this page version 1`);
  if (view.getUint32(4, true) !== size) {
    return failed(`a message says ${view.getUint32(4, true)} bytes and has ${size}`);
  }
  const type = view.getUint8(3);
  if (type === MessageType.state) return decodeState(buffer, start, view);
  if (type === MessageType.near) return decodeNear(buffer, start, view);
  return { ok: true, value: { kind: 'unknown', type } };
}

function decodeState(buffer: ArrayBuffer, start: number, view: DataView): Decoded<StateFrame> {
  const size = view.byteLength;
  if (size < kStateBytes) return failed(`a state frame of ${size} bytes is too short`);
  const handCount = view.getUint8(28);
  const bodyCount = view.getUint8(29);
  const contactCount = view.getUint32(52, true);
  const traversedCount = view.getUint32(56, true);
  // Counts are at most 2^32, so this sum stays exact in a double.
  const expected =
    kStateBytes + kHandBytes * handCount + kBodyBytes * bodyCount + kPointBytes * (contactCount + traversedCount);
  if (expected !== size) return failed(`a state frame of ${size} bytes announces ${expected}`);

  const hands: HandState[] = [];
  let offset = kStateBytes;
  for (let i = 0; i < handCount; ++i, offset += kHandBytes) {
    const hand: HandState = {
      hand: view.getUint8(offset),
      holder: view.getUint8(offset + 1),
      flags: view.getUint8(offset + 2),
      level: view.getUint8(offset + 3),
      part: view.getUint32(offset + 4, true),
      device: readPose(view, offset + 8),
      object: readPose(view, offset + 36),
      force: readVec3(view, offset + 64),
      torque: readVec3(view, offset + 76),
      visited: view.getUint32(offset + 88, true),
      inContact: view.getUint32(offset + 92, true),
      deepest: view.getFloat32(offset + 96, true),
      input: view.getUint32(offset + 100, true),
    };
    if (!isPose(hand.device) || !isPose(hand.object) || !hand.force.every(Number.isFinite)) {
      return failed('a hand is not finite');
    }
    if (!hand.torque.every(Number.isFinite)) return failed('a torque is not finite');
    hands.push(hand);
  }
  const bodies: BodyState[] = [];
  for (let i = 0; i < bodyCount; ++i, offset += kBodyBytes) {
    const body: BodyState = { part: view.getUint32(offset, true), pose: readPose(view, offset + 4) };
    if (!isPose(body.pose)) return failed('a body is not finite');
    bodies.push(body);
  }
  const contacts = floats(buffer, start + offset, contactCount * 4);
  offset += contactCount * kPointBytes;
  const traversed = floats(buffer, start + offset, traversedCount * 4);
  return {
    ok: true,
    value: {
      kind: 'state',
      sequence: view.getUint32(8, true),
      generation: view.getUint32(12, true),
      time: view.getFloat64(16, true),
      flags: view.getUint32(24, true),
      viewers: view.getUint16(30, true),
      cycleMedian: view.getFloat32(32, true),
      cycleLongest: view.getFloat32(36, true),
      cycles: view.getUint32(40, true),
      missed: view.getUint32(44, true),
      clearance: view.getFloat32(48, true),
      dropped: view.getUint32(60, true),
      hands,
      bodies,
      contacts,
      traversed,
    },
  };
}

function decodeNear(buffer: ArrayBuffer, start: number, view: DataView): Decoded<NearFrame> {
  const size = view.byteLength;
  if (size < kNearBytes) return failed(`a near frame of ${size} bytes is too short`);
  const count = view.getUint32(20, true);
  if (kNearBytes + count !== size) return failed(`a near frame of ${size} bytes announces ${count} vertices`);
  const range = view.getFloat32(24, true);
  if (!(range > 0 && Number.isFinite(range))) return failed('a near frame has no range');
  return {
    ok: true,
    value: {
      kind: 'near',
      sequence: view.getUint32(8, true),
      generation: view.getUint32(12, true),
      part: view.getUint32(16, true),
      range,
      distances: new Uint8Array(buffer, start + kNearBytes, count),
    },
  };
}

export function decodeMesh(buffer: ArrayBuffer): Decoded<MeshData> {
  const size = buffer.byteLength;
  if (size < kMeshBytes) return failed('a mesh is shorter than its head');
  const view = new DataView(buffer);
  if (!startsWith(view, 'CTM1')) return failed('a mesh does not start with "CTM1"');
  const vertices = view.getUint32(4, true);
  const triangles = view.getUint32(8, true);
  const expected = kMeshBytes + 12 * vertices + 12 * triangles;
  if (expected !== size) return failed(`a mesh of ${size} bytes announces ${expected}`);
  const positions = new Float32Array(buffer, kMeshBytes, 3 * vertices);
  const indices = new Uint32Array(buffer, kMeshBytes + 12 * vertices, 3 * triangles);
  if (!indices.every((index) => index < vertices)) return failed('a mesh refers to a vertex that it does not have');
  if (!positions.every(Number.isFinite)) return failed('a mesh has a vertex that is not finite');
  return { ok: true, value: { generation: view.getUint32(12, true), positions, indices } };
}

export function decodeRecording(buffer: ArrayBuffer): Decoded<Recording> {
  const size = buffer.byteLength;
  if (size < kRecordingBytes) return failed('a recording is shorter than its head');
  const view = new DataView(buffer);
  if (!startsWith(view, 'CTR1')) return failed('a recording does not start with "CTR1"');
  const count = view.getUint32(4, true);
  const duration = view.getFloat64(8, true);
  if (!(duration >= 0 && Number.isFinite(duration))) return failed('a recording has no duration');
  const frames: StateFrame[] = [];
  let offset = kRecordingBytes;
  while (offset < size) {
    if (size - offset < kHeaderBytes) return failed('a recording ends within a frame');
    const length = view.getUint32(offset + 4, true);
    if (length < kHeaderBytes || length > size - offset) return failed('a recording ends within a frame');
    const frame = decodeAt(buffer, offset, offset + length);
    if (!frame.ok) return frame;
    if (frame.value.kind === 'state') {
      if (!(frame.value.time >= (frames[frames.length - 1]?.time ?? 0))) return failed('a recording runs backwards');
      frames.push(frame.value);
    }
    offset += length;
  }
  if (frames.length !== count) return failed(`a recording announces ${count} frames and has ${frames.length}`);
  return { ok: true, value: { duration, frames } };
}

export function encodeInput(input: HandInput): ArrayBuffer {
  const buffer = new ArrayBuffer(kInputBytes);
  const view = new DataView(buffer);
  view.setUint8(0, 0x43);
  view.setUint8(1, 0x54);
  view.setUint8(2, kVersion);
  view.setUint8(3, MessageType.input);
  view.setUint32(4, kInputBytes, true);
  view.setUint32(8, input.sequence, true);
  view.setUint32(12, input.generation, true);
  view.setUint8(16, input.hand);
  view.setUint8(17, input.buttons);
  input.pose.position.forEach((value, i) => view.setFloat32(20 + 4 * i, value, true));
  input.pose.rotation.forEach((value, i) => view.setFloat32(32 + 4 * i, value, true));
  return buffer;
}

function readVec3(view: DataView, offset: number): Vec3 {
  return [view.getFloat32(offset, true), view.getFloat32(offset + 4, true), view.getFloat32(offset + 8, true)];
}

function readPose(view: DataView, offset: number): Pose {
  const [w, x, y] = readVec3(view, offset + 12);
  return { position: readVec3(view, offset), rotation: [w, x, y, view.getFloat32(offset + 24, true)] };
}

function isPose(pose: Pose): boolean {
  return pose.position.every(Number.isFinite) && pose.rotation.every(Number.isFinite);
}

function startsWith(view: DataView, text: string): boolean {
  return [...text].every((letter, i) => view.getUint8(i) === letter.charCodeAt(0));
}

// A view where alignment allows one, otherwise a copy (a recording may hold messages of odd length before this one).
function floats(buffer: ArrayBuffer, offset: number, count: number): Float32Array {
  if (offset % 4 === 0) return new Float32Array(buffer, offset, count);
  return new Float32Array(buffer.slice(offset, offset + 4 * count));
}
