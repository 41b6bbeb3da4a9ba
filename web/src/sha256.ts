// SHA-256 and HMAC (FIPS 180-4, RFC 2104) in hex. The browser's own are there only for pages from this machine or over https; a
// colleague's page in the same network has to prove who it is too.
const kBlock = 64; // bytes

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes, and of the square roots of the first eight.
const kPrimes = firstPrimes(64);
const kRounds = kPrimes.map((prime) => fraction(Math.cbrt(prime)));
const kStart = kPrimes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

export function sha256(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / kBlock) * kBlock);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 0x2000_0000));
  view.setUint32(padded.length - 4, (bytes.length << 3) >>> 0);
  const state = Uint32Array.from(kStart);
  const words = new Uint32Array(64);
  for (let at = 0; at < padded.length; at += kBlock) {
    for (let i = 0; i < 16; ++i) words[i] = view.getUint32(at + 4 * i);
    for (let i = 16; i < 64; ++i) {
      const [early, late] = [words[i - 15]!, words[i - 2]!];
      const s0 = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
      const s1 = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
      words[i] = words[i - 16]! + s0 + words[i - 7]! + s1;
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; ++i) {
      const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
      const first = (h + s1 + ((e & f) ^ (~e & g)) + kRounds[i]! + words[i]!) >>> 0;
      const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
      const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) >>> 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) >>> 0, c, b, a, (first + second) >>> 0];
    }
    [a, b, c, d, e, f, g, h].forEach((value, i) => (state[i] = state[i]! + value));
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((value, i) => digest.setUint32(4 * i, value));
  return new Uint8Array(digest.buffer);
}

export const sha256Hex = (text: string): string => hex(sha256(new TextEncoder().encode(text)));

export function hmacHex(secret: string, text: string): string {
  const bytes = new TextEncoder().encode(secret);
  const key = new Uint8Array(kBlock);
  key.set(bytes.length > kBlock ? sha256(bytes) : bytes);
  const joined = (mask: number, rest: Uint8Array) => {
    const all = new Uint8Array(kBlock + rest.length);
    all.set(key.map((byte) => byte ^ mask));
    all.set(rest, kBlock);
    return all;
  };
  return hex(sha256(joined(0x5c, sha256(joined(0x36, new TextEncoder().encode(text))))));
}

export const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

const turn = (value: number, bits: number) => (value >>> bits) | (value << (32 - bits));

function fraction(value: number): number {
  return Math.floor((value - Math.floor(value)) * 2 ** 32) >>> 0;
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; ++n) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  return primes;
}
