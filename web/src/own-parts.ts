// Parts of the user's own: dropped or chosen files on their way to the server, what it prepares, and scenes that are saved.
import type { Api } from './api';
import { byId } from './dom';
import { messageOf } from './loading';
import type { Command, Job, Scene } from './messages';
import { DropZone, Jobs, objection } from './panels/drop';
import type { Losing } from './panels/losing';
import { PartsPanel } from './panels/parts';
import type { Toasts } from './panels/toast';
import type { SharedWorld } from './shared-world';
import { bundled } from './bundle';

export interface OwnPartsPort {
  send(command: Command): void;
  saved(): void; // there is one more scene to choose from
  replaying(): boolean;
  api: Api;
  toasts: Toasts;
  shared: SharedWorld;
  losing: Losing;
}

export class OwnParts {
  private readonly panel: PartsPanel;
  private readonly jobs: Jobs;
  private uploadBytes = Infinity;
  private mayAdd = true;
  private scene: Scene | null = null; // that is open

  constructor(private readonly port: OwnPartsPort) {
    const { api, toasts, shared, losing } = port;
    this.panel = new PartsPanel(byId('parts'), {
      add: (files) => void this.upload(files),
      remove: (body) => shared.remove(body),
      reimport: (body, change) => port.send({ type: 'reimport', body, ...change }),
      setMotion: (body, motion) => shared.setMotion(body, motion),
      save: (name, replace) => void this.save(name, replace),
    });
    this.jobs = new Jobs(byId('jobs'), api, losing, (job) => port.send({ type: 'cancel_job', job }), (text) => toasts.show(text));
    new DropZone(byId('drop'), {
      scene: () => this.scene,
      obstacle: () => this.obstacle(),
      dropped: (files, alone) => void this.upload(files, alone),
    });
  }

  allow(features: string[], uploadBytes: number): void {
    this.uploadBytes = uploadBytes;
    this.mayAdd = features.includes('upload');
    this.panel.allow(features);
  }

  hold(reason: string): void {
    this.panel.hold(reason);
  }

  restore(): void {
    this.panel.restore();
  }

  sceneOpened(scene: Scene): void {
    this.scene = scene;
    this.panel.set(scene);
  }

  showJob(job: Job): void {
    this.jobs.show(job);
  }

  disconnected(): void {
    this.jobs.clear();
  }

  // Why nothing can be added now, in words; '' = it can.
  private obstacle(): string {
    if (!this.mayAdd) return 'Your link does not let you add parts; ask an owner to do it.';
    if (this.port.replaying()) return 'Parts go into the live scene. Close the replay first.';
    return this.port.shared.held;
  }

  private async upload(files: File[], alone = false): Promise<void> {
    const { toasts } = this.port;
    const obstacle = this.obstacle();
    if (obstacle) return toasts.show(obstacle);
    const wish = this.panel.wish;
    let opens = alone || wish.alone;
    let opening: number | null = null; // the job of the first
    // One after the other: in an empty scene the first part stays, the second goes into the hand.
    for (const file of await bundled(files)) {
      const wrong = objection(file.name, file.data.size, this.uploadBytes);
      if (wrong) {
        toasts.show(wrong);
        continue;
      }
      const split = wish.split || file.name.toLowerCase().endsWith('.zip');
      // If the first opens no scene, the others were not meant for the one that is still open.
      if (opening !== null && !(await this.jobs.done(opening))) return;
      const sent = await this.jobs.upload(file, { ...wish, split, alone: opens });
      if (sent === null && opens) return;
      opening = opens ? sent : null;
      opens = false;
      this.panel.addToOpenScene();
    }
  }

  private async save(name: string, replace: boolean): Promise<void> {
    const { api, toasts, saved } = this.port;
    try {
      const answer = await api.saveScene(name, replace);
      if (!answer) return this.panel.askToReplace(name);
      toasts.show(`Saved. Open it again with: ${answer.play || answer.file}`, 'info');
      saved();
    } catch (error) {
      toasts.show(messageOf(error));
    }
  }
}
