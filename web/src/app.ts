// The page as a whole: what arrives from the server goes to the picture and the panels, what the user does goes to the server.
import { Vector3 } from 'three';
import { Api } from './api';
import { Sound } from './cues';
import { byId } from './dom';
import { backOff, Feed, type Link, type Socket } from './feed';
import { GamepadHand } from './hands/gamepad';
import { Hand } from './hands/hand';
import { KeyboardHand } from './hands/keyboard';
import { isForPage } from './hands/keys';
import { fromWire, toWire, withinReach, type HandPose } from './hands/motion';
import { PointerHand, type PointerView } from './hands/pointer';
import type { Command, Message, RecordingEntry } from './messages';
import { DropZone, Jobs, objection } from './panels/drop';
import { Gallery } from './panels/gallery';
import { Help } from './panels/help';
import { Layout } from './panels/layout';
import { PartsPanel } from './panels/parts';
import { Plots } from './panels/plots';
import { Readout } from './panels/readout';
import { RecordingList, ReplayBar } from './panels/recorder';
import { SettingsPanel } from './panels/settings';
import { Toasts } from './panels/toast';
import { HandFlag, Holder, StateFlag, type StateFrame } from './protocol';
import { Player } from './replay';
import { cssColor, ThemeSwitch } from './theme';
import { Stage } from './view/stage';
import { WorldView } from './view/world';

const kPlotsEvery = 100; // milliseconds

export class App {
  readonly api: Api;
  readonly feed: Feed;
  readonly stage: Stage;
  readonly world: WorldView;
  readonly hand: Hand;
  player: Player | null = null;
  shown: StateFrame | null = null;
  interactiveAt = 0; // milliseconds after the page was opened

  private readonly toasts = new Toasts(byId('toasts'));
  private readonly gallery: Gallery;
  private readonly readout: Readout;
  private readonly plots: Plots;
  private readonly parts: PartsPanel;
  private readonly settings: SettingsPanel;
  private readonly recordings: RecordingList;
  private readonly replayBar: ReplayBar;
  private readonly jobs: Jobs;
  private readonly layout: Layout;
  private readonly theme: ThemeSwitch;
  private readonly sound = new Sound();
  private readonly pointer: PointerHand;
  private readonly keyboard: KeyboardHand;
  private readonly gamepad: GamepadHand;
  private generation = 0; // of the scene in the picture; 0 while the server has another one, whose frames do not fit
  private sceneRequest = 0; // counts up with all that makes a scene on its way unwanted
  private uploadBytes = Infinity;
  private recording = false;
  private commands = 0;
  private recordingEntries: RecordingEntry[] = [];
  private waitingReplay: RecordingEntry | null = null; // until its scene is open
  private replayRequest = 0; // counts up with all that makes a recording on its way unwanted
  private lastStep = performance.now();
  private lastPlots = 0;

  constructor(address: Location) {
    this.api = new Api(new URLSearchParams(address.search).get('token') ?? '', address.origin);
    this.stage = new Stage(byId<HTMLCanvasElement>('stage'));
    this.world = new WorldView(this.stage);
    this.stage.controls.addEventListener('change', () => this.world.redraw());
    this.hand = this.makeHand();
    const view = this.makeView();
    this.pointer = new PointerHand(byId('stage'), view, this.hand);
    this.keyboard = new KeyboardHand(view, this.hand);
    this.gamepad = new GamepadHand(view, this.hand, (name) => this.toasts.show(`Gamepad connected: ${name}`, 'info'));

    this.gallery = new Gallery(byId('scenes'), (path) => this.api.address(path), {
      open: (name) => this.openScene(name),
      remove: (name) => this.command({ type: 'delete_scene', name }),
    });
    this.readout = new Readout(byId('feel'));
    const plots = document.createElement('div');
    plots.className = 'plots';
    byId('feel').append(plots);
    this.layout = new Layout(this.stage, (turning) => (this.pointer.turning = turning));
    this.theme = new ThemeSwitch(() => this.repaint());
    this.theme.apply();
    this.plots = new Plots(plots);
    this.parts = new PartsPanel(byId('parts'), {
      add: (files) => this.upload(files),
      remove: (part) => this.command({ type: 'remove_part', part }),
      setRole: (part, role) => this.command({ type: 'set_role', part, role }),
      save: (name) => void this.save(name),
    });
    this.settings = new SettingsPanel(byId('settings'), {
      choices: () => this.sendView(),
      settings: (change) => this.command({ type: 'settings', ...change }),
    });
    this.recordings = new RecordingList(byId('recordings'), this.api, {
      replay: (entry) => this.startReplay(entry),
      remove: (entry) => this.command({ type: 'delete_recording', recording: entry.id }),
    });
    this.replayBar = new ReplayBar(byId('replay'), () => this.stopReplay());
    const complain = (text: string) => this.toasts.show(text);
    this.jobs = new Jobs(byId('jobs'), this.api, (job) => this.command({ type: 'cancel_job', job }), complain);
    new DropZone(byId('drop'), (files) => this.upload(files));
    const help = new Help(byId<HTMLDialogElement>('help'));
    this.connectButtons(help);

    this.feed = new Feed({
      open: () => new WebSocket(this.api.feedAddress()) as unknown as Socket,
      refusal: () => this.api.refusal(),
      events: {
        link: (link, reason) => this.linked(link, reason),
        message: (message) => this.received(message),
        frame: (frame) => this.plot(frame),
        near: (frame) => {
          if (frame.generation === this.generation && !this.player) this.world.near(frame);
        },
      },
    });
    this.feed.connect();
    requestAnimationFrame((now) => this.step(now));
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.sound.feel(0); // what it would hear next comes with an animation frame
    });
    // A hidden page gets no animation frames, but whoever holds a hand has to say so now and then.
    setInterval(() => this.hand.tick(performance.now()), 1000);
  }

  // ---- every animation frame ----

  private step(now: number): void {
    requestAnimationFrame((next) => this.step(next));
    const seconds = Math.min(0.1, (now - this.lastStep) / 1000);
    this.lastStep = now;
    if (!this.player) {
      this.keyboard.step(seconds);
      this.gamepad.step(seconds);
      this.hand.tick(performance.now());
    }
    this.showFrame(seconds);
    this.stage.step(now);
    if (now - this.lastPlots >= kPlotsEvery) {
      this.lastPlots = now;
      this.plots.draw();
      if (this.shown) {
        this.readout.show(this.shown, this.maxForce());
        this.plots.markLevel(this.shown);
      }
      this.layout.hint(this.hintText());
    }
    if (!this.interactiveAt && this.world.complete && this.shown) this.interactiveAt = performance.now();
  }

  private showFrame(seconds: number): void {
    let frame = this.feed.latest;
    if (this.player) {
      this.player.step(seconds);
      this.replayBar.show();
      this.plots.setCursor(this.player.time);
      frame = this.player.frame;
    } else if (frame?.generation !== this.generation) {
      frame = null;
    }
    if (!frame || frame === this.shown) return;
    this.shown = frame;
    this.world.show(frame);
    const force = frame.hands.reduce((most, hand) => Math.max(most, Math.hypot(...hand.force)), 0);
    this.sound.feel(force / this.maxForce());
    this.gamepad.feel(Math.min(1, force / this.maxForce()), performance.now());
  }

  // Nothing can be grabbed or heard until the next frame is shown.
  private showNothing(): void {
    this.shown = null;
    this.sound.feel(0);
  }

  private plot(frame: StateFrame): void {
    if (frame.generation !== this.generation || this.player) return;
    this.plots.add(frame);
    this.setRecording((frame.flags & StateFlag.recording) !== 0);
    this.layout.viewers(frame.viewers);
  }

  private maxForce(): number {
    return this.world.info?.hands[0]?.maxForce || 8;
  }

  private hintText(): string {
    if (this.player) return '';
    if (this.feed.link !== 'open') return '';
    if (!this.world.info || this.world.info.hands.length === 0) return 'Pick a scene, or drop two parts to try to assemble them.';
    const hand = this.shown?.hands.find((entry) => entry.hand === this.hand.index);
    if (this.hand.grip === 'held') {
      if (hand && hand.flags & HandFlag.forceLimited) return 'This is the largest force you may feel.';
      if (!this.hand.isMovedBy('pointer')) return 'You hold the part · Esc lets go';
      return this.pointer.byTouch ? 'Second finger: pinch for depth, twist to roll' : 'Wheel: depth · Shift: turn';
    }
    if (hand?.holder === Holder.viewer) return 'Another viewer holds the part.';
    if (hand?.holder === Holder.device) return 'A device at the server holds the part.';
    if (hand?.holder === Holder.script) return 'A script moves the part. Drag it to take over.';
    return 'Drag the coloured part into the other one · ? for all gestures';
  }

  // ---- from the server ----

  private linked(link: Link, reason: string): void {
    this.layout.link(link, reason);
    if (link === 'open') return;
    this.forgetScene();
    this.jobs.clear();
    if (link === 'waiting' && reason) this.toasts.show(reason);
  }

  private received(message: Message): void {
    switch (message.type) {
      case 'hello':
        this.uploadBytes = message.uploadBytes;
        this.parts.allow(message.features);
        this.settings.allow(message.features);
        this.layout.allowRecording(message.features.includes('record'));
        this.sendView();
        void this.loadGallery();
        if (message.protocol !== 1) this.toasts.show('The server speaks another protocol. Reload the page.');
        break;
      case 'scenes':
        void this.loadGallery();
        break;
      case 'scene':
        void this.loadScene();
        break;
      case 'hand':
        this.hand.answered(message.hand, message.state, message.reason);
        break;
      case 'job':
        this.jobs.show(message);
        break;
      case 'recording':
        this.setRecording(message.active);
        break;
      case 'recordings':
        this.recordingEntries = message.recordings;
        this.recordings.set(message.recordings, (scene) => this.gallery.titleOf(scene));
        break;
      case 'settings':
        this.settings.set(message.settings);
        this.world.limitForce(message.settings.maxForce);
        break;
      case 'reply':
        if (message.ok) break;
        this.toasts.show(message.reason || 'The server refused.');
        this.settings.restore(); // it may have been a slider
        break;
      case 'error':
        this.toasts.show(message.reason);
        break;
      case 'unknown':
        break;
    }
  }

  private async loadGallery(): Promise<void> {
    await this.attempt(async () => {
      this.gallery.set(await this.api.scenes());
      this.gallery.mark(this.world.info?.name ?? '');
      this.recordings.set(this.recordingEntries, (scene) => this.gallery.titleOf(scene));
    });
  }

  // What the picture shows is no longer what the server has open.
  private forgetScene(): void {
    this.generation = 0;
    ++this.sceneRequest;
    this.hand.forget();
    this.showNothing();
  }

  private async loadScene(): Promise<void> {
    this.forgetScene();
    ++this.replayRequest;
    if (this.player && this.world.info) this.stopReplay();
    const request = this.sceneRequest;
    const isWanted = () => request === this.sceneRequest;
    const scene = await this.insist(isWanted, () => this.api.scene());
    if (!scene) return;
    const before = this.world.info;
    // The eye stays where it is when a part was added or the server came back with the same scene.
    const keepView = before !== null && before.name === scene.name && isAlike(before.bounds, scene.bounds);
    this.plots.clear();
    this.world.open(scene, keepView);
    this.generation = scene.generation;
    this.parts.set(scene);
    this.layout.title(scene.title);
    this.gallery.mark(scene.name);
    const meshes = scene.parts.map(async (part) => {
      const mesh = await this.insist(isWanted, () => this.api.mesh(part.id, scene.generation));
      if (mesh) this.world.addPart(part, mesh);
    });
    await Promise.all(meshes);
    if (isWanted() && this.waitingReplay?.scene === scene.name) this.startReplay(this.waitingReplay);
  }

  // Asks until the server answers (it may be too busy just now); null once the answer is no longer wanted.
  private async insist<T>(isWanted: () => boolean, ask: () => Promise<T>): Promise<T | null> {
    for (let attempt = 0; ; ++attempt) {
      try {
        const answer = await ask();
        return isWanted() ? answer : null;
      } catch (error) {
        // What has been replaced meanwhile may fail to load; that is nobody's concern.
        if (!isWanted()) return null;
        this.toasts.show(messageOf(error));
      }
      await new Promise((resolve) => setTimeout(resolve, 1000 * backOff(attempt, Math.random())));
      if (!isWanted()) return null;
    }
  }

  // ---- to the server ----

  private command(command: Command): void {
    if (!this.feed.send({ ...command, id: ++this.commands })) {
      this.toasts.show('There is no connection to the server right now.');
    }
  }

  private openScene(name: string): void {
    this.stopReplay();
    this.hand.drop();
    this.command({ type: 'open_scene', name });
    this.layout.sceneChosen();
  }

  // A hand that went on holding would pull the part back to where it was.
  private reset(): void {
    this.hand.drop();
    this.command({ type: 'reset' });
  }

  private sendView(): void {
    const { near, traversed, rumble, fps } = this.settings.choices;
    this.world.setNear(near);
    this.world.showTraversed = traversed;
    this.gamepad.rumble = rumble;
    this.feed.send({ type: 'view', near, traversed, fps });
  }

  private upload(files: File[]): void {
    const unit = this.parts.unit.value;
    void (async () => {
      // One after the other: the first part stays, the second goes into the hand.
      for (const file of files) {
        const wrong = objection(file.name, file.size, this.uploadBytes);
        if (wrong) this.toasts.show(wrong);
        else await this.jobs.upload(file, unit);
      }
    })();
  }

  private async save(name: string): Promise<void> {
    await this.attempt(async () => {
      const saved = await this.api.saveScene(name);
      this.toasts.show(`Saved. Open it again with: ${saved.play || saved.file}`, 'info');
      await this.loadGallery();
    });
  }

  private setRecording(active: boolean): void {
    if (active === this.recording) return;
    this.recording = active;
    this.layout.recording(active);
  }

  private toggleRecording(): void {
    this.command({ type: this.recording ? 'record_stop' : 'record_start' });
  }

  // ---- replay ----

  private startReplay(entry: RecordingEntry): void {
    this.stopReplay();
    this.hand.drop();
    if (entry.scene !== this.world.info?.name) {
      this.waitingReplay = entry;
      this.command({ type: 'open_scene', name: entry.scene });
      return;
    }
    const request = this.replayRequest;
    void this.attempt(async () => {
      const recording = await this.api.recording(entry.id);
      if (request !== this.replayRequest) return;
      this.player = new Player(recording);
      this.world.setNear(false); // a recording does not hold distances, and the live ones belong to another moment
      this.plots.showRecording(recording.frames);
      this.layout.showReadouts();
      this.replayBar.open(this.player);
    });
  }

  private stopReplay(): void {
    this.waitingReplay = null;
    ++this.replayRequest;
    if (!this.player) return;
    this.player = null;
    this.showNothing();
    this.world.setNear(this.settings.choices.near);
    this.plots.clear();
    this.replayBar.close();
  }

  // ---- wiring ----

  private makeHand(): Hand {
    return new Hand({
      take: (hand) => {
        if (this.player) return false;
        this.stopReplay(); // whoever grabs the part does not wait for a replay any more
        return this.feed.send({ type: 'take_hand', hand });
      },
      release: (hand) => void this.feed.send({ type: 'release_hand', hand }),
      input: (hand, pose) => {
        this.feed.sendInput({ hand, buttons: 0, generation: this.generation, pose: toWire(pose) });
      },
      object: (hand) => {
        const state = this.shown?.hands.find((entry) => entry.hand === hand);
        return state ? fromWire(state.object) : null;
      },
      limit: (pose) => withinReach(pose, this.stage.centre, this.stage.size),
      changed: () => this.layout.grip(this.hand.grip),
      refused: (reason) => this.toasts.show(reason),
    });
  }

  private makeView(): PointerView {
    return {
      pick: (x, y) => {
        if (this.player) return null;
        const hit = this.stage.hit(x, y, this.world.grabbable());
        const hand = hit && this.world.handOf(hit.object);
        return hit && hand !== null ? { hand, point: hit.point } : null;
      },
      ray: (x, y) => this.stage.ray(x, y),
      basis: () => this.stage.basis(),
      pivot: (hand: number, pose: HandPose): Vector3 => this.world.pivot(hand, pose),
      sceneSize: () => this.stage.size,
      setOrbiting: (on) => (this.stage.controls.enabled = on),
      grabbed: (local) => (this.world.grabbed = local),
    };
  }

  private connectButtons(help: Help): void {
    const soundButton = byId('sound');
    soundButton.addEventListener('click', () => soundButton.setAttribute('aria-pressed', String(this.sound.toggle())));
    byId('theme').addEventListener('click', () => this.theme.toggle());
    byId('help-open').addEventListener('click', () => help.toggle());
    byId('reset').addEventListener('click', () => this.reset());
    byId('record').addEventListener('click', () => this.toggleRecording());
    const lookAtAll = () => this.world.info && this.stage.lookAt(this.world.info.bounds);
    byId('stage').addEventListener('dblclick', (event) => {
      if (!this.stage.hit(event.clientX, event.clientY, this.world.grabbable())) lookAtAll();
    });
    const keys: Record<string, () => void> = {
      KeyF: lookAtAll,
      KeyR: () => this.reset(),
      KeyG: () => this.layout.toggleGallery(),
      KeyP: () => this.layout.toggleSide(),
      Space: () => (this.player ? this.replayBar.toggle() : this.toggleRecording()),
      Escape: () => this.replayBar.exit(),
    };
    window.addEventListener('keydown', (event) => {
      if (event.repeat) return;
      // An open dialog takes everything but the key that opened it.
      if (event.key === '?' && (help.isOpen || isForPage(event))) return help.toggle();
      if (!isForPage(event)) return;
      const action = keys[event.code];
      if (!action) return;
      event.preventDefault();
      action();
    });
  }

  private repaint(): void {
    this.stage.setTheme(cssColor('--bg'), cssColor('--grid'));
    this.plots?.build();
  }

  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.toasts.show(messageOf(error));
    }
  }
}

function isAlike(a: { min: number[]; max: number[] }, b: { min: number[]; max: number[] }): boolean {
  const size = Math.hypot(...a.max.map((value, i) => value - a.min[i]!)) || 1;
  const off = (p: number[], q: number[]) => Math.hypot(...p.map((value, i) => value - q[i]!));
  return off(a.min, b.min) < 0.2 * size && off(a.max, b.max) < 0.2 * size;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
