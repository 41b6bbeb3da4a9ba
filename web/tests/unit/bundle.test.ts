import { describe, expect, it } from 'vitest';
import { bundled, crc32, zipStored } from '../../src/bundle';
import { importNotes } from '../../src/panels/parts';
import { parseScene } from '../../src/messages';

const text = (value: string) => new TextEncoder().encode(value);

describe('Files that belong together', () => {
  it('have the checksum that every ZIP program expects', () => {
    expect(crc32(text('123456789'))).toBe(0xcbf43926); // the check value of this CRC
    expect(crc32(text(''))).toBe(0);
  });

  it('become an archive whose directory points at each of them', async () => {
    const archive = await zipStored([
      { name: 'a.gltf', data: new Blob(['{}']) },
      { name: 'ä.bin', data: new Blob(['12345']) },
    ]);
    const view = new DataView(await archive.arrayBuffer());
    const end = view.byteLength - 22;
    expect(view.getUint32(end, true)).toBe(0x06054b50);
    expect(view.getUint16(end + 10, true)).toBe(2);
    let at = view.getUint32(end + 16, true);
    expect(at + view.getUint32(end + 12, true)).toBe(end);
    for (const [name, content] of [['a.gltf', '{}'], ['ä.bin', '12345']] as const) {
      expect(view.getUint32(at, true)).toBe(0x02014b50);
      const size = view.getUint32(at + 24, true);
      const length = view.getUint16(at + 28, true);
      const head = view.getUint32(at + 42, true);
      expect(view.getUint32(head, true)).toBe(0x04034b50);
      const bytes = new Uint8Array(view.buffer);
      expect(new TextDecoder().decode(bytes.subarray(head + 30, head + 30 + length))).toBe(name);
      expect(new TextDecoder().decode(bytes.subarray(head + 30 + length, head + 30 + length + size))).toBe(content);
      expect(view.getUint32(at + 16, true)).toBe(crc32(text(content)));
      at += 46 + length;
    }
    expect(at).toBe(end);
  });

  it('are a glTF and its .bin files and nothing else', async () => {
    const file = (name: string) => new File(['x'], name);
    expect((await bundled([file('a.stl'), file('b.gltf')])).map((each) => each.name)).toEqual(['a.stl', 'b.gltf']);
    expect((await bundled([file('a.stl'), file('B.GLTF'), file('b.bin')])).map((each) => each.name)).toEqual(['a.stl', 'B.zip']);
  });
});

describe('What is said about an imported part', () => {
  it('is why its unit and axis were guessed, and what is odd about it', () => {
    const guess = '180 across; read as mm because a part of 180 m is unlikely';
    const notes = importNotes({ unit: 'mm', unitFrom: 'guessed', guess, up: 'z', upFrom: 'guessed', warnings: ['3 open edges'] });
    expect(notes).toEqual([`No unit in the file: ${guess}.`, 'The file does not say which side is up; z is assumed.', '3 open edges']);
    expect(importNotes({ unit: 'm', unitFrom: 'stated', guess: '', up: 'y', upFrom: 'given', warnings: [] })).toEqual([]);
  });

  it('comes with the scene', () => {
    const part = { id: 1, import: { unit: 'mm', unit_from: 'given', guess: '', up: 'w', up_from: 'nonsense', warnings: ['a', 7] } };
    const scene = parseScene({ generation: 1, parts: [part, { id: 2 }] });
    const parts = 'value' in scene ? scene.value.parts : [];
    expect(parts[0]?.import).toEqual({ unit: 'mm', unitFrom: 'given', guess: '', up: 'z', upFrom: 'guessed', warnings: ['a', ''] });
    expect(parts[1]?.import).toBeNull();
  });
});
