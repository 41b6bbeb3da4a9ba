// Binary messages of docs/viewer-protocol.md. Where each number lies is in wire-layout.ts, which is generated.
//
// Decoders never throw and never read past the end: whatever arrives, they answer with a value or with a reason. Arrays of
// points are views into the received buffer, so decoding a frame costs the same however many points it carries.
import {
  kBendingEntryBytes,
  kBodyEntryBytes,
  kClockEntryBytes,
  kContactEntryBytes,
  kCoordinateEntryBytes,
  kHandEntryBytes,
  kHandInputBytes,
  kMeshHeadBytes,
  kMeshHeadMagic,
  kMessageHeadBytes,
  kMessageHeadMagic,
  kNearHeadBytes,
  kRecordingHeadBytes,
  kRecordingHeadMagic,
  kSectionHeadBytes,
  kTaskEntryBytes,
  kTraversedEntryBytes,
  kVersion,
  MessageType,
  readBendingEntry,
  readBodyEntry,
  readClockEntry,
  readCoordinateEntry,
  readHandEntry,
  readMeshHead,
  readMessageHead,
  readNearHead,
  readRecordingHead,
  readSectionHead,
  readTaskEntry,
  SectionType,
  writeHandInput,
  writeMessageHead,
  type BodyEntry,
  type ClockEntry,
  type HandEntry,
  type MessageHead,
  type TaskEntry,
} from './wire-layout';
import type { Pose } from './wire-bytes';

export { BodyFlag, BodyMotion, ClockFlag, HandFlag, HolderKind, kVersion, TaskState } from './wire-layout';
export type { BodyEntry, HandEntry, TaskEntry } from './wire-layout';
export type { Pose, Quat, Vec3 } from './wire-bytes';

export interface StateFrame extends ClockEntry {
  kind: 'state';
  sequence: number;
  generation: number;
  hands: HandEntry[];
  bodies: BodyEntry[];
  task: TaskEntry | null;
  contacts: Float32Array; // x y z depth, repeated
  traversed: Float32Array; // x y z level, repeated
  bending: Bending[];
}

// How an elastic body is bent.
export interface Bending {
  body: number;
  q: Float32Array; // coordinates, √kg m
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

export const failed = (error: string): { ok: false; error: string } => ({ ok: false, error });

export function decodeFrame(buffer: ArrayBuffer): Decoded<StateFrame | NearFrame | UnknownFrame> {
  return decodeAt(buffer, 0, buffer.byteLength);
}

// Decodes the message in bytes [start, end) of the buffer; its own length must fill exactly that.
function decodeAt(buffer: ArrayBuffer, start: number, end: number): Decoded<StateFrame | NearFrame | UnknownFrame> {
  const size = end - start;
  if (size < kMessageHeadBytes) return failed(`a message of ${size} bytes is shorter than its header`);
  const view = new DataView(buffer, start, size);
  if (!startsWith(view, kMessageHeadMagic)) return failed('a message does not start with "CT"');
  const head = readMessageHead(view, 0);
  if (head.version !== kVersion) return failed(`the server speaks version ${head.version}, this page version ${kVersion}`);
  if (head.length !== size) return failed(`a message says ${head.length} bytes and has ${size}`);
  if (head.type === MessageType.state) return decodeState(buffer, start, view, head);
  if (head.type === MessageType.near) return decodeNear(buffer, start, view, head);
  return { ok: true, value: { kind: 'unknown', type: head.type } };
}

interface Section {
  at: number; // of its first entry
  entryBytes: number;
  count: number;
}

// The least that an entry of each known section holds.
const kEntryBytes: Record<number, number> = {
  [SectionType.clock]: kClockEntryBytes,
  [SectionType.hands]: kHandEntryBytes,
  [SectionType.bodies]: kBodyEntryBytes,
  [SectionType.contacts]: kContactEntryBytes,
  [SectionType.traversed]: kTraversedEntryBytes,
  [SectionType.task]: kTaskEntryBytes,
  [SectionType.bending]: kBendingEntryBytes,
  [SectionType.coordinates]: kCoordinateEntryBytes,
};

// The known sections of a state frame; those of a later server are skipped.
function sectionsOf(view: DataView): Decoded<Map<number, Section>> {
  const sections = new Map<number, Section>();
  let at = kMessageHeadBytes;
  while (at < view.byteLength) {
    if (view.byteLength - at < kSectionHeadBytes) return failed('a state frame ends within a section');
    const { type, entryBytes, count } = readSectionHead(view, at);
    at += kSectionHeadBytes;
    // A count is below 2^32 and an entry below 2^16 bytes, so this stays exact in a double.
    const bytes = 4 * Math.ceil((entryBytes * count) / 4);
    if (bytes > view.byteLength - at) return failed(`section ${type} announces ${bytes} bytes, more than the frame has`);
    const least = kEntryBytes[type];
    if (least !== undefined) {
      if (entryBytes < least) return failed(`an entry of section ${type} has ${entryBytes} bytes instead of ${least}`);
      if (sections.has(type)) return failed(`section ${type} comes twice`);
      sections.set(type, { at, entryBytes, count });
    }
    at += bytes;
  }
  return { ok: true, value: sections };
}

function entriesOf<T>(view: DataView, section: Section | undefined, read: (view: DataView, at: number) => T): T[] {
  if (!section) return [];
  return Array.from({ length: section.count }, (_, i) => read(view, section.at + i * section.entryBytes));
}

function decodeState(buffer: ArrayBuffer, start: number, view: DataView, head: MessageHead): Decoded<StateFrame> {
  const sections = sectionsOf(view);
  if (!sections.ok) return sections;
  const section = (type: SectionType) => sections.value.get(type);
  const clock = entriesOf(view, section(SectionType.clock), readClockEntry)[0];
  if (!clock) return failed('a state frame has no clock');
  const hands = entriesOf(view, section(SectionType.hands), readHandEntry);
  for (const hand of hands) {
    if (!isPose(hand.pose) || !isPose(hand.grip)) return failed('a hand is not finite');
    if (![...hand.force, ...hand.torque].every(Number.isFinite)) return failed('a force is not finite');
  }
  const bodies = entriesOf(view, section(SectionType.bodies), readBodyEntry);
  if (!bodies.every((body) => isPose(body.pose))) return failed('a body is not finite');
  const task = entriesOf(view, section(SectionType.task), readTaskEntry)[0] ?? null;
  if (task && !isPose(task.target)) return failed('a target is not finite');
  const bending = bendingOf(view, section(SectionType.bending), section(SectionType.coordinates));
  if (!bending.ok) return bending;
  return {
    ok: true,
    value: {
      ...clock,
      kind: 'state',
      sequence: head.sequence,
      generation: head.generation,
      hands,
      bodies,
      task,
      contacts: points(buffer, start, section(SectionType.contacts)),
      traversed: points(buffer, start, section(SectionType.traversed)),
      bending: bending.value,
    },
  };
}

// The coordinates of all bodies lie one after another.
function bendingOf(view: DataView, bodies: Section | undefined, coordinates: Section | undefined): Decoded<Bending[]> {
  const entries = entriesOf(view, bodies, readBendingEntry);
  const total = entries.reduce((sum, { count }) => sum + count, 0);
  if (total !== (coordinates?.count ?? 0)) {
    return failed(`bodies are bent by ${total} coordinates, of which there are ${coordinates?.count ?? 0}`);
  }
  const values = Float32Array.from(entriesOf(view, coordinates, readCoordinateEntry), ({ value }) => value);
  if (!values.every(Number.isFinite)) return failed('a coordinate is not finite');
  let at = 0;
  return { ok: true, value: entries.map(({ body, count }) => ({ body, q: values.subarray(at, (at += count)) })) };
}

function decodeNear(buffer: ArrayBuffer, start: number, view: DataView, head: MessageHead): Decoded<NearFrame> {
  const size = view.byteLength;
  const before = kMessageHeadBytes + kNearHeadBytes;
  if (size < before) return failed(`a near frame of ${size} bytes is too short`);
  const { part, vertices, range } = readNearHead(view, kMessageHeadBytes);
  if (before + vertices !== size) return failed(`a near frame of ${size} bytes announces ${vertices} vertices`);
  if (!(range > 0 && Number.isFinite(range))) return failed('a near frame has no range');
  const { sequence, generation } = head;
  const distances = new Uint8Array(buffer, start + before, vertices);
  return { ok: true, value: { kind: 'near', sequence, generation, part, range, distances } };
}

export function decodeMesh(buffer: ArrayBuffer): Decoded<MeshData> {
  const size = buffer.byteLength;
  if (size < kMeshHeadBytes) return failed('a mesh is shorter than its head');
  const view = new DataView(buffer);
  if (!startsWith(view, kMeshHeadMagic)) return failed('a mesh does not start with "CTM1"');
  const { vertices, triangles, generation } = readMeshHead(view, 0);
  const expected = kMeshHeadBytes + 12 * vertices + 12 * triangles;
  if (expected !== size) return failed(`a mesh of ${size} bytes announces ${expected}`);
  const positions = new Float32Array(buffer, kMeshHeadBytes, 3 * vertices);
  const indices = new Uint32Array(buffer, kMeshHeadBytes + 12 * vertices, 3 * triangles);
  if (!indices.every((index) => index < vertices)) return failed('a mesh refers to a vertex that it does not have');
  if (!positions.every(Number.isFinite)) return failed('a mesh has a vertex that is not finite');
  return { ok: true, value: { generation, positions, indices } };
}

export function decodeRecording(buffer: ArrayBuffer): Decoded<Recording> {
  const size = buffer.byteLength;
  if (size < kRecordingHeadBytes) return failed('a recording is shorter than its head');
  const view = new DataView(buffer);
  if (!startsWith(view, kRecordingHeadMagic)) return failed('a recording does not start with "CTR1"');
  const { frames: count, duration } = readRecordingHead(view, 0);
  if (!(duration >= 0 && Number.isFinite(duration))) return failed('a recording has no duration');
  const frames: StateFrame[] = [];
  let offset = kRecordingHeadBytes;
  while (offset < size) {
    if (size - offset < kMessageHeadBytes) return failed('a recording ends within a frame');
    const { length } = readMessageHead(view, offset);
    if (length < kMessageHeadBytes || length > size - offset) return failed('a recording ends within a frame');
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
  const length = kMessageHeadBytes + kHandInputBytes;
  const buffer = new ArrayBuffer(length);
  const view = new DataView(buffer);
  const { sequence, generation } = input;
  writeMessageHead(view, 0, { version: kVersion, type: MessageType.handInput, length, sequence, generation });
  writeHandInput(view, kMessageHeadBytes, input);
  return buffer;
}

function isPose(pose: Pose): boolean {
  return pose.position.every(Number.isFinite) && pose.rotation.every(Number.isFinite);
}

export function startsWith(view: DataView, text: string): boolean {
  return [...text].every((letter, i) => view.getUint8(i) === letter.charCodeAt(0));
}

// Four numbers for each point: a view if alignment and entry size allow one, otherwise a copy.
function points(buffer: ArrayBuffer, start: number, section: Section | undefined): Float32Array {
  if (!section) return new Float32Array();
  const at = start + section.at;
  if (section.entryBytes === kContactEntryBytes && at % 4 === 0) return new Float32Array(buffer, at, 4 * section.count);
  const view = new DataView(buffer, at, section.entryBytes * section.count);
  return Float32Array.from({ length: 4 * section.count }, (_, i) =>
    view.getFloat32((i >> 2) * section.entryBytes + 4 * (i & 3), true),
  );
}
