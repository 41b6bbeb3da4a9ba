// Files dropped anywhere on the page, and a progress bar for each thing the server prepares.
import type { Api, UploadWish } from '../api';
import { button, element } from '../dom';
import * as format from '../format';
import type { Job } from '../messages';
import { kEndings } from './parts';

// What is wrong with a file, in words, or '' when it can be sent.
export function objection(name: string, size: number, most: number): string {
  if (!kEndings.some((ending) => name.toLowerCase().endsWith(ending))) {
    return `${name} is not an STL, OBJ, PLY, glTF, 3MF or other mesh file, nor a ZIP of them.`;
  }
  if (size === 0) return `${name} is empty.`;
  if (size > most) return `${name} has ${format.bytes(size)}; the server takes ${format.bytes(most)} at most.`;
  return '';
}

export class DropZone {
  private depth = 0; // of nested elements the pointer has entered

  constructor(cover: HTMLElement, dropped: (files: File[]) => void) {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    window.addEventListener('dragenter', (event) => {
      if (!hasFiles(event)) return;
      this.depth += 1;
      cover.hidden = false;
    });
    window.addEventListener('dragleave', (event) => {
      if (!hasFiles(event)) return;
      this.depth -= 1;
      cover.hidden = this.depth <= 0;
    });
    window.addEventListener('dragover', (event) => {
      if (hasFiles(event)) event.preventDefault();
    });
    window.addEventListener('drop', (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      this.depth = 0;
      cover.hidden = true;
      dropped([...(event.dataTransfer?.files ?? [])]);
    });
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

  constructor(
    private readonly root: HTMLElement,
    private readonly api: Api,
    private readonly cancel: (job: number) => void,
    private readonly report: (text: string) => void,
  ) {}

  async upload(file: { name: string; data: Blob }, wish: UploadWish): Promise<void> {
    const sending = new AbortController();
    const row = this.row(file.name, () => sending.abort());
    row.stage.textContent = 'sending';
    try {
      await this.api.upload(file, wish, (fraction) => (row.bar.value = fraction), sending.signal);
    } catch (error) {
      this.report(error instanceof Error ? error.message : String(error));
    }
    row.root.remove(); // from here on the server reports under the job's number
  }

  show(job: Job): void {
    let row = this.rows.get(job.job);
    if (job.state !== 'running') {
      row?.root.remove();
      this.rows.delete(job.job);
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
