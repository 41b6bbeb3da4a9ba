// The page as a whole: what arrives from the server goes to the picture and the panels, what the user does goes to the server.
import { Api } from './api';
import { Sound } from './cues';
import { byId, copyText, element, remembered } from './dom';
import { takeToken } from './door';
import { Elasticity } from './elasticity';
import { feltHand } from './felt';
import { Feed, type Link, type Socket } from './feed';
import { Clicks } from './hands/click';
import { GamepadHand } from './hands/gamepad';
import { Hand } from './hands/hand';
import { KeyboardHand } from './hands/keyboard';
import { OrbitKeys } from './hands/orbit-keys';
import { toWire, withinReach } from './hands/motion';
import { PointerHand, type PointerView } from './hands/pointer';
import { hintOf } from './hint';
import { looksAlike, messageOf, SceneLoader } from './loading';
import type { Command, Message, RecordingEntry, Scene } from './messages';
import { DevicesPanel } from './panels/devices';
import { Gallery } from './panels/gallery';
import { Help } from './panels/help';
import { Layout } from './panels/layout';
import { LinksPanel } from './panels/links';
import { Losing } from './panels/losing';
import { Plots } from './panels/plots';
import { Readout } from './panels/readout';
import { RecordingList, ReplayBar } from './panels/recorder';
import { SettingsPanel } from './panels/settings';
import { TaskPanel } from './panels/task';
import { Toasts } from './panels/toast';
import { WorldPanel } from './panels/world';
import { OwnParts } from './own-parts';
import { ClockFlag, kVersion, type StateFrame } from './protocol';
import type { Player } from './replay';
import { Replays } from './replays';
import { SharedWorld } from './shared-world';
import { Sharing } from './sharing';
import { connectButtons } from './shortcuts';
import { cssColor, ThemeSwitch } from './theme';
import { Stage } from './view/stage';
import { WorldView } from './view/world';

const kPlotsEvery = 100; // milliseconds

export class App {
  readonly api: Api;
  readonly feed: Feed;
  readonly stage = new Stage(byId<HTMLCanvasElement>('stage'));
  readonly shared = new SharedWorld(
    (command) => this.command(command),
    () => this.sharedChanged(),
  );
  readonly world = new WorldView(this.stage, byId('labels'), this.shared);
  readonly hand: Hand;
  readonly sharing: Sharing;
  shown: StateFrame | null = null;
  interactiveAt = 0; // milliseconds after the page was opened

  private readonly toasts = new Toasts(byId('toasts'));
  private readonly gallery: Gallery;
  private readonly readout: Readout;
  private readonly taskPanel: TaskPanel;
  private readonly plots: Plots;
  private readonly ownParts: OwnParts;
  private readonly settings: SettingsPanel;
  private readonly worldPanel: WorldPanel;
  private readonly devices: DevicesPanel;
  private readonly elasticity: Elasticity;
  private readonly recordings: RecordingList;
  private readonly replayBar: ReplayBar;
  private readonly links: LinksPanel;
  private readonly losing = new Losing(byId('losing'), (command) => this.command(command));
  private readonly layout: Layout;
  private readonly theme: ThemeSwitch;
  private readonly sound = new Sound();
  private readonly pointer: PointerHand;
  private readonly keyboard: KeyboardHand;
  private readonly gamepad: GamepadHand;
  private readonly scenes: SceneLoader;
  private readonly replays: Replays;
  private recording = false;
  private commands = 0;
  private recordingEntries: RecordingEntry[] = [];
  private lastStep = performance.now();
  private lastPlots = 0;

  constructor(address: Location) {
    this.api = this.makeApi(address);
    this.stage.controls.addEventListener('change', () => this.world.redraw());
    this.hand = this.makeHand();
    const view = this.makeView();
    new Clicks(byId('stage'), (x, y) => {
      if (this.replays.away) return; // those bodies are not there any more
      if (this.sharing.marking.clicked(x, y) || this.elasticity.clicked(x, y)) return;
      this.shared.select(this.world.bodyAt(x, y));
    });
    this.pointer = new PointerHand(byId('stage'), view, this.hand);
    this.keyboard = new KeyboardHand(view, this.hand);
    new OrbitKeys(byId('stage'), this.stage);
    this.gamepad = new GamepadHand(view, this.hand, (name) => this.toasts.show(`Gamepad connected: ${name}`, 'info'));
    this.scenes = new SceneLoader(this.api, {
      opened: (scene) => (this.replays.away ? this.openedRecorded(scene) : this.openedScene(scene)),
      mesh: (part, mesh, basis) => {
        this.world.addPart(part, mesh, basis);
        if (!this.replays.away) this.elasticity.show();
        if (part.elastic && !this.world.bent.basisOf(part.body)) this.toasts.show(`${part.name} bends in more ways than a page can show; it is drawn rigid.`, 'info');
      },
      failed: (reason) => this.toasts.show(reason),
    });
    this.replays = this.makeReplays();

    this.gallery = new Gallery(byId('scenes'), (path) => this.api.picture(path), {
      open: (name) => this.openScene(name),
      remove: (name) => this.command({ type: 'delete_scene', name }),
    });
    const [task, plots] = [element('div', { className: 'group', id: 'task' }), element('div', { className: 'plots' })];
    byId('feel').append(task);
    this.taskPanel = new TaskPanel(task, () => this.shared.restartTask());
    this.readout = new Readout(byId('feel'));
    byId('feel').append(plots);
    this.layout = new Layout(this.stage, (turning) => (this.pointer.turning = turning));
    this.theme = new ThemeSwitch(() => this.repaint());
    this.theme.apply();
    this.sharing = this.makeSharing(address);
    this.plots = new Plots(plots);
    const { api, toasts, shared, losing } = this;
    this.ownParts = new OwnParts({ send: (command) => this.command(command), saved: () => void this.loadGallery(), replaying: () => this.player !== null, api, toasts, shared, losing });
    this.worldPanel = new WorldPanel(byId('world'), this.shared, () => this.feed.greet());
    this.elasticity = new Elasticity({ send: (command) => this.command(command), world: this.world, shared: this.shared }, this.worldPanel.people);
    this.devices = new DevicesPanel(
      byId('world'),
      (device, on) => this.command({ type: 'device', device, on }),
      (body) => this.shared.bodyName(body),
    );
    this.settings = new SettingsPanel(byId('settings'), {
      choices: () => this.sendView(),
      settings: (change) => this.command({ type: 'settings', ...change }),
    });
    this.recordings = new RecordingList(byId('recordings'), {
      replay: (entry) => {
        this.hand.drop();
        this.replays.start(entry);
      },
      remove: (entry) => this.command({ type: 'delete_recording', recording: entry.id }),
      download: (entry, ending) => void this.attempt(() => this.api.download(entry.id, ending)),
    });
    this.links = new LinksPanel(byId('settings'), {
      list: () => this.api.links(),
      add: (rights, label, minutes) => this.api.addLink(rights, label, minutes),
      revoke: (id) => this.api.revokeLink(id),
      copy: copyText,
      tell: (text, kind) => this.toasts.show(text, kind),
    });
    this.replayBar = new ReplayBar(byId('replay'), () => this.replays.stop());
    this.connectButtons();

    this.feed = new Feed({
      open: () => new WebSocket(this.api.feedAddress(), this.api.feedProtocols()) as unknown as Socket,
      refusal: () => this.api.door.enter(), // whoever has been away comes in anew
      name: () => remembered('name') ?? '',
      events: {
        link: (link, reason) => this.linked(link, reason),
        message: (message) => this.received(message),
        frame: (frame) => this.plot(frame),
        near: (frame) => {
          if (frame.generation === this.scenes.generation && !this.player) this.world.near(frame);
        },
      },
    });
    void this.api.door.enter().then((refusal) => (refusal ? this.linked('refused', refusal) : this.feed.connect()));
    requestAnimationFrame((now) => this.step(now));
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.sound.feel(0); // what it would hear next comes with an animation frame
    });
    // A hidden page gets no animation frames, but whoever holds a hand has to say so now and then.
    setInterval(() => this.hand.tick(performance.now()), 1000);
  }

  get player(): Player | null {
    return this.replays.player;
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
    this.elasticity.step(seconds);
    this.stage.step(now);
    if (now - this.lastPlots >= kPlotsEvery) {
      this.lastPlots = now;
      this.plots.draw();
      if (this.shown) {
        this.readout.show(this.shown, this.maxForce(), this.feeler());
        this.plots.markLevel(this.shown, this.feeler());
      }
      this.taskPanel.show(this.shown?.task ?? null, this.shared.task?.title ?? 'Task', (body) => this.shared.bodyName(body));
      this.worldPanel.showBody(this.shown);
      this.elasticity.showStrain();
      this.sharing.step(this.shown);
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
    } else if (frame?.generation !== this.scenes.generation) {
      frame = null;
    }
    if (!frame || frame === this.shown) return;
    this.shown = frame;
    this.world.show(frame);
    const force = Math.hypot(...(feltHand(frame.hands, this.feeler())?.force ?? []));
    this.sound.feel(force / this.maxForce());
    this.gamepad.feel(Math.min(1, force / this.maxForce()), performance.now());
  }

  // Nothing can be grabbed or heard until the next frame is shown.
  private showNothing(): void {
    this.shown = null;
    this.sound.feel(0);
  }

  private plot(frame: StateFrame): void {
    if (frame.generation !== this.scenes.generation || this.player) return;
    this.plots.add(frame, this.feeler());
    this.setRecording((frame.flags & ClockFlag.recording) !== 0);
    this.layout.viewers(frame.viewers);
  }

  // Whose hand comes first: this page's; in a recording nobody's.
  private feeler(): number {
    return this.player ? 0 : this.shared.me;
  }

  private maxForce(): number {
    return this.world.info?.maxForce || 8;
  }

  private hintText(): string {
    const byPointer = this.hand.isMovedBy('pointer');
    return hintOf({
      live: !this.player && this.feed.link === 'open',
      watches: this.shared.rights === 'watch',
      graspable: this.shared.bodies.filter((body) => body.graspable).length,
      bends: this.shared.bodies.some((body) => body.graspable && this.world.isHeldAtPoint(body.id)),
      grip: this.hand.grip,
      movedBy: byPointer ? (this.pointer.byTouch ? 'touch' : 'mouse') : 'other',
      me: this.shared.me,
      hands: this.shown?.hands ?? [],
      body: this.hand.body,
      nameOf: (participant) => this.shared.nameOf(participant),
      marking: this.sharing.marking.armed,
      holding: this.elasticity.picking,
      shared: this.sharing.together.shared,
    });
  }

  // ---- from the server ----

  private linked(link: Link, reason: string): void {
    this.layout.link(link, reason);
    if (link === 'open') return;
    this.forgetScene();
    this.ownParts.disconnected();
    this.sharing.disconnected();
    if (link === 'waiting' && reason) this.toasts.show(reason);
  }

  private received(message: Message): void {
    this.shared.received(message);
    this.sharing.received(message);
    switch (message.type) {
      case 'hello':
        this.api.participant = message.participant;
        document.body.dataset.rights = message.rights; // style.css hides what others may not do
        this.links.allow(message.features);
        this.ownParts.allow(message.features, message.uploadBytes);
        this.settings.allow(message.features);
        this.devices.allow(message.features);
        this.elasticity.allow(message.features, message.materials);
        this.taskPanel.allow(this.shared.canRestart);
        this.layout.allowRecording(message.features.includes('record'));
        this.sendView();
        void this.loadGallery();
        if (message.protocol !== kVersion) {
          this.toasts.show(`The server speaks version ${message.protocol} of the protocol, this page version ${kVersion}. Reload the page.`);
        }
        break;
      case 'scenes':
        void this.loadGallery();
        break;
      case 'scene':
        void this.loadScene();
        break;
      case 'hand':
        this.hand.answered(message);
        if (message.state === 'granted') this.shared.select(message.body); // the World panel is about what was taken
        break;
      case 'devices':
        this.devices.set(message.devices);
        break;
      case 'job':
        this.ownParts.showJob(message);
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
        if (message.code !== 'unkept' || !this.losing.refused(message.id, message.reason)) this.toasts.show(message.reason || 'The server refused.');
        this.settings.restore(); // it may have been a slider
        this.worldPanel.show();
        this.ownParts.restore();
        this.sharing.restore();
        break;
      case 'error':
        this.toasts.show(message.reason);
        break;
      default: // people and the world are the shared world's, the rest is from a later version
        break;
    }
  }

  private sharedChanged(): void {
    this.worldPanel?.show();
    this.elasticity?.show();
    this.holdScene();
    // Keys and sticks take what was selected, if it can be picked up.
    if (this.hand?.grip === 'free' && this.shared.selected?.graspable) this.hand.body = this.shared.selected.id;
    this.world?.redraw();
  }

  // What the server would refuse because the scene is shared is not offered.
  private holdScene(): void {
    const { held } = this.shared;
    this.gallery?.hold(held);
    this.ownParts?.hold(held);
    this.settings?.hold(held);
  }

  private async loadGallery(): Promise<void> {
    await this.attempt(async () => {
      this.gallery.set(await this.api.scenes());
      this.gallery.mark(this.world.info?.name ?? '');
      this.recordings.set(this.recordingEntries, (scene) => this.gallery.titleOf(scene));
    });
  }

  private forgetScene(): void {
    this.scenes.forget();
    this.hand.forget();
    this.showNothing();
  }

  private async loadScene(): Promise<void> {
    if (this.replays.sceneChanges()) return; // the live scene comes back when the replay ends
    this.forgetScene();
    await this.scenes.load();
  }

  // The scene that a recording was made in, for this page alone: the panels go on to be about the live one.
  private openedRecorded(scene: Scene): void {
    this.shared.select(null);
    this.world.open(scene, looksAlike(this.world.info, scene));
    this.layout.title(`Replay of ${scene.title || 'own parts'}`);
  }

  private openedScene(scene: Scene): void {
    this.plots.clear();
    this.world.open(scene, looksAlike(this.world.info, scene));
    this.hand.body = scene.bodies.find((body) => body.graspable)?.id ?? 0;
    this.shared.open(scene);
    this.sharing.sceneChanged();
    this.ownParts.sceneOpened(scene);
    this.layout.title(scene.title);
    this.gallery.mark(scene.name);
  }

  // ---- to the server ----

  private command(command: Command): void {
    this.losing.sent(++this.commands, command);
    if (!this.feed.send({ ...command, id: this.commands })) {
      this.toasts.show('There is no connection to the server right now.');
      this.worldPanel.show(); // a box may have been ticked in vain
      this.sharing.restore();
    }
  }

  private openScene(name: string): void {
    this.replays.stop();
    this.hand.drop();
    this.command({ type: 'open_scene', name });
    this.layout.sceneChosen();
  }

  // A hand that went on holding would pull the part back to where it was.
  private reset(): void {
    if (this.player) return this.toasts.show('Reset would act on the live scene. Close the replay first.', 'info');
    this.hand.drop();
    this.command({ type: 'reset' });
  }

  private sendView(): void {
    const { near, traversed, sparing, rumble, fps } = this.settings.choices;
    this.world.setNear(near);
    this.world.showTraversed = traversed;
    this.stage.sparing = sparing;
    this.gamepad.rumble = rumble;
    this.feed.send({ type: 'view', near, traversed, fps });
  }

  private setRecording(active: boolean): void {
    if (active === this.recording) return;
    this.recording = active;
    this.layout.recording(active);
  }

  private toggleRecording(): void {
    this.command({ type: this.recording ? 'record_stop' : 'record_start' });
  }

  // ---- wiring ----

  // The token is taken out of the address, where it could be read over a shoulder or copied by mistake.
  private makeApi(address: Location): Api {
    const { token, rest } = takeToken(address.hash);
    if (token) history.replaceState(null, '', address.pathname + address.search + rest);
    // Pasted into the address of a page that is open, it loads nothing anew.
    window.addEventListener('hashchange', () => {
      if (takeToken(address.hash).token) address.reload();
    });
    return new Api(token, address.origin, import.meta.env.VITE_SERVER_HOST || undefined);
  }

  private makeReplays(): Replays {
    return new Replays({
      sceneName: () => this.world.info?.name ?? '',
      showScene: async (id) => {
        this.forgetScene();
        return (await this.scenes.load(this.api.recorded(id))) !== null;
      },
      showLive: () => void this.loadScene(),
      fetch: (id) => Promise.all([this.api.recording(id), this.api.story(id)]),
      started: (player) => {
        this.world.setNear(false); // a recording does not hold distances, and the live ones belong to another moment
        this.world.story = player.story;
        this.plots.showRecording(player.recording.frames);
        this.layout.showReadouts();
        this.replayBar.open(player);
      },
      stopped: () => {
        this.world.story = null;
        this.showNothing();
        this.world.setNear(this.settings.choices.near);
        this.plots.clear();
        this.replayBar.close();
      },
      failed: (error) => this.toasts.show(messageOf(error)),
    });
  }

  private makeHand(): Hand {
    return new Hand({
      grasp: (body, point) => {
        if (this.player || this.shared.rights === 'watch') return false;
        this.replays.stop(); // whoever grabs a part does not wait for a replay any more
        const held = point ?? this.world.handle(body);
        return this.feed.send({ type: 'grasp', body, ...(held && { point: held.toArray() }) });
      },
      release: (hand) => void this.feed.send({ type: 'release_hand', ...(hand && { hand }) }),
      input: (hand, pose) => {
        this.feed.sendInput({ hand, buttons: 0, generation: this.scenes.generation, pose: toWire(pose) });
      },
      body: (body) => (this.shown ? this.world.graspablePose(body) : null),
      limit: (pose) => withinReach(pose, this.stage.centre, this.stage.size),
      changed: () => this.layout.grip(this.hand.grip),
      refused: (reason) => this.toasts.show(reason),
    });
  }

  private makeSharing(address: Location): Sharing {
    const { layout, toasts, world, shared } = this;
    const port = {
      send: (command: Command) => this.command(command),
      renamed: () => {
        this.feed.greet();
        this.worldPanel.show();
      },
      replaying: () => this.player !== null,
    };
    return new Sharing({ ...port, layout, toasts, world, shared }, address);
  }

  private makeView(): PointerView {
    return {
      pick: (x, y) => (this.player || this.sharing.marking.armed || this.elasticity.picking ? null : this.world.pick(x, y)),
      ray: (x, y) => this.stage.ray(x, y),
      basis: () => this.stage.basis(),
      pivot: (body, pose) => this.world.pivot(body, pose),
      sceneSize: () => this.stage.size,
      setOrbiting: (on) => (this.stage.controls.enabled = on),
      grabbed: (local) => (this.world.grabbed = local),
    };
  }

  private connectButtons(): void {
    const lookAtAll = () => {
      if (this.world.info) this.stage.lookAt(this.world.info.bounds);
    };
    byId('stage').addEventListener('dblclick', (event) => {
      if (!this.world.pick(event.clientX, event.clientY)) lookAtAll();
    });
    connectButtons(new Help(byId<HTMLDialogElement>('help')), {
      sound: () => this.sound.toggle(),
      theme: () => this.theme.toggle(),
      reset: () => this.reset(),
      record: () => this.toggleRecording(),
      pauseOrRecord: () => (this.player ? this.replayBar.toggle() : this.toggleRecording()),
      lookAtAll,
      toggleGallery: () => this.layout.toggleGallery(),
      toggleSide: () => this.layout.toggleSide(),
      toggleTogether: () => this.sharing.toggle(),
      writeToAll: () => this.sharing.writeToAll(),
      markPoint: () => this.sharing.marking.toggle(),
      enter: () => this.sharing.marking.entered(),
      escape: () => {
        this.sharing.marking.cancel();
        this.elasticity.cancel();
        this.replayBar.exit();
      },
    });
  }

  private repaint(): void {
    this.stage.setTheme(cssColor('--bg'), cssColor('--grid'));
    this.plots?.build();
    this.sharing?.repaint();
  }

  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.toasts.show(messageOf(error));
    }
  }
}
