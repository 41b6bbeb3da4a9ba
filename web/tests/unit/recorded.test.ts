// @vitest-environment happy-dom
// A recording of a shared session as the page plays it: names at the hands, and what was said and done.
import { describe, expect, it } from 'vitest';
import { ReplayBar } from '../../src/panels/recorder';
import type { HandEntry, StateFrame } from '../../src/protocol';
import { newsAt, newsText, ownerOf, parseStory } from '../../src/recorded';
import { Player } from '../../src/replay';
import { recordedMarkersOf } from '../../src/view/markers';
import { handOf } from './hands';

// Carl takes the hand that Ben has left.
const story = parseStory({
  people: [
    { hand: 1, name: 'Anna', color: '#9c36b5', from: 0, to: 20 },
    { hand: 2, name: 'Ben', color: '#1971c2', from: 0, to: 8 },
    { hand: 2, name: 'Carl', color: '#e8590c', from: 12, to: 20 },
  ],
  events: [
    { time: 0, kind: 'joined', name: 'Anna', color: '#9c36b5', text: 'Anna' },
    { time: 0, kind: 'joined', name: 'Ben', color: '#1971c2', text: 'Ben' },
    { time: 3, kind: 'said', name: 'Anna', color: '#9c36b5', text: '<b>left</b>' },
    { time: 8, kind: 'left', name: 'Ben', color: '#1971c2', text: '' },
    { time: 9, kind: 'danced', name: 'Ben', text: '' },
    { time: 12, kind: 'joined', name: 'Carl', color: '#e8590c', text: 'Carl' },
    { time: 13, kind: 'marked', name: 'Carl', color: '#e8590c', text: '' },
    { time: 14, kind: 'reset', name: 'somebody', color: '', text: '' },
  ],
});

describe('A recorded session', () => {
  it('knows whose a hand was at any moment', () => {
    const owner = (hand: number, time: number) => ownerOf(story, hand, time)?.name;
    expect([owner(1, 0), owner(1, 19.9), owner(2, 0), owner(2, 7.99)]).toEqual(['Anna', 'Anna', 'Ben', 'Ben']);
    expect([owner(2, 10), owner(2, 12), owner(2, 19.9), owner(3, 1)]).toEqual([undefined, 'Carl', 'Carl', undefined]);
  });

  it('puts the names at the hands', () => {
    const hands: HandEntry[] = [handOf({ hand: 1 }), handOf({ hand: 2 })];
    const names = (time: number) => recordedMarkersOf({ hands, time }, story).map(({ name, color }) => `${name} ${color}`);
    expect(names(1)).toEqual(['Anna #9c36b5', 'Ben #1971c2']);
    expect(names(10)).toEqual(['Anna #9c36b5']);
    expect(names(15)).toEqual(['Anna #9c36b5', 'Carl #e8590c']);
  });

  it('tells what was done in the last seconds, also after the slider went back', () => {
    const news = (time: number) => newsAt(story, time).map(newsText);
    expect(news(2.9)).toEqual(['Anna is here.', 'Ben is here.']);
    expect(news(3)).toEqual(['Anna is here.', 'Ben is here.', 'Anna: <b>left</b>']);
    expect(news(8.5)).toEqual(['Anna: <b>left</b>', 'Ben has left.']);
    expect(news(14)).toEqual(['Carl is here.', 'Carl marked a point.', 'Everything was put back to its start.']);
    expect(news(2.9)).toEqual(['Anna is here.', 'Ben is here.']);
    expect(news(30)).toEqual([]);
  });

  it('is empty if nothing is told', () => {
    expect(parseStory(null)).toEqual({ people: [], events: [] });
    expect(parseStory({ people: [{}], events: [{}, 3] })).toMatchObject({ people: [{ hand: 0, name: 'Somebody' }], events: [] });
  });
});

describe('The replay bar', () => {
  it('shows what was said as text, and keeps what is still new', () => {
    document.body.innerHTML = '<div id="replay" hidden></div>';
    const root = document.getElementById('replay')!;
    const bar = new ReplayBar(root, () => {});
    const player = new Player({ duration: 20, frames: [] as StateFrame[] }, story);
    const lines = () => [...root.querySelectorAll('.news li')];
    bar.open(player);
    expect(lines().map((line) => line.textContent)).toEqual(['Anna is here.', 'Ben is here.']);
    player.seek(5);
    bar.show();
    const said = lines().at(-1)!;
    expect(said.textContent).toBe('Anna: <b>left</b>');
    expect(said.querySelector('b')).toBeNull();
    player.seek(8);
    bar.show();
    expect(lines()[0]).toBe(said);
    expect(lines().map((line) => line.textContent)).toEqual(['Anna: <b>left</b>', 'Ben has left.']);
    player.seek(19.99);
    bar.show();
    player.seek(5);
    bar.show(); // back again: in order
    expect(lines().map((line) => line.textContent)).toEqual(['Anna is here.', 'Ben is here.', 'Anna: <b>left</b>']);
    player.seek(11.5);
    bar.show();
    player.seek(20);
    bar.show();
    expect(root.querySelector<HTMLElement>('.news')!.hidden).toBe(true);
    // A recording of one person has none.
    bar.open(new Player({ duration: 1, frames: [] as StateFrame[] }));
    expect(lines()).toEqual([]);
  });
});
