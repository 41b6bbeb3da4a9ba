// HTTP requests of docs/viewer-protocol.md. Failures become an Error whose message is a sentence for the user.
import { decodeElastic, type ElasticBasis } from './elastic-basis';
import { parseScene, parseScenes, type Scene, type SceneEntry } from './messages';
import { decodeMesh, decodeRecording, type Decoded, type MeshData, type Recording } from './protocol';
import { parseStory, type Story } from './recorded';

export class Api {
  participant = 0; // this page's number, from the server's hello

  constructor(
    readonly token: string,
    readonly base: string,
  ) {}

  // An address of this server with the token, for pictures and downloads that cannot carry a header.
  address(path: string): string {
    const url = new URL(path, this.base);
    if (url.origin !== new URL(this.base).origin) return '';
    url.searchParams.set('token', this.token);
    return url.href;
  }

  feedAddress(): string {
    return this.address('/feed').replace(/^http/, 'ws');
  }

  // Why the server will not have us, or '' when it cannot be reached or would.
  async refusal(): Promise<string> {
    if (!this.token) return 'This address has no token. Open the whole address that the server printed.';
    try {
      const answer = await fetch(this.address('/api/hello'));
      if (answer.status === 401) {
        return 'The server does not accept this page’s token. Open the address that it printed.';
      }
      return answer.ok || answer.status >= 500 ? '' : await reasonOf(answer);
    } catch {
      return '';
    }
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

  async recording(id: string): Promise<Recording> {
    const answer = await this.get(`/api/recording/${encodeURIComponent(id)}.frames`);
    return valueOf(decodeRecording(await answer.arrayBuffer()));
  }

  async story(id: string): Promise<Story> {
    return parseStory(await (await this.get(`/api/recording/${encodeURIComponent(id)}.events`)).json());
  }

  recordingAddress(id: string, ending: 'csv' | 'svg' | 'cotrec'): string {
    return this.address(`/api/recording/${encodeURIComponent(id)}.${ending}`);
  }

  async saveScene(name: string): Promise<{ file: string; play: string }> {
    const answer = await this.request(`/api/scene/save?name=${encodeURIComponent(name)}&participant=${this.participant}`, { method: 'POST' });
    const json = (await answer.json()) as { file?: string; play?: string };
    return { file: json.file ?? name, play: json.play ?? '' };
  }

  // The number of the server's job, or null when `signal` broke it off. XMLHttpRequest and not fetch: only it tells how much
  // of a body has gone out.
  upload(
    file: File,
    unit: string,
    progress: (fraction: number) => void,
    signal: AbortSignal,
  ): Promise<number | null> {
    return new Promise((resolve, reject) => {
      const query = `name=${encodeURIComponent(file.name)}&unit=${encodeURIComponent(unit)}&role=auto&participant=${this.participant}`;
      const request = new XMLHttpRequest();
      request.open('POST', this.address(`/api/upload?${query}`));
      request.upload.onprogress = (event) => progress(event.lengthComputable ? event.loaded / event.total : 0);
      signal.addEventListener('abort', () => request.abort());
      request.onabort = () => resolve(null);
      request.onerror = () => reject(new Error(`The server broke off the upload of ${file.name}.`));
      request.onload = () => {
        const json = parse(request.responseText);
        if (request.status < 300 && typeof json.job === 'number') resolve(json.job);
        else reject(new Error(sentence(json, request.status)));
      };
      request.send(file);
    });
  }

  private get(path: string): Promise<Response> {
    return this.request(path, {});
  }

  // Answers with one of these statuses are the caller's to judge.
  private async request(path: string, init: RequestInit, expected: number[] = []): Promise<Response> {
    let answer: Response;
    try {
      answer = await fetch(this.address(path), init);
    } catch {
      throw new Error('The server cannot be reached.');
    }
    if (!answer.ok && !expected.includes(answer.status)) throw new Error(await reasonOf(answer));
    return answer;
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
