// HTTP requests of docs/viewer-protocol.md. Failures become an Error whose message is a sentence for the user.
import { Door } from './door';
import { decodeElastic, type ElasticBasis } from './elastic-basis';
import { parseLinks, type LinkList } from './links';
import { parseScene, parseScenes, type Scene, type SceneEntry } from './messages';
import { decodeMesh, decodeRecording, type Decoded, type MeshData, type Recording } from './protocol';
import { parseStory, type Story } from './recorded';

// Where a scene and its meshes come from.
export interface SceneSource {
  scene(): Promise<Scene>;
  mesh(part: number, generation: number): Promise<MeshData>;
  elastic(part: number, generation: number): Promise<ElasticBasis | null>;
}

// How dropped files come in.
export interface UploadWish {
  unit: string; // '' = as the file states, or a guess
  place: 'as_in_file' | 'middle';
  split: boolean; // every named part of a file is a body of its own
  alone: boolean; // in a new scene, instead of the one that is open
  loseChanges?: boolean; // what was changed in that and cannot be kept may be lost
}

// What was changed in the open scene cannot be kept, and would be lost by this.
export class WouldLose extends Error {}

export class Api {
  participant = 0; // this page's number, from the server's hello
  readonly door: Door;

  // `host` is the server's name for itself, if it differs from the page's (behind Vite).
  constructor(
    token: string,
    readonly base: string,
    host = new URL(base).host,
  ) {
    this.door = new Door(token, { host, ask: (path, key) => this.ask(path, key), kept: sessionKept() });
  }

  feedAddress(): string {
    return new URL('/feed', this.base).href.replace(/^http/, 'ws');
  }

  // The second one is the key: a browser gives a WebSocket no headers.
  feedProtocols(): string[] {
    return ['cotouch', `key.${this.door.key}`];
  }

  async scenes(): Promise<SceneEntry[]> {
    return parseScenes(await (await this.get('/api/scenes')).json());
  }

  async scene(): Promise<Scene> {
    return valueOf(parseScene(await (await this.get('/api/scene')).json()));
  }

  async mesh(part: number, generation: number): Promise<MeshData> {
    return valueOf(decodeMesh(await (await this.get(`/api/mesh/${part}?scene=${generation}`)).arrayBuffer()));
  }

  // Null if the part is rigid, or bends in more ways than can be sent.
  async elastic(part: number, generation: number): Promise<ElasticBasis | null> {
    const answer = await this.request(`/api/elastic/${part}?scene=${generation}`, {}, [404, 413]);
    return answer.ok ? valueOf(decodeElastic(await answer.arrayBuffer())) : null;
  }

  // The scene that a recording was made in, whatever scene the server has open.
  recorded(id: string): SceneSource {
    const path = (ending: string) => `/api/recording/${encodeURIComponent(id)}.${ending}`;
    return {
      scene: async () => valueOf(parseScene(await (await this.get(path('scene'))).json())),
      mesh: async (part) => valueOf(decodeMesh(await (await this.get(`${path('mesh')}?part=${part}`)).arrayBuffer())),
      elastic: async (part) => {
        const answer = await this.request(`${path('elastic')}?part=${part}`, {}, [404, 413]);
        return answer.ok ? valueOf(decodeElastic(await answer.arrayBuffer())) : null;
      },
    };
  }

  async recording(id: string): Promise<Recording> {
    const answer = await this.get(`/api/recording/${encodeURIComponent(id)}.frames`);
    return valueOf(decodeRecording(await answer.arrayBuffer()));
  }

  async story(id: string): Promise<Story> {
    return parseStory(await (await this.get(`/api/recording/${encodeURIComponent(id)}.events`)).json());
  }

  // By an address of the browser's own, so that none of ours is left among its downloads.
  async download(id: string, ending: 'csv' | 'svg' | 'cotrec'): Promise<void> {
    const answer = await this.get(`/api/recording/${encodeURIComponent(id)}.${ending}`);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(await answer.blob());
    link.download = `${id}.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }

  // A picture of the server's, as an address that an image can show. '' if there is none.
  async picture(path: string): Promise<string> {
    if (new URL(path, this.base).origin !== new URL(this.base).origin) return '';
    const answer = await this.get(path);
    return answer.status === 204 ? '' : URL.createObjectURL(await answer.blob());
  }

  async links(): Promise<LinkList> {
    return parseLinks(await (await this.get('/api/links')).json());
  }

  // The new link's token.
  async addLink(rights: string, label: string, minutes: number): Promise<string> {
    const lasting = minutes > 0 ? `&minutes=${minutes}` : '';
    const answer = await this.request(`/api/links?rights=${rights}&label=${encodeURIComponent(label)}${lasting}`, { method: 'POST' });
    return String(((await answer.json()) as { token?: string }).token ?? '');
  }

  async revokeLink(id: string): Promise<void> {
    await this.request(`/api/links/revoke?id=${encodeURIComponent(id)}`, { method: 'POST' });
  }

  // Null if there is a scene of that name, which is replaced only if that is said.
  async saveScene(name: string, replace: boolean): Promise<{ file: string; play: string } | null> {
    const query = `name=${encodeURIComponent(name)}&participant=${this.participant}${replace ? '&replace=1' : ''}`;
    const answer = await this.request(`/api/scene/save?${query}`, { method: 'POST' }, [409]);
    const json = parse(await answer.text());
    if (json.code === 'exists') return null;
    if (!answer.ok) throw new Error(sentence(json, answer.status));
    return { file: typeof json.file === 'string' ? json.file : name, play: typeof json.play === 'string' ? json.play : '' };
  }

  // The number of the server's job, or null when `signal` broke it off. XMLHttpRequest and not fetch: only it tells how much
  // of a body has gone out.
  upload(
    file: { name: string; data: Blob },
    wish: UploadWish,
    progress: (fraction: number) => void,
    signal: AbortSignal,
  ): Promise<number | null> {
    return new Promise((resolve, reject) => {
      const query = new URLSearchParams({ name: file.name, role: 'auto', participant: `${this.participant}`, place: wish.place });
      if (wish.unit) query.set('unit', wish.unit);
      if (wish.split) query.set('split', '1');
      if (wish.alone) query.set('scene', 'new');
      if (wish.loseChanges) query.set('lose_changes', '1');
      const request = new XMLHttpRequest();
      request.open('POST', new URL(`/api/upload?${query}`, this.base).href);
      request.setRequestHeader('X-Cotouch-Key', this.door.key);
      request.upload.onprogress = (event) => progress(event.lengthComputable ? event.loaded / event.total : 0);
      signal.addEventListener('abort', () => request.abort());
      request.onabort = () => resolve(null);
      request.onerror = () => reject(new Error(`The server broke off the upload of ${file.name}.`));
      request.onload = () => {
        const json = parse(request.responseText);
        if (request.status < 300 && typeof json.job === 'number') resolve(json.job);
        else reject(new (json.code === 'unkept' ? WouldLose : Error)(sentence(json, request.status)));
      };
      request.send(file.data);
    });
  }

  private async ask(path: string, key: string): Promise<{ status: number; json: Record<string, unknown> } | null> {
    try {
      const answer = await fetch(new URL(path, this.base).href, key ? { headers: { 'X-Cotouch-Key': key } } : {});
      return { status: answer.status, json: parse(await answer.text()) };
    } catch {
      return null;
    }
  }

  private get(path: string): Promise<Response> {
    return this.request(path, {});
  }

  // Answers with one of these statuses are the caller's to judge.
  private async request(path: string, init: RequestInit, expected: number[] = []): Promise<Response> {
    let answer: Response;
    try {
      answer = await fetch(new URL(path, this.base).href, { ...init, headers: { 'X-Cotouch-Key': this.door.key } });
    } catch {
      throw new Error('The server cannot be reached.');
    }
    if (!answer.ok && !expected.includes(answer.status)) throw new Error(await reasonOf(answer));
    return answer;
  }
}

// Kept for this tab until it is closed, where the browser allows it.
function sessionKept(): Storage | null {
  try {
    return window.sessionStorage;
  } catch {
    return null;
  }
}

async function reasonOf(answer: Response): Promise<string> {
  return sentence(parse(await answer.text()), answer.status);
}

function sentence(json: Record<string, unknown>, status: number): string {
  return typeof json.error === 'string' ? json.error : `The server answered with status ${status}.`;
}

function parse(text: string): Record<string, unknown> {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function valueOf<T>(decoded: Decoded<T>): T {
  if (!decoded.ok) throw new Error(`The server’s answer makes no sense: ${decoded.error}.`);
  return decoded.value;
}
