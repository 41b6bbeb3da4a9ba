// An invitation as people paste it: with spaces around it, broken over lines by a mail program, in a sentence, with the whole
// command, or as an address. Only the server can tell whether it is right (docs/protocol.md, "Invite"); here it is kept from being
// something else altogether.
const kBegin = 'cotouch:';
const kShortest = 80; // characters: the host's key and the secret alone have more
const kLongest = 1024;

export interface ReadInvite {
  invite: string; // '' if it cannot be one
  wrong: string; // a sentence that says why
}

const refused = (wrong: string): ReadInvite => ({ invite: '', wrong });

export function readInvite(pasted: string): ReadInvite {
  const text = (joinOf(pasted) || pasted).trim().replace(/\s*[\r\n]+\s*/g, '');
  if (!text) return refused('Paste the invitation first. Whoever shares the scene can copy it for you.');
  const begin = text.indexOf(kBegin);
  if (begin < 0 && /^https?:/i.test(text)) return refused('This is the address of a page, not an invitation. One begins with "cotouch:".');
  if (begin < 0) return refused('This is not an invitation. One begins with "cotouch:".');
  const invite = /^[^\s"'`<>]*/.exec(text.slice(begin))![0];
  const odd = /[^A-Za-z0-9_-]/u.exec(invite.slice(kBegin.length));
  if (odd) return refused(`The invitation is mistyped: "${odd[0]}" never occurs in one. Copy it again as a whole.`);
  if (invite.length < kShortest) return refused('The end of the invitation is missing. Copy it again as a whole.');
  if (invite.length > kLongest) return refused('This is too long for an invitation. Copy it again, and nothing else.');
  return { invite, wrong: '' };
}

// The invitation in an address with #join=…; '' if it has none.
export function joinOf(address: string): string {
  const found = /#(?:[^\s]*&)?join=([^&\s]*)/.exec(address)?.[1] ?? '';
  try {
    return decodeURIComponent(found);
  } catch {
    return found; // a stray percent sign
  }
}
