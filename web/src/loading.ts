// Fetches the scene that the server has open, or that of a recording, and its meshes one by one. The server may be too busy just now, so it asks
// again; and what has been replaced meanwhile may come to nothing.
import type { SceneSource } from './api';
import type { ElasticBasis } from './elastic-basis';
import { backOff } from './feed';
import type { Bounds, PartInfo, Scene } from './messages';
import type { MeshData } from './protocol';

export interface LoadingEvents {
  opened(scene: Scene): void;
  mesh(part: PartInfo, mesh: MeshData, basis: ElasticBasis | null): void; // null: the part is drawn rigid
  failed(reason: string): void;
}

export class SceneLoader {
  generation = 0; // of the scene in the picture; 0 while the server has another one, whose frames do not fit, or a recording's is shown
  private request = 0; // counts up with all that makes a scene on its way unwanted

  constructor(
    private readonly live: SceneSource,
    private readonly events: LoadingEvents,
  ) {}

  // What the picture shows is no longer what the server has open.
  forget(): void {
    this.generation = 0;
    ++this.request;
  }

  // The scene once all its meshes are there; null if it is no longer wanted.
  async load(source = this.live): Promise<Scene | null> {
    this.forget();
    const request = this.request;
    const isWanted = () => request === this.request;
    const scene = await this.insist(isWanted, () => source.scene());
    if (!scene) return null;
    this.generation = scene.generation;
    this.events.opened(scene);
    const meshes = scene.parts.map(async (part) => {
      const { id, elastic } = part;
      const mesh = await this.insist(isWanted, () => source.mesh(id, scene.generation));
      const basis = elastic && (await this.insist(isWanted, () => source.elastic(id, scene.generation)));
      if (mesh && isWanted()) this.events.mesh(part, mesh, basis);
    });
    await Promise.all(meshes);
    return isWanted() ? scene : null;
  }

  // Asks until the server answers; null once the answer is no longer wanted.
  private async insist<T>(isWanted: () => boolean, ask: () => Promise<T>): Promise<T | null> {
    for (let attempt = 0; ; ++attempt) {
      try {
        const answer = await ask();
        return isWanted() ? answer : null;
      } catch (error) {
        // What has been replaced meanwhile may fail to load; that is nobody's concern.
        if (!isWanted()) return null;
        this.events.failed(messageOf(error));
      }
      await new Promise((resolve) => setTimeout(resolve, 1000 * backOff(attempt, Math.random())));
      if (!isWanted()) return null;
    }
  }
}

// The eye stays where it is when a part was added or the server came back with the same scene.
export function looksAlike(before: Scene | null, now: Scene): boolean {
  return before !== null && before.name === now.name && isAlike(before.bounds, now.bounds);
}

function isAlike(a: Bounds, b: Bounds): boolean {
  const size = Math.hypot(...a.max.map((value, i) => value - a.min[i]!)) || 1;
  const off = (p: number[], q: number[]) => Math.hypot(...p.map((value, i) => value - q[i]!));
  return off(a.min, b.min) < 0.2 * size && off(a.max, b.max) < 0.2 * size;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
