// Whose touch the page's numbers are about, and how a body is doing in words.
import { BodyFlag, type BodyEntry, type HandEntry } from './protocol';

const size = (v: readonly number[]) => Math.hypot(...v);

// This page's own hand; if it holds none, the one that feels most.
export function feltHand(hands: readonly HandEntry[], me: number): HandEntry | undefined {
  const own = me ? hands.filter((hand) => hand.participant === me) : [];
  return (own.length ? own : hands).reduce<HandEntry | undefined>(
    (a, b) => (a && size(a.force) >= size(b.force) ? a : b),
    undefined,
  );
}

// What a body does: who holds it, whether it moves, whether it touches something.
export function bodyStatus(
  body: BodyEntry | undefined,
  hands: readonly HandEntry[],
  nameOf: (participant: number) => string,
): string {
  if (!body) return 'Fixed';
  const holders = hands.filter((hand) => hand.body === body.body && hand.participant).map((hand) => nameOf(hand.participant));
  const held = holders.length ? `held by ${[...new Set(holders)].join(' and ')}` : body.flags & BodyFlag.held ? 'held' : '';
  const doing = held || (body.flags & BodyFlag.resting ? 'at rest' : 'moving');
  const text = body.flags & BodyFlag.touching ? `${doing}, touches something` : doing;
  return text[0]!.toUpperCase() + text.slice(1);
}
