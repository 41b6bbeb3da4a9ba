// Parts of the user's own: dropped or chosen files on their way to the server, what it prepares, and scenes that are saved.
import type { Api } from './api';
import { byId } from './dom';
import { messageOf } from './loading';
import type { Command, Job, Scene } from './messages';
import { DropZone, Jobs, objection } from './panels/drop';
import { PartsPanel } from './panels/parts';
import type { Toasts } from './panels/toast';
import type { SharedWorld } from './shared-world';
import { bundled } from './bundle';

export interface OwnPartsPort {
  send(command: Command): void;
  saved(): void; // there is one more scene to choose from
  api: Api;
  toasts: Toasts;
  shared: SharedWorld;
}

export class OwnParts {
  private readonly panel: PartsPanel;
  private readonly jobs: Jobs;
  private uploadBytes = Infinity;

  constructor(private readonly port: OwnPartsPort) {
    const { api, toasts, shared } = port;
    this.panel = new PartsPanel(byId('parts'), {
      add: (files) => void this.upload(files),
      remove: (body) => shared.remove(body),
      reimport: (body, change) => port.send({ type: 'reimport', body, ...change }),
      setMotion: (body, motion) => shared.setMotion(body, motion),
      save: (name, replace) => void this.save(name, replace),
    });
    this.jobs = new Jobs(byId('jobs'), api, (job) => port.send({ type: 'cancel_job', job }), (text) => toasts.show(text));
    new DropZone(byId('drop'), (files) => void this.upload(files));
  }

  allow(features: string[], uploadBytes: number): void {
    this.uploadBytes = uploadBytes;
    this.panel.allow(features);
  }

  hold(reason: string): void {
    this.panel.hold(reason);
  }

  restore(): void {
    this.panel.restore();
  }

  sceneOpened(scene: Scene): void {
    this.panel.set(scene);
  }

  showJob(job: Job): void {
    this.jobs.show(job);
  }

  disconnected(): void {
    this.jobs.clear();
  }

  private async upload(files: File[]): Promise<void> {
    const { shared, toasts } = this.port;
    if (shared.held) return toasts.show(shared.held);
    const wish = this.panel.wish;
    // One after the other: the first part stays, the second goes into the hand.
    for (const file of await bundled(files)) {
      const wrong = objection(file.name, file.data.size, this.uploadBytes);
      if (wrong) toasts.show(wrong);
      else await this.jobs.upload(file, { ...wish, split: wish.split || file.name.toLowerCase().endsWith('.zip') });
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
