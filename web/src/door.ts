// How this page comes in (docs/security.md): the token of its link is in the address after '#', where no server sees it. The page
// takes it out of the address at once, lets the server prove that it knows it, and makes the key that goes with every request.
// The token stays in this page's memory; only the key, worth nothing once the server has ended, is kept for a reload.
import { hex, hmacHex, sha256Hex } from './sha256';

const kKept = 'cotouch.key';

export interface DoorPort {
  host: string; // as the browser names it to the server
  // The server's answer, or null if it cannot be reached.
  ask(path: string, key: string): Promise<{ status: number; json: Record<string, unknown> } | null>;
  kept: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null;
  random?: () => string;
}

// The token in "#token=…&join=…", and what is left of it.
export function takeToken(hash: string): { token: string; rest: string } {
  const members = hash.replace(/^#/, '').split('&').filter((member) => member !== '');
  const token = members.find((member) => member.startsWith('token='))?.slice('token='.length) ?? '';
  const others = members.filter((member) => !member.startsWith('token='));
  return { token, rest: others.length > 0 ? `#${others.join('&')}` : '' };
}

export class Door {
  key = '';

  constructor(
    private readonly token: string,
    private readonly port: DoorPort,
  ) {
    if (token) port.kept?.removeItem(kKept);
    else this.key = port.kept?.getItem(kKept) ?? '';
  }

  // Comes in, or in again. Why the server will not have us, or '' when it will or cannot be reached.
  async enter(): Promise<string> {
    if (!this.token) return this.key ? this.check() : 'This address has no token. Open the whole address that the server printed.';
    const link = sha256Hex(`cotouch link ${this.token}`).slice(0, 16);
    const number = (this.port.random ?? randomNumber)();
    const answer = await this.port.ask(`/door?link=${link}&number=${number}`, '');
    if (!answer) return '';
    if (answer.status !== 200) return answer.status >= 500 ? '' : sentenceOf(answer.json, 'The server does not accept this page’s token.');
    const meeting = `\n${number}\n${String(answer.json.number)}\n${this.port.host.toLowerCase()}`;
    if (answer.json.proof !== hmacHex(this.token, `server${meeting}`)) {
      return 'Another program answers at this address now; it was told nothing. Open the address that cotouch prints.';
    }
    this.key = `${link}.${number}.${hmacHex(this.token, `page${meeting}`)}`;
    try {
      this.port.kept?.setItem(kKept, this.key);
    } catch {
      // Without it a reload needs the address again.
    }
    return '';
  }

  private async check(): Promise<string> {
    const answer = await this.port.ask('/api/hello', this.key);
    if (answer?.status !== 401) return '';
    return `${sentenceOf(answer.json, 'The server does not accept this page’s token.')}`;
  }
}

function sentenceOf(json: Record<string, unknown>, otherwise: string): string {
  return typeof json.error === 'string' ? json.error : otherwise;
}

function randomNumber(): string {
  return hex(crypto.getRandomValues(new Uint8Array(16)));
}
