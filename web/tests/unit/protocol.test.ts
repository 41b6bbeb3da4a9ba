// Bytes are laid out here by hand from docs/viewer-protocol.md, offset by offset, and not with the page's own encoder.
import { describe, expect, it } from 'vitest';
import { decodeFrame, decodeMesh, decodeRecording, encodeInput, type StateFrame } from '../../src/protocol';

const hex = (text: string) => Uint8Array.from(text.trim().split(/\s+/), (byte) => parseInt(byte, 16));
const bufferOf = (...pieces: Uint8Array[]) => {
  const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all.buffer;
};

// 1.0 = 00 00 80 3f, 2.0 = 00 00 00 40, -0.5 = 00 00 00 bf, 0.25 = 00 00 80 3e, 3.0 = 00 00 40 40 (IEEE 754, little-endian).
const kOne = '00 00 80 3f';
const kTwo = '00 00 00 40';
const kMinusHalf = '00 00 00 bf';
const kQuarter = '00 00 80 3e';
const kThree = '00 00 40 40';
const kZero = '00 00 00 00';

const kHead = '43 54 02 01  64 01 00 00  05 00 00 00  07 00 00 00'; // 356 bytes in all
const kClock = hex(`
  01 00 34 00 01 00 00 00
  00 00 00 00 00 00 f8 3f
  03 00 00 00  02 00 00 00
  ${kThree} ${kTwo}
  10 27 00 00  04 00 00 00
  ${kMinusHalf}
  09 00 00 00  c8 00 00 00  0d 00 00 00  03 00 00 00`);
const kHand = hex(`
  02 00 70 00 01 00 00 00
  06 00 00 00  0b 00 00 00  01 02 05 00  2a 00 00 00
  ${kOne} ${kTwo} ${kThree}  ${kOne} ${kZero} ${kZero} ${kZero}
  ${kTwo} ${kThree} ${kOne}  ${kZero} ${kOne} ${kZero} ${kZero}
  ${kMinusHalf} ${kZero} ${kQuarter}
  ${kZero} ${kOne} ${kZero}
  64 00 00 00  0c 00 00 00  ${kQuarter}  ff 00 00 00`);
const kBody = hex(`
  03 00 28 00 01 00 00 00
  2a 00 00 00  02 03 00 00  ${kThree} ${kTwo} ${kOne}  ${kOne} ${kZero} ${kZero} ${kZero}  ${kQuarter}`);
const kTask = hex(`
  06 00 38 00 01 00 00 00
  02 00 00 00  2a 00 00 00  ${kOne} ${kTwo} ${kThree} ${kQuarter} ${kOne}
  ${kThree} ${kTwo} ${kOne}  ${kOne} ${kZero} ${kZero} ${kZero}`);
const kContact = hex(`04 00 10 00 01 00 00 00  ${kOne} ${kTwo} ${kThree} ${kQuarter}`);
const kTraversed = hex(`05 00 10 00 01 00 00 00  ${kThree} ${kTwo} ${kOne} ${kTwo}`);
const kState = [hex(kHead), kClock, kHand, kBody, kTask, kContact, kTraversed];

// A state frame of these sections, with its length filled in.
const frameOf = (...sections: Uint8Array[]) => {
  const buffer = bufferOf(hex(kHead), ...sections);
  new DataView(buffer).setUint32(4, buffer.byteLength, true);
  return buffer;
};

const stateOf = (buffer: ArrayBuffer): StateFrame => {
  const decoded = decodeFrame(buffer);
  if (!decoded.ok) throw new Error(decoded.error);
  if (decoded.value.kind !== 'state') throw new Error('not a state frame');
  return decoded.value;
};
const state = () => stateOf(bufferOf(...kState));

// The same entry, announced and padded with this many bytes more.
const longer = (section: Uint8Array, more: number) => {
  const padded = new Uint8Array(section.length + 4 * Math.ceil(more / 4)).fill(0xee);
  padded.set(section);
  new DataView(padded.buffer).setUint16(2, section.length - 8 + more, true);
  return padded;
};

describe('A state frame', () => {
  it('has the length that the specification says', () => {
    // 16, then sections of 8 + 52, 8 + 112, 8 + 40, 8 + 56, 8 + 16, 8 + 16
    expect(bufferOf(...kState).byteLength).toBe(356);
    expect(frameOf(...kState.slice(1)).byteLength).toBe(356);
  });

  it('tells how bodies are bent', () => {
    const bodies = hex('07 00 08 00 02 00 00 00  2a 00 00 00 02 00 00 00  2b 00 00 00 01 00 00 00');
    const coordinates = hex(`08 00 04 00 03 00 00 00  ${kOne} ${kMinusHalf} ${kThree}`);
    const { bending } = stateOf(frameOf(kClock, bodies, coordinates));
    expect(bending.map(({ body, q }) => [body, ...q])).toEqual([
      [42, 1, -0.5],
      [43, 3],
    ]);
    expect(state().bending).toEqual([]);
    expect(stateOf(frameOf(kClock, longer(bodies.slice(0, 16).fill(1, 4, 5), 4), hex(`08 00 04 00 02 00 00 00 ${kOne} ${kTwo}`))).bending).toHaveLength(1);
    // One too few, none at all, one that is no number.
    expect(decodeFrame(frameOf(kClock, bodies, hex(`08 00 04 00 02 00 00 00 ${kOne} ${kTwo}`))).ok).toBe(false);
    expect(decodeFrame(frameOf(kClock, bodies)).ok).toBe(false);
    expect(decodeFrame(frameOf(kClock, coordinates)).ok).toBe(false);
    const nan = hex(`08 00 04 00 03 00 00 00  ${kOne} ${kTwo} 00 00 c0 7f`);
    expect(decodeFrame(frameOf(kClock, bodies, nan)).ok).toBe(false);
  });

  it('is read field by field', () => {
    const frame = state();
    expect(frame).toMatchObject({
      sequence: 5,
      generation: 7,
      time: 1.5,
      flags: 3,
      viewers: 2,
      cycleMedian: 3,
      cycleLongest: 2,
      cycles: 10000,
      missed: 4,
      clearance: -0.5,
      leftOut: 9,
      visited: 200,
      inContact: 13,
      stalls: 3,
    });
    expect(frame.hands).toEqual([
      {
        hand: 6,
        participant: 11,
        holder: 1,
        flags: 2,
        level: 5,
        body: 42,
        pose: { position: [1, 2, 3], rotation: [1, 0, 0, 0] },
        grip: { position: [2, 3, 1], rotation: [0, 1, 0, 0] },
        force: [-0.5, 0, 0.25],
        torque: [0, 1, 0],
        visited: 100,
        inContact: 12,
        deepest: 0.25,
        input: 255,
      },
    ]);
    const pose = { position: [3, 2, 1], rotation: [1, 0, 0, 0] };
    expect(frame.bodies).toEqual([{ body: 42, motion: 2, flags: 3, pose, speed: 0.25 }]);
    expect(frame.task).toEqual({
      state: 2,
      body: 42,
      positionError: 1,
      angleError: 2,
      positionTolerance: 3,
      angleTolerance: 0.25,
      seconds: 1,
      target: pose,
    });
    expect([...frame.contacts]).toEqual([1, 2, 3, 0.25]);
    expect([...frame.traversed]).toEqual([3, 2, 1, 2]);
  });

  it('needs a clock and nothing else', () => {
    expect(stateOf(frameOf(kClock))).toMatchObject({ hands: [], bodies: [], task: null, time: 1.5 });
    expect(stateOf(frameOf(kClock)).contacts.length).toBe(0);
    expect(decodeFrame(frameOf(kHand)).ok).toBe(false);
  });

  it('may have sections and fields that this page does not know', () => {
    const unknown = hex('4d 00 03 00 02 00 00 00  01 02 03 04 05 06 00 00'); // two entries of three bytes, padded
    const empty = hex('4e 00 00 00 ff ff ff ff'); // four billion entries of nothing
    const grown = frameOf(empty, longer(kClock, 5), unknown, longer(kHand, 8), longer(kBody, 1), longer(kTask, 4),
      longer(kContact, 12), unknown, kTraversed);
    expect(stateOf(grown)).toEqual(state());
  });

  it('reads several longer entries each at its place', () => {
    const two = hex(`04 00 14 00 02 00 00 00  ${kOne} ${kTwo} ${kThree} ${kQuarter} ff ff ff ff  ${kTwo} ${kTwo} ${kTwo} ${kOne} ff ff ff ff`);
    expect([...stateOf(frameOf(kClock, two)).contacts]).toEqual([1, 2, 3, 0.25, 2, 2, 2, 1]);
    const hands = bufferOf(hex('02 00 74 00 02 00 00 00'), kHand.slice(8), hex(kOne), kHand.slice(8), hex(kOne)); // each four bytes longer
    expect(stateOf(frameOf(kClock, new Uint8Array(hands))).hands).toEqual([state().hands[0], state().hands[0]]);
  });

  it('may say that the clearance is not known', () => {
    const bytes = new Uint8Array(bufferOf(...kState));
    bytes.set(hex('00 00 c0 7f'), 16 + 8 + 32); // NaN
    expect(Number.isNaN(stateOf(bytes.buffer).clearance)).toBe(true);
  });

  it('is refused when a pose is not finite', () => {
    const bytes = new Uint8Array(bufferOf(...kState));
    bytes.set(hex('00 00 80 7f'), 76 + 8 + 16); // infinity as the hand's x
    expect(decodeFrame(bytes.buffer).ok).toBe(false);
  });

  it('is refused when a section is cut, too large, too short in its entries or there twice', () => {
    const count = (section: Uint8Array, value: number) => {
      const changed = section.slice();
      new DataView(changed.buffer).setUint32(4, value, true);
      return changed;
    };
    const size = (section: Uint8Array, value: number) => {
      const changed = section.slice();
      new DataView(changed.buffer).setUint16(2, value, true);
      return changed;
    };
    expect(decodeFrame(frameOf(kClock, count(kContact, 2))).ok).toBe(false);
    expect(decodeFrame(frameOf(kClock, count(kContact, 0xffffffff))).ok).toBe(false);
    expect(decodeFrame(frameOf(kClock, size(kHand, 0xffff))).ok).toBe(false);
    expect(decodeFrame(frameOf(kClock, size(kHand, 111))).ok).toBe(false);
    expect(decodeFrame(frameOf(kClock, count(size(kHand, 0), 0xffffffff))).ok).toBe(false);
    expect(decodeFrame(frameOf(kClock, kHand, kHand)).ok).toBe(false);
    expect(decodeFrame(frameOf(kClock, hex('4d 00 01 00'))).ok).toBe(false);
    expect(decodeFrame(frameOf(count(kClock, 0))).ok).toBe(false);
  });

  it('is refused with another magic or version, and ignored with another type', () => {
    for (const [at, value] of [
      [0, 0x44],
      [1, 0x00],
      [2, 1],
    ] as const) {
      const bytes = new Uint8Array(bufferOf(...kState));
      bytes[at] = value;
      expect(decodeFrame(bytes.buffer).ok).toBe(false);
    }
    const bytes = new Uint8Array(bufferOf(...kState));
    bytes[3] = 99;
    expect(decodeFrame(bytes.buffer)).toEqual({ ok: true, value: { kind: 'unknown', type: 99 } });
  });
});

const kNear = [
  hex(`43 54 02 02  23 00 00 00  01 00 00 00  07 00 00 00  2a 00 00 00  03 00 00 00 ${kQuarter} ${kZero}`),
  hex('00 80 ff'),
];

describe('A near frame', () => {
  it('is read field by field', () => {
    const decoded = decodeFrame(bufferOf(...kNear));
    expect(decoded).toMatchObject({ ok: true, value: { kind: 'near', part: 42, range: 0.25, generation: 7 } });
    if (decoded.ok && decoded.value.kind === 'near') expect([...decoded.value.distances]).toEqual([0, 128, 255]);
  });

  it('is refused without a range', () => {
    const bytes = new Uint8Array(bufferOf(...kNear));
    bytes.set(hex(kZero), 24);
    expect(decodeFrame(bytes.buffer).ok).toBe(false);
  });
});

const kMesh = [
  hex('43 54 4d 31  03 00 00 00  01 00 00 00  07 00 00 00'),
  hex(`${kZero} ${kZero} ${kZero} ${kOne} ${kZero} ${kZero} ${kZero} ${kOne} ${kZero}`),
  hex('00 00 00 00 01 00 00 00 02 00 00 00'),
];

describe('A mesh', () => {
  it('is read field by field', () => {
    const mesh = decodeMesh(bufferOf(...kMesh));
    if (!mesh.ok) throw new Error(mesh.error);
    expect(mesh.value.generation).toBe(7);
    expect([...mesh.value.positions]).toEqual([0, 0, 0, 1, 0, 0, 0, 1, 0]);
    expect([...mesh.value.indices]).toEqual([0, 1, 2]);
  });

  it('is refused when a triangle refers to a vertex that is not there', () => {
    const bytes = new Uint8Array(bufferOf(...kMesh));
    bytes[bytes.length - 4] = 3;
    expect(decodeMesh(bytes.buffer).ok).toBe(false);
  });
});

const kRecordingHead = hex('43 54 52 31  02 00 00 00  00 00 00 00 00 00 00 40'); // two frames, 2 s

describe('A recording', () => {
  it('holds its frames in order', () => {
    const recording = decodeRecording(bufferOf(kRecordingHead, ...kState, ...kState));
    if (!recording.ok) throw new Error(recording.error);
    expect(recording.value.duration).toBe(2);
    expect(recording.value.frames).toEqual([state(), state()]);
  });

  it('is refused when it is cut, runs backwards or has fewer frames than it says', () => {
    const later = new Uint8Array(bufferOf(...kState));
    later[16 + 8 + 7] = 0x40; // 1.5 becomes 98304: one exponent bit more
    expect(decodeRecording(bufferOf(kRecordingHead, later, ...kState)).ok).toBe(false);
    expect(decodeRecording(bufferOf(kRecordingHead, ...kState)).ok).toBe(false);
    const whole = bufferOf(kRecordingHead, ...kState, ...kState);
    expect(decodeRecording(whole.slice(0, whole.byteLength - 1)).ok).toBe(false);
  });
});

describe('A hand input', () => {
  it('is written byte for byte as the specification says', () => {
    const buffer = encodeInput({
      sequence: 5,
      generation: 7,
      hand: 0x10203,
      buttons: 2,
      pose: { position: [1, 2, 3], rotation: [0.25, -0.5, 0, 1] },
    });
    const expected = hex(`
      43 54 02 10  34 00 00 00  05 00 00 00  07 00 00 00  03 02 01 00  02 00 00 00
      ${kOne} ${kTwo} ${kThree}  ${kQuarter} ${kMinusHalf} ${kZero} ${kOne}`);
    expect([...new Uint8Array(buffer)]).toEqual([...expected]);
  });
});

// A small generator with a seed, so that a failure can be repeated.
function randomBytes(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 24;
  };
}

describe('Decoders under fire', () => {
  const decoders = [decodeFrame, decodeMesh, decodeRecording];
  const samples = [
    bufferOf(...kState),
    bufferOf(...kNear),
    bufferOf(...kMesh),
    bufferOf(kRecordingHead, ...kState, ...kState),
  ];

  it('refuse every truncation, and never throw', () => {
    samples.forEach((sample) => {
      for (let size = 0; size < sample.byteLength; ++size) {
        if (decoders.some((decode) => decode(sample.slice(0, size)).ok)) throw new Error(`accepted ${size} bytes`);
      }
    });
  });

  it('never throw on random bytes', () => {
    const next = randomBytes(1);
    for (let round = 0; round < 5000; ++round) {
      const bytes = Uint8Array.from({ length: next() + (next() & 3) }, next);
      for (const decode of decoders) decode(bytes.buffer); // a throw fails the test
    }
  });

  it('never throw on true messages with a few bytes changed', () => {
    const next = randomBytes(2);
    for (let round = 0; round < 20000; ++round) {
      const bytes = new Uint8Array(samples[round % samples.length]!.slice(0));
      for (let change = 1 + (next() & 3); change > 0; --change) bytes[((next() << 8) | next()) % bytes.length] = next();
      for (const decode of decoders) decode(bytes.buffer); // a throw fails the test
    }
  });
});
