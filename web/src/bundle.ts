// Files that belong together are sent as one: a glTF and the .bin files dropped with it become a ZIP archive.

export interface NamedBlob {
  name: string;
  data: Blob;
}

const kTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; ++bit) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = kTable[(crc ^ byte) & 255]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

function numbers(...items: [value: number, bytes: number][]): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(items.reduce((sum, [, bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [value, bytes] of items) for (let i = 0; i < bytes; ++i) out[at++] = Math.floor(value / 2 ** (8 * i)) & 255;
  return out;
}

// An archive of files as they are: what is sent over a wire this short need not be packed.
export async function zipStored(files: NamedBlob[]): Promise<Blob> {
  const pieces: BlobPart[] = [];
  const directory: BlobPart[] = [];
  let offset = 0;
  let directorySize = 0;
  for (const file of files) {
    const name = new TextEncoder().encode(file.name);
    const crc = crc32(new Uint8Array(await file.data.arrayBuffer()));
    const common: [number, number][] = [[20, 2], [0x800, 2], [0, 2], [0, 4], [crc, 4], [file.data.size, 4], [file.data.size, 4], [name.length, 2], [0, 2]];
    const head = numbers([0x04034b50, 4], ...common);
    const entry = numbers([0x02014b50, 4], [20, 2], ...common, [0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]);
    pieces.push(head, name, file.data);
    directory.push(entry, name);
    offset += head.length + name.length + file.data.size;
    directorySize += entry.length + name.length;
  }
  const end = numbers([0x06054b50, 4], [0, 4], [files.length, 2], [files.length, 2], [directorySize, 4], [offset, 4], [0, 2]);
  return new Blob([...pieces, ...directory, end]);
}

// What to send for files that were dropped together.
export async function bundled(files: File[]): Promise<NamedBlob[]> {
  const ends = (file: File, ending: string) => file.name.toLowerCase().endsWith(ending);
  const all = files.map((file) => ({ name: file.name, data: file }));
  const scene = files.find((file) => ends(file, '.gltf'));
  if (!scene || !files.some((file) => ends(file, '.bin'))) return all;
  const together = (file: File) => ends(file, '.gltf') || ends(file, '.bin');
  const archive = { name: scene.name.replace(/\.gltf$/i, '.zip'), data: await zipStored(all.filter(({ data }) => together(data))) };
  return [...all.filter(({ data }) => !together(data)), archive];
}
