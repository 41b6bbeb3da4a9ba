// Binary messages as the server makes them, written from docs/viewer-protocol.md on its own and not from the page's decoder.
export function encodeState(frame) {
  const { hands, contacts, traversed } = frame;
  const buffer = Buffer.alloc(64 + 104 * hands.length + 16 * (contacts.length + traversed.length));
  head(buffer, 1, frame.sequence, frame.generation);
  buffer.writeDoubleLE(frame.time, 16);
  buffer.writeUInt32LE(frame.flags, 24);
  buffer.writeUInt8(hands.length, 28);
  buffer.writeUInt16LE(frame.viewers, 30);
  buffer.writeFloatLE(frame.cycleMedian, 32);
  buffer.writeFloatLE(frame.cycleLongest, 36);
  buffer.writeUInt32LE(frame.cycles >>> 0, 40);
  buffer.writeUInt32LE(frame.missed, 44);
  buffer.writeFloatLE(frame.clearance, 48);
  buffer.writeUInt32LE(contacts.length, 52);
  buffer.writeUInt32LE(traversed.length, 56);
  let at = 64;
  for (const hand of hands) {
    buffer.writeUInt8(hand.hand ?? 0, at);
    buffer.writeUInt8(hand.holder, at + 1);
    buffer.writeUInt8(hand.flags, at + 2);
    buffer.writeUInt8(hand.level, at + 3);
    buffer.writeUInt32LE(hand.part, at + 4);
    const { device, object, force, torque } = hand;
    floats(buffer, at + 8, [...device.position, ...device.rotation, ...object.position, ...object.rotation]);
    floats(buffer, at + 64, [...force, ...torque]);
    buffer.writeUInt32LE(hand.visited, at + 88);
    buffer.writeUInt32LE(hand.inContact ?? contacts.length, at + 92);
    buffer.writeFloatLE(hand.deepest, at + 96);
    buffer.writeUInt32LE(hand.input, at + 100);
    at += 104;
  }
  for (const point of [...contacts, ...traversed]) {
    floats(buffer, at, point);
    at += 16;
  }
  return buffer;
}

export function encodeNear(part, distances, sequence, generation) {
  const range = 0.015;
  const buffer = Buffer.alloc(32 + distances.length);
  head(buffer, 2, sequence, generation);
  buffer.writeUInt32LE(part, 16);
  buffer.writeUInt32LE(distances.length, 20);
  buffer.writeFloatLE(range, 24);
  distances.forEach((distance, i) => {
    buffer[32 + i] = Math.round(255 * Math.min(1, Math.max(0, distance / range)));
  });
  return buffer;
}

export function encodeMesh({ positions, indices }, generation) {
  const buffer = Buffer.alloc(16 + 4 * positions.length + 4 * indices.length);
  buffer.write('CTM1', 0, 'latin1');
  buffer.writeUInt32LE(positions.length / 3, 4);
  buffer.writeUInt32LE(indices.length / 3, 8);
  buffer.writeUInt32LE(generation, 12);
  floats(buffer, 16, positions);
  indices.forEach((index, i) => buffer.writeUInt32LE(index, 16 + 4 * positions.length + 4 * i));
  return buffer;
}

export function encodeRecording(frames, seconds) {
  const start = Buffer.alloc(16);
  start.write('CTR1', 0, 'latin1');
  start.writeUInt32LE(frames.length, 4);
  start.writeDoubleLE(seconds, 8);
  return Buffer.concat([start, ...frames.map(({ frame }) => frame)]);
}

function head(buffer, type, sequence, generation) {
  buffer.write('CT', 0, 'latin1');
  buffer.writeUInt8(1, 2);
  buffer.writeUInt8(type, 3);
  buffer.writeUInt32LE(buffer.length, 4);
  buffer.writeUInt32LE(sequence >>> 0, 8);
  buffer.writeUInt32LE(generation, 12);
}

function floats(buffer, at, values) {
  values.forEach((value, i) => buffer.writeFloatLE(value, at + 4 * i));
}
