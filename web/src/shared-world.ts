// What all pages share beside the picture: who takes part, gravity, the bodies and what they are made of, the task. It
// listens to the server's messages and turns what the user asks for into commands. What holds is what the server says:
// nothing changes here until it has answered.
import type { BodyInfo, Command, Message, Person, Rights, Scene, TaskInfo } from './messages';

export const kEarth = 9.81; // m/s²

export class SharedWorld {
  me = 0; // this page's number among those who take part
  gravity = 0; // m/s², downwards; 0 = off
  bodies: BodyInfo[] = [];
  elastic = new Set<number>(); // bodies that bend
  task: TaskInfo | null = null;
  canChange = false; // the server knows gravity, masses and copies
  canRestart = false; // the server knows tasks
  rights: Rights = 'own'; // of the link by which this page came
  readonly people = new Map<number, Person>();
  private chosen = 0;
  private heldNow = ''; // why the scene cannot be changed for now
  private scene = ''; // its name

  constructor(
    private readonly send: (command: Command) => void,
    private readonly changed: () => void,
  ) {}

  // The body that the user clicked last.
  get selected(): BodyInfo | null {
    return this.bodies.find((body) => body.id === this.chosen) ?? null;
  }

  // Why this page cannot change the scene; '' = it can.
  get held(): string {
    if (this.rights === 'watch') return 'You came by a link that only watches.';
    if (this.rights === 'hand') return 'You came by a link that may hold and move things; all else is for owners.';
    return this.heldNow;
  }

  nameOf(participant: number): string {
    return this.people.get(participant)?.name ?? 'Someone else';
  }

  bodyName(id: number): string {
    return this.bodies.find((body) => body.id === id)?.name ?? '';
  }

  received(message: Message): void {
    switch (message.type) {
      case 'hello':
        this.me = message.participant;
        this.rights = message.rights;
        this.canChange = message.features.includes('world');
        this.canRestart = message.features.includes('task');
        break;
      case 'people':
        this.people.clear();
        for (const person of message.people) this.people.set(person.participant, person);
        break;
      case 'world':
        this.gravity = message.gravity;
        break;
      case 'body': {
        const body = this.bodies.find((entry) => entry.id === message.body);
        if (!body) return;
        const { motion, mass, density, graspable } = message;
        Object.assign(body, { motion, mass, density, graspable });
        break;
      }
      default:
        return;
    }
    this.changed();
  }

  // Another scene, or the same with other bodies, of which what was selected stays selected if it is still there.
  open(scene: Scene): void {
    if (scene.name !== this.scene) this.chosen = 0;
    this.scene = scene.name;
    this.bodies = scene.bodies;
    this.elastic = new Set(scene.parts.filter((part) => part.elastic).map((part) => part.body));
    this.gravity = scene.gravity;
    this.task = scene.task;
    this.changed();
  }

  hold(reason: string): void {
    if (this.heldNow === reason) return;
    this.heldNow = reason;
    this.changed();
  }

  select(body: number | null): void {
    if (this.chosen === (body ?? 0)) return;
    this.chosen = body ?? 0;
    this.changed();
  }

  setGravity(gravity: number): void {
    this.send({ type: 'world', gravity });
  }

  setMass(mass: number): void {
    if (this.selected) this.send({ type: 'set_body', body: this.selected.id, mass });
  }

  setDensity(density: number): void {
    if (this.selected) this.send({ type: 'set_body', body: this.selected.id, density });
  }

  setMotion(body: number, motion: 'free' | 'fixed'): void {
    this.send({ type: 'set_body', body, motion });
  }

  copySelected(): void {
    if (this.selected?.copy) this.send({ type: 'copy_body', body: this.selected.id });
  }

  remove(body: number): void {
    this.send({ type: 'remove_body', body });
  }

  restartTask(): void {
    this.send({ type: 'task_reset' });
  }
}
