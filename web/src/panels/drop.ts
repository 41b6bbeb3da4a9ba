// Files dropped anywhere on the page, and a progress bar for each thing the server prepares.
import { WouldLose, type Api, type UploadWish } from '../api';
import { button, element } from '../dom';
import * as format from '../format';
import type { Job, Scene } from '../messages';
import type { Losing } from './losing';
import { kEndings } from './parts';

const kCad = /\.(step|stp|p21|stpz|iges|igs|sldprt|sldasm|catpart|catproduct|ipt|iam|f3d|fcstd|brep|x_t|x_b|sat|jt)$/i;

// What is wrong with a file, in words, or '' when it can be sent.
export function objection(name: string, size: number, most: number): string {
  if (kCad.test(name)) {
    return `${name} holds the exact surfaces of a CAD program, which cotouch does not read yet. Export STL, 3MF, OBJ or glTF from there.`;
  }
  if (!kEndings.some((ending) => name.toLowerCase().endsWith(ending))) {
    return `${name} is not an STL, OBJ, PLY, glTF, 3MF or other mesh file, nor a ZIP of them.`;
  }
  if (size === 0) return `${name} is empty.`;
  if (size > most) return `${name} has ${format.bytes(size)}; the server takes ${format.bytes(most)} at most.`;
  return '';
}

export interface DropPort {
  scene(): Scene | null; // that is open; null while it is on its way
  obstacle(): string; // why nothing can be added now; '' = it can
  dropped(files: File[], alone: boolean): void; // alone: in a new scene
}

export class DropZone {
  private depth = 0; // of nested elements the pointer has entered
  private readonly words = element('p', {});
  private readonly note = element('p', { className: 'note' });
  private readonly alone = element('p', { id: 'drop-alone' }, 'or drop here to open it alone, in a new scene');

  constructor(
    cover: HTMLElement,
    private readonly port: DropPort,
  ) {
    cover.append(element('div', {}, this.words, this.note), this.alone);
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    window.addEventListener('dragenter', (event) => {
      if (!hasFiles(event)) return;
      this.depth += 1;
      if (cover.hidden) this.tell();
      cover.hidden = false;
    });
    window.addEventListener('dragleave', (event) => {
      if (!hasFiles(event)) return;
      this.depth -= 1;
      cover.hidden = this.depth <= 0;
    });
    window.addEventListener('dragover', (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      this.alone.classList.toggle('over', event.target === this.alone);
    });
    window.addEventListener('drop', (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      this.depth = 0;
      cover.hidden = true;
      port.dropped([...(event.dataTransfer?.files ?? [])], event.target === this.alone);
    });
  }

  // What a drop would do just now.
  private tell(): void {
    const [obstacle, scene] = [this.port.obstacle(), this.port.scene()];
    const title = scene?.title ? `“${scene.title}”` : 'the scene';
    this.words.textContent = obstacle ? 'Nothing can be added now' : `Drop to add to ${title}`;
    const becomesOwn = scene?.name ? `${title} itself stays as it is: with your part it is a scene of your own.` : '';
    this.note.textContent = obstacle || becomesOwn;
    this.alone.hidden = obstacle !== '' || !scene || scene.parts.length === 0;
  }
}

// The reason, and which of several files it is about.
export function failure(job: Pick<Job, 'name' | 'reason'>): string {
  if (!job.reason) return `${job.name} could not be prepared.`;
  return job.reason.includes(job.name) ? job.reason : `${job.name}: ${job.reason}`;
}

interface Row {
  root: HTMLElement;
  stage: HTMLElement;
  bar: HTMLProgressElement;
}

export class Jobs {
  private readonly rows = new Map<number, Row>();
  private ended = new Map<number, boolean>(); // whether all went well
  private waiting: (() => void)[] = []; // for the end of some job

  constructor(
    private readonly root: HTMLElement,
    private readonly api: Pick<Api, 'upload'>,
    private readonly losing: Pick<Losing, 'ask'>,
    private readonly cancel: (job: number) => void,
    private readonly report: (text: string) => void,
  ) {}

  // The server's job, if it has it.
  async upload(file: { name: string; data: Blob }, wish: UploadWish): Promise<number | null> {
    const sending = new AbortController();
    const row = this.row(file.name, () => sending.abort());
    row.stage.textContent = 'sending';
    try {
      return await this.api.upload(file, wish, (fraction) => (row.bar.value = fraction), sending.signal);
    } catch (error) {
      row.root.remove();
      if (error instanceof WouldLose && (await this.losing.ask(error.message, 'Open'))) return this.upload(file, { ...wish, loseChanges: true });
      if (!(error instanceof WouldLose)) this.report(error instanceof Error ? error.message : String(error));
      return null;
    } finally {
      row.root.remove(); // from here on the server reports under the job's number
    }
  }

  // Once the job has ended, which may be known before its number is: whether all went well, as far as this page heard.
  async done(job: number): Promise<boolean> {
    const { ended } = this;
    while (ended === this.ended && !ended.has(job)) await new Promise<void>((resolve) => this.waiting.push(resolve));
    return ended.get(job) ?? false;
  }

  show(job: Job): void {
    let row = this.rows.get(job.job);
    if (job.state !== 'running') {
      row?.root.remove();
      this.rows.delete(job.job);
      this.ended.set(job.job, job.state === 'done');
      this.wake();
      if (job.state === 'failed') this.report(failure(job));
      return;
    }
    if (!row) {
      row = this.row(job.name, () => this.cancel(job.job));
      this.rows.set(job.job, row);
    }
    row.stage.textContent = job.stage;
    row.bar.value = job.progress;
  }

  clear(): void {
    for (const row of this.rows.values()) row.root.remove();
    this.rows.clear();
    this.ended = new Map(); // another server counts anew
    this.wake();
  }

  private wake(): void {
    for (const wake of this.waiting.splice(0)) wake();
  }

  private row(name: string, cancel: () => void): Row {
    const stage = element('small', {});
    const bar = element('progress', { max: 1, value: 0 });
    bar.setAttribute('aria-label', name);
    const root = element('div', { className: 'job panel' }, element('strong', {}, name), stage, bar);
    root.append(button('×', `Cancel ${name}`, cancel));
    this.root.append(root);
    return { root, stage, bar };
  }
}
