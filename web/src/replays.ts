// Starting and ending replays. They are this page's own: nothing on the server is opened, moved or stopped for them, and whatever
// the others do meanwhile, a replay goes on. If the recording was made in another scene than the one in the picture, that scene is
// shown until the replay ends.
import type { RecordingEntry } from './messages';
import type { Recording } from './protocol';
import type { Story } from './recorded';
import { Player } from './replay';

export interface ReplayPort {
  sceneName(): string; // in the picture
  showScene(id: string): Promise<boolean>; // that a recording was made in; false if it came to nothing
  fetch(id: string): Promise<[Recording, Story]>;
  started(player: Player): void;
  stopped(): void;
  showLive(): void; // the picture is no longer that of the scene which the server has open
  failed(error: unknown): void;
}

export class Replays {
  player: Player | null = null;
  away = false; // the picture shows the recording's own scene
  private outdated = false; // the server has opened another scene since
  private request = 0; // counts up with all that makes a recording on its way unwanted

  constructor(private readonly port: ReplayPort) {}

  start(entry: RecordingEntry): void {
    this.stop();
    const request = this.request;
    void this.play(entry, () => request === this.request).catch((error: unknown) => this.port.failed(error));
  }

  private async play(entry: RecordingEntry, isWanted: () => boolean): Promise<void> {
    const [recording, story] = await this.port.fetch(entry.id);
    if (!isWanted()) return;
    if (entry.scene !== this.port.sceneName()) {
      this.away = true;
      const shown = await this.port.showScene(entry.id);
      if (!isWanted()) return;
      if (!shown) return this.stop();
    }
    this.player = new Player(recording, story);
    this.port.started(this.player);
  }

  stop(): void {
    ++this.request;
    const showLive = this.away || this.outdated;
    this.away = this.outdated = false;
    if (this.player) {
      this.player = null;
      this.port.stopped();
    }
    if (showLive) this.port.showLive();
  }

  // The server has opened another scene. True if the picture is a replay's, which it stays until the end.
  sceneChanges(): boolean {
    if (!this.player && !this.away) return false;
    this.outdated = true;
    return true;
  }
}
