// A hand for tests, nobody's and at rest but for what a test says.
import { HolderKind, type HandEntry, type Pose } from '../../src/protocol';

const origin: Pose = { position: [0, 0, 0], rotation: [1, 0, 0, 0] };

export const handOf = (members: Partial<HandEntry>): HandEntry => ({
  hand: 1,
  participant: 0,
  holder: HolderKind.nobody,
  flags: 0,
  level: 0,
  body: 2,
  pose: origin,
  grip: origin,
  force: [0, 0, 0],
  torque: [0, 0, 0],
  visited: 0,
  inContact: 0,
  deepest: 0,
  input: 0,
  ...members,
});
