#!/usr/bin/env python3
"""The handshake of docs/protocol.md once more, written from that page alone and without libsodium: the curves from RFC 7748
and RFC 8032, the cipher from RFC 8439, BLAKE2b from Python. Prints the numbers that tests/net/protocol_test.cpp expects.

Every secret that somebody would draw is 32 (or 16) times the same byte; see main()."""
import hashlib

P = 2**255 - 19


# ---------------------------------------------------------------------------------------- RFC 7748
def x25519(k, u):
    k = bytearray(k)
    k[0] &= 248
    k[31] = k[31] & 127 | 64
    k = int.from_bytes(k, "little")
    u = int.from_bytes(u, "little") & (2**255 - 1)
    x2, z2, x3, z3, swap = 1, 0, u, 1, 0
    for t in reversed(range(255)):
        bit = k >> t & 1
        if swap ^ bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a, b * b, d * a, c * b
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % P, u * (da - cb) ** 2 % P
        x2, z2 = aa * bb % P, e * (aa + 121665 * e) % P
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


BASE = (9).to_bytes(32, "little")

# ---------------------------------------------------------------------------------------- RFC 8032
D = -121665 * pow(121666, P - 2, P) % P
Q = 2**252 + 27742317777372353535851937790883648493
ROOT = pow(2, (P - 1) // 4, P)


def add(a, b):
    x1, y1, x2, y2 = *a, *b
    k = D * x1 * x2 * y1 * y2
    return ((x1 * y2 + x2 * y1) * pow(1 + k, P - 2, P) % P, (y1 * y2 + x1 * x2) * pow(1 - k, P - 2, P) % P)


def times(n, point):
    result = (0, 1)
    for bit in bin(n)[2:]:
        result = add(result, result)
        if bit == "1":
            result = add(result, point)
    return result


def base_point():
    y = 4 * pow(5, P - 2, P) % P
    xx = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(xx, (P + 3) // 8, P)
    if (x * x - xx) % P:
        x = x * ROOT % P
    return (P - x if x & 1 else x, y)


def encode(point):
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


class Identity:
    def __init__(self, seed):
        h = bytearray(hashlib.sha512(seed).digest())
        self.prefix = bytes(h[32:])
        h[0] &= 248
        h[31] = h[31] & 127 | 64
        self.exchange_secret = bytes(h[:32])
        self.scalar = int.from_bytes(h[:32], "little")
        self.public = encode(times(self.scalar, base_point()))
        self.exchange_public = x25519(self.exchange_secret, BASE)

    def sign(self, message):
        r = int.from_bytes(hashlib.sha512(self.prefix + message).digest(), "little") % Q
        point = encode(times(r, base_point()))
        k = int.from_bytes(hashlib.sha512(point + self.public + message).digest(), "little") % Q
        return point + ((r + k * self.scalar) % Q).to_bytes(32, "little")


# ---------------------------------------------------------------------------------------- RFC 8439
def chacha_block(key, counter, nonce):
    words = lambda b: [int.from_bytes(b[i : i + 4], "little") for i in range(0, len(b), 4)]
    start = words(b"expand 32-byte k") + words(key) + [counter] + words(nonce)
    s = list(start)

    def turn(a, b, c, d):
        for x, y, z, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            s[x] = (s[x] + s[y]) & 0xFFFFFFFF
            v = s[z] ^ s[x]
            s[z] = (v << n | v >> (32 - n)) & 0xFFFFFFFF

    for _ in range(10):
        for i in range(4):
            turn(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            turn(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return b"".join(((a + b) & 0xFFFFFFFF).to_bytes(4, "little") for a, b in zip(s, start))


def aead(key, n, header, text):
    nonce = bytes(4) + n.to_bytes(8, "little")
    stream = b"".join(chacha_block(key, 1 + i, nonce) for i in range(len(text) // 64 + 1))
    cipher = bytes(a ^ b for a, b in zip(text, stream))
    one_time = chacha_block(key, 0, nonce)
    r = int.from_bytes(one_time[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    pad = lambda b: b + bytes(-len(b) % 16)
    data = pad(header) + pad(cipher) + len(header).to_bytes(8, "little") + len(cipher).to_bytes(8, "little")
    total = 0
    for i in range(0, len(data), 16):
        total = (total + int.from_bytes(data[i : i + 16] + b"\1", "little")) * r % (2**130 - 5)
    tag = (total + int.from_bytes(one_time[16:32], "little")) & (2**128 - 1)
    return cipher + tag.to_bytes(16, "little")


# ---------------------------------------------------------------------------------------- docs/protocol.md
def K(key, label, *parts):
    data = bytes([len(label)]) + label.encode()
    for part in parts:
        data += len(part).to_bytes(2, "little") + part
    return hashlib.blake2b(data, digest_size=32, key=key).digest()


def H(label, *parts):
    return K(b"", label, *parts)


def main():
    psk = bytes([1]) * 16
    host, joiner = Identity(bytes([2]) * 32), Identity(bytes([3]) * 32)
    j, e, f = bytes([4]) * 32, bytes([5]) * 32, bytes([6]) * 32
    J, E, F = (x25519(k, BASE) for k in (j, e, f))
    cookie = bytes([7]) * 16
    session = K(psk, "cotouch session")[:16]
    mac_key = K(psk, "cotouch mac")
    mac = lambda message: message + K(mac_key, "mac", message)[:16]

    hello = mac(b"\x01\x01" + E + bytes(206))
    challenge = mac(b"\x02\x01" + E + cookie)

    credential = joiner.public + J + joiner.sign(H("cotouch credential", session, J))
    payload = b"Ada"
    head = b"\x03\x01" + E + cookie
    h1 = H("cotouch handshake 1", host.public, session, head)
    es = x25519(e, host.exchange_public)
    text = credential + joiner.sign(H("cotouch request", h1, credential, payload))
    text += len(payload).to_bytes(2, "little") + payload
    box = aead(K(psk, "request", h1, es), 0, head, text.ljust(706, b"\0"))
    request = mac(head + box)
    h2 = H("cotouch box", h1, box)

    payload = b"welcome"
    head = b"\x04\x01" + E + F
    h3 = H("cotouch answer", h2, head)
    root = K(psk, "root", h3, es, x25519(f, E), x25519(f, J))
    text = b"\x01" + len(payload).to_bytes(2, "little") + payload
    box = aead(K(root, "answer"), 0, head, text.ljust(515, b"\0"))
    answer = mac(head + box)
    to_host, to_joiner = K(root, "joiner to host", box), K(root, "host to joiner", box)

    header = b"\x10" + K(to_host, "channel")[:4] + (0).to_bytes(4, "little")
    sealed = header + aead(to_host, 0, header, b"touch")

    other = Identity(bytes([8]) * 32)
    other_j = bytes([9]) * 32
    a, b = sorted([joiner.public + J, other.public + x25519(other_j, BASE)])
    pair = K(psk, "pair", session, x25519(j, x25519(other_j, BASE)), a[:32], a[32:], b[:32], b[32:])
    forth, back = K(pair, "first to second"), K(pair, "second to first")
    if a[:32] != joiner.public:
        forth, back = back, forth

    digest = lambda message: hashlib.blake2b(message, digest_size=32).hexdigest()
    group = hashlib.blake2b(b"\x13cotouch fingerprint\x20\x00" + host.public, digest_size=32).hexdigest()[:32]
    print("fingerprint", " ".join(group[i : i + 4] for i in range(0, 32, 4)))
    print("session", session.hex())
    for name, message in (("hello", hello), ("challenge", challenge), ("request", request), ("answer", answer)):
        print(name, len(message), digest(message))
    print("to_host", to_host.hex())
    print("to_joiner", to_joiner.hex())
    print("sealed", sealed.hex())
    print("joiner_to_other", forth.hex())
    print("other_to_joiner", back.hex())


if __name__ == "__main__":
    assert x25519(bytes.fromhex("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"),
                  bytes.fromhex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c")
                  ).hex() == "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"  # RFC 7748, 5.2
    main()
