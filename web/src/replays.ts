// Starting and ending replays: the recording's scene is opened first if need be, then its frames are fetched and played.
import type { RecordingEntry } from './messages';
import type { Recording } from './protocol';
import type { Story } from './recorded';
import { Player } from './replay';

export interface ReplayPort {
  sceneName(): string;
  openScene(name: string): void;
  fetch(id: string): Promise<[Recording, Story]>;
  started(player: Player): void;
  stopped(): void;
  failed(error: unknown): void;
}

export class Replays {
  player: Player | null = null;
  private waiting: RecordingEntry | null = null; // until its scene is open
  private request = 0; // counts up with all that makes a recording on its way unwanted

  constructor(private readonly port: ReplayPort) {}

  start(entry: RecordingEntry): void {
    this.stop();
    if (entry.scene !== this.port.sceneName()) {
      this.waiting = entry;
      this.port.openScene(entry.scene);
      return;
    }
    const request = this.request;
    void this.port
      .fetch(entry.id)
      .then(([recording, story]) => {
        if (request !== this.request) return;
        this.player = new Player(recording, story);
        this.port.started(this.player);
      })
      .catch((error: unknown) => this.port.failed(error));
  }

  stop(): void {
    this.waiting = null;
    ++this.request;
    if (!this.player) return;
    this.player = null;
    this.port.stopped();
  }

  // Another scene is on its way: what plays, or is being fetched, belongs to the old one.
  sceneChanges(): void {
    ++this.request;
    if (this.player && this.port.sceneName()) this.stop();
  }

  sceneLoaded(name: string): void {
    if (this.waiting?.scene === name) this.start(this.waiting);
  }
}
