import { describe, expect, it } from 'vitest';
import { Door, takeToken, type DoorPort } from '../../src/door';
import { hex, hmacHex, sha256, sha256Hex } from '../../src/sha256';

// Python's hashlib and hmac gave what is expected of the door, as in tests/serve/link_book_test.cpp.
const kToken = '0123456789abcdef0123456789abcdef';
const kLink = 'e8b7b05fd2b0815b';
const kNumber = 'a'.repeat(16);
const kServerNumber = 'b'.repeat(32);
const kProof = 'e4c9463ac56fdc6ff8ac4ab25f5fb6e87b08ccbb7cbe5be9e713a413b6d34b91';
const kKey = `${kLink}.${kNumber}.5de7e9ae28ff95f1db9126d885191a2fef994b7d953d62d26d26f1ceaee850ed`;

describe('SHA-256', () => {
  it('has the digests of the standards', () => {
    expect(sha256Hex('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(sha256Hex('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq')).toBe(
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    );
    expect(hex(sha256(new Uint8Array(1_000_000).fill(0x61)))).toBe(
      'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0',
    );
  });
  it('makes the codes of RFC 4231', () => {
    expect(hmacHex('Jefe', 'what do ya want for nothing?')).toBe('5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843');
    expect(hmacHex('\x0b'.repeat(20), 'Hi There')).toBe('b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7');
  });
});

class Kept {
  readonly values = new Map<string, string>();
  getItem = (name: string) => this.values.get(name) ?? null;
  setItem = (name: string, value: string) => void this.values.set(name, value);
  removeItem = (name: string) => void this.values.delete(name);
}

function portWith(answer: Awaited<ReturnType<DoorPort['ask']>>, kept: DoorPort['kept'] = null): DoorPort & { asked: string[] } {
  const asked: string[] = [];
  const ask = (path: string, key: string) => {
    asked.push(`${path} ${key}`);
    return Promise.resolve(answer);
  };
  return { host: '127.0.0.1:7117', ask, kept, random: () => kNumber, asked };
}

describe('The door', () => {
  it('takes the token out of the address and leaves the rest', () => {
    expect(takeToken('#token=abc')).toEqual({ token: 'abc', rest: '' });
    expect(takeToken('#token=abc&join=x')).toEqual({ token: 'abc', rest: '#join=x' });
    expect(takeToken('#join=x')).toEqual({ token: '', rest: '#join=x' });
    expect(takeToken('')).toEqual({ token: '', rest: '' });
  });

  it('makes its key when the server has proved that it knows the token', async () => {
    const kept = new Kept();
    const port = portWith({ status: 200, json: { number: kServerNumber, proof: kProof } }, kept);
    const door = new Door(kToken, port);
    expect(await door.enter()).toBe('');
    expect(door.key).toBe(kKey);
    expect(port.asked).toEqual([`/door?link=${kLink}&number=${kNumber} `]);
    // The token is kept nowhere; the key is, for a reload.
    expect([...kept.values.values()]).toEqual([kKey]);
    expect(new Door('', portWith(null, kept)).key).toBe(kKey);
  });

  it('tells nothing to a program that does not know the token', async () => {
    const port = portWith({ status: 200, json: { number: kServerNumber, proof: kProof.replace('e', 'f') } }, new Kept());
    const door = new Door(kToken, port);
    expect(await door.enter()).toMatch(/Another program answers/);
    expect(door.key).toBe('');
    expect(port.asked.join()).not.toContain(kToken);
  });

  it('passes on why a link counts no more, and waits for a server that is away', async () => {
    const refused = new Door(kToken, portWith({ status: 401, json: { error: 'This link was revoked.' } }));
    expect(await refused.enter()).toBe('This link was revoked.');
    expect(await new Door(kToken, portWith(null)).enter()).toBe('');
    expect(await new Door('', portWith(null)).enter()).toMatch(/no token/);
  });
});
