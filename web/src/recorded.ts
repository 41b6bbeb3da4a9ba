// Who was in a recorded session, and what they did besides moving hands: came, left, spoke, marked, put everything back.
import { array, colorOf, number, object, oneOf, string } from './json';
import type { HandEntry } from './protocol';

const kKinds = ['joined', 'left', 'said', 'marked', 'reset', 'other'] as const;

export interface RecordedPerson {
  hand: number; // as in the frames
  name: string;
  color: string;
  from: number; // seconds since the recording's start
  to: number;
}

export interface RecordedEvent {
  time: number; // seconds since the recording's start
  kind: (typeof kKinds)[number];
  name: string;
  color: string;
  text: string;
}

export interface Story {
  people: RecordedPerson[]; // in the order in which they came
  events: RecordedEvent[]; // in order of time
}

export const kNoStory: Story = { people: [], events: [] };

const kShownFor = 6; // seconds of the recording
const kMostShown = 4;
const kEarly = 1e-6; // seconds; times are ticks times their length, rounded on the way

export function parseStory(json: unknown): Story {
  const { people, events } = object(json);
  return {
    people: array(people).map(object).map((person) => ({
      hand: number(person.hand),
      name: string(person.name, 'Somebody'),
      color: colorOf(person.color),
      from: number(person.from),
      to: number(person.to, Infinity),
    })),
    events: array(events)
      .map(object)
      .map((event) => ({
        time: number(event.time),
        kind: oneOf(event.kind, kKinds, 'other'),
        name: string(event.name, 'Somebody'),
        color: colorOf(event.color),
        text: string(event.text),
      }))
      .filter((event) => event.kind !== 'other'), // of a later version
  };
}

// Whose hand it was then: it may have had several owners, one after the other.
export function ownerOf(story: Story, hand: HandEntry['hand'], time: number): RecordedPerson | undefined {
  return story.people.filter((person) => person.hand === hand && person.from <= time + kEarly && time < person.to + kEarly).at(-1);
}

// What was done in the last seconds before this moment, the newest last.
export function newsAt(story: Story, time: number): RecordedEvent[] {
  return story.events.filter((event) => event.time <= time + kEarly && event.time > time - kShownFor).slice(-kMostShown);
}

export function newsText({ kind, name, text }: RecordedEvent): string {
  switch (kind) {
    case 'joined':
      return `${name} is here.`;
    case 'left':
      return `${name} has left.`;
    case 'said':
      return `${name}: ${text}`;
    case 'marked':
      return `${name} marked a point.`;
    default:
      return 'Everything was put back to its start.';
  }
}
