// The numbers of the frame shown now: force, torque, clearance, contact, and what the loop spends on them.
import { element, liveFigure } from '../dom';
import * as format from '../format';
import { feltHand } from '../felt';
import { Spoken } from './spoken';
import { ClockFlag, HandFlag, type StateFrame } from '../protocol';

interface Tile {
  title: HTMLElement;
  value: HTMLElement;
  note: HTMLElement;
}

export class Readout {
  private readonly force: Tile;
  private readonly torque: Tile;
  private readonly clearance: Tile;
  private readonly contact: Tile;
  private readonly meter: HTMLElement;
  private readonly loop: HTMLElement;
  private readonly spoken: Spoken;

  constructor(root: HTMLElement) {
    const tiles = element('div', { className: 'tiles' });
    this.force = tile(tiles, 'Force');
    this.torque = tile(tiles, 'Torque');
    this.clearance = tile(tiles, 'Clearance');
    this.contact = tile(tiles, 'Contact');
    this.clearance.value.id = 'clearance';
    this.force.value.id = 'force';
    this.meter = element('i', {});
    const bar = element('div', { className: 'meter' }, this.meter);
    bar.setAttribute('aria-hidden', 'true');
    this.loop = element('p', { className: 'note loop' });
    root.append(tiles, bar, this.loop);
    this.spoken = new Spoken(root);
  }

  // `me` is this page's number: what its own hand feels comes first.
  show(frame: StateFrame, maxForce: number, me: number, now = performance.now()): void {
    const hand = feltHand(frame.hands, me);
    const force = hand ? norm(hand.force) : 0;
    const limited = hand && hand.flags & HandFlag.forceLimited;
    set(this.force, format.force(force), limited ? 'limited' : '');
    set(this.torque, format.torque(hand ? norm(hand.torque) : 0), '');
    const through = frame.clearance < -1e-7; // less is shown as nought
    set(this.clearance, clearanceText(frame.clearance), '');
    this.clearance.title.textContent = through ? 'Penetration' : 'Clearance';
    this.clearance.value.classList.toggle('alarm', through && hand !== undefined); // what merely lies there is no alarm
    const touching = hand?.inContact ?? frame.inContact;
    set(this.contact, format.count(touching), touching === 1 ? 'point' : 'points');
    this.meter.style.transform = `scaleX(${Math.min(1, force / (maxForce || 8))})`;
    this.spoken.say(hand ? spokenText(force, touching, frame.clearance) : '', now);
    const missed = frame.missed === 1 ? '1 cycle missed' : `${format.count(frame.missed)} cycles missed`;
    const replayed = (frame.flags & ClockFlag.replay) !== 0;
    this.loop.textContent = replayed
      ? `Cycle ${format.count(frame.cycles)} of a recording`
      : `${format.count(frame.cycles)} cycles at 1 kHz · ${missed}${stallsText(frame.stalls)}`;
  }
}

// Rounded, so that a hand at rest says nothing new.
function spokenText(force: number, touching: number, clearance: number): string {
  if (touching > 0) return `Touching, force ${Number(force.toPrecision(1))} newtons.`;
  if (!Number.isFinite(clearance)) return 'Nothing to touch is near.';
  return `Free, ${format.length(Number(Math.max(0, clearance).toPrecision(1)))} away.`;
}

function stallsText(stalls: number): string {
  return stalls ? ` · force taken away ${stalls === 1 ? 'once' : `${format.count(stalls)} times`}` : '';
}

function clearanceText(clearance: number): string {
  if (Number.isNaN(clearance)) return '–';
  if (clearance === Infinity) return 'far';
  return format.length(Math.abs(clearance));
}

const norm = (v: readonly number[]) => Math.hypot(...v);

function tile(root: HTMLElement, title: string): Tile {
  const value = liveFigure({}, '–');
  const note = element('small', {});
  const heading = element('h2', {}, title);
  root.append(element('div', { className: 'tile' }, heading, value, note));
  return { title: heading, value, note };
}

function set(target: Tile, value: string, note: string): void {
  if (target.value.textContent !== value) target.value.textContent = value;
  if (target.note.textContent !== note) target.note.textContent = note;
}
