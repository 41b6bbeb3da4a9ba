// The docking task: how far the body still is from its place, live.
import { button, element, liveFigure } from '../dom';
import * as format from '../format';
import { TaskState, type TaskEntry } from '../protocol';

export interface TaskText {
  position: string;
  angle: string;
  positionGood: boolean;
  angleGood: boolean;
  clock: string;
  state: string;
  done: boolean;
  anyAngle: boolean; // however it is turned
}

const kDegree = Math.PI / 180;
const kHalfTurn = 179.9 * kDegree; // nothing is turned by more than 180 degrees

const millimetres = (metres: number) => `${(1000 * metres).toFixed(1)} mm`;
const degrees = (radians: number) => `${(radians / kDegree).toFixed(1)}°`;

// `body` is the name of the body that it is about.
export function taskText(task: TaskEntry, body = ''): TaskText {
  const done = task.state === TaskState.done;
  return {
    position: `${millimetres(task.positionError)} (at most ${millimetres(task.positionTolerance)})`,
    angle: `${degrees(task.angleError)} (at most ${degrees(task.angleTolerance)})`,
    positionGood: task.positionError <= task.positionTolerance,
    angleGood: task.angleError <= task.angleTolerance,
    clock: format.clock(task.seconds),
    state: done ? 'Done' : task.state === TaskState.running ? 'Running' : `Pick up ${body ? `"${body}"` : 'the body'} to start the clock`,
    done,
    anyAngle: task.angleTolerance > kHalfTurn,
  };
}

export class TaskPanel {
  private readonly title = element('h2', {});
  private readonly position = liveFigure({ id: 'task-position' });
  private readonly angle = liveFigure({ id: 'task-angle' });
  private readonly clock = liveFigure({ id: 'task-clock' });
  private readonly state = element('p', { className: 'note', id: 'task-state' });
  private readonly angleRow: HTMLElement;
  private readonly again: HTMLButtonElement;

  constructor(
    private readonly root: HTMLElement,
    restart: () => void,
  ) {
    this.again = button('Start over', 'Put the body of the task back and set its clock to zero', restart);
    const row = (name: string, value: HTMLElement) => element('div', { className: 'task-row' }, element('span', {}, name), value);
    this.angleRow = row('Angle', this.angle);
    root.append(
      this.title,
      row('Distance', this.position),
      this.angleRow,
      row('Time', this.clock),
      this.state,
      element('div', { className: 'row' }, this.again),
    );
    root.hidden = true;
  }

  allow(canRestart: boolean): void {
    this.again.hidden = !canRestart;
  }

  show(task: TaskEntry | null, title: string, nameOf: (body: number) => string): void {
    this.root.hidden = !task || task.state === TaskState.none;
    if (!task || this.root.hidden) return;
    const text = taskText(task, nameOf(task.body));
    this.angleRow.hidden = text.anyAngle;
    this.title.textContent = title;
    set(this.position, text.position, text.positionGood);
    set(this.angle, text.angle, text.angleGood);
    set(this.clock, text.clock, text.done);
    if (this.state.textContent !== text.state) this.state.textContent = text.state;
    this.root.classList.toggle('done', text.done);
  }
}

// The task over the picture, for a session in which nobody should have to look for it: its clock, how far is still to go, and that
// all of them are done.
export class TaskStrip {
  private readonly title = element('strong', {});
  private readonly clock = liveFigure({ className: 'clock' });
  private readonly position = liveFigure({});
  private readonly angle = liveFigure({});
  private readonly state = element('span', { className: 'state' });

  constructor(private readonly root: HTMLElement) {
    this.state.setAttribute('role', 'status');
    root.append(this.title, this.clock, this.position, this.angle, this.state);
  }

  // `people` take part in the session.
  show(task: TaskEntry | null, title: string, nameOf: (body: number) => string, people: number): void {
    this.root.hidden = people === 0 || !task || task.state === TaskState.none;
    if (!task || this.root.hidden) return;
    const text = taskText(task, nameOf(task.body));
    set(this.title, title, false);
    set(this.clock, text.clock, text.done);
    set(this.position, millimetres(task.positionError), text.positionGood);
    set(this.angle, degrees(task.angleError), text.angleGood);
    this.position.hidden = text.done;
    this.angle.hidden = text.done || text.anyAngle;
    set(this.state, text.done ? doneText(people) : task.state === TaskState.running ? '' : text.state, text.done);
    this.root.classList.toggle('done', text.done);
  }
}

export function doneText(people: number): string {
  return people > 1 ? `Done, by all ${people} of you together` : 'Done';
}

function set(output: HTMLElement, text: string, good: boolean): void {
  if (output.textContent !== text) output.textContent = text;
  output.classList.toggle('good', good);
}
