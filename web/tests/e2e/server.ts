// The server under test, which prints the page's address. COTOUCH_SERVE is another command that starts one, with {port}
// where the port goes. `./dev demo` builds server and page.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const kCommand = process.env.COTOUCH_SERVE ?? '../build/release/cotouch/app/cotouch play --port {port} --web ../build/web';

const kAddress = /nobody else:\s+(https?:\/\/\S+#token=[A-Za-z0-9_-]+)/;

export class Server {
  address = '';
  private child: ChildProcess | null = null;
  private port = 0;
  private readonly state = mkdtempSync(join(tmpdir(), 'cotouch-e2e-'));

  constructor(private readonly more: string[] = []) {}

  async start(): Promise<void> {
    this.port ||= await freePort();
    const [program, ...options] = kCommand.replace('{port}', String(this.port)).split(/\s+/);
    options.push('--keep-address', ...this.more); // so that a page finds its server again after a restart
    // Recordings, saved scenes and the token go to a folder of this run, not to the user's own.
    const env = { ...process.env, XDG_STATE_HOME: this.state };
    const child = spawn(program!, options, { stdio: ['ignore', 'pipe', 'pipe'], env });
    this.child = child;
    let output = '';
    this.address = await new Promise<string>((resolve, reject) => {
      const read = (data: Buffer) => {
        output += data.toString();
        const found = kAddress.exec(output);
        if (found) resolve(found[1]!);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.on('error', reject);
      child.on('exit', () => reject(new Error(`The server ended before it printed its address:\n${output}`)));
    });
  }

  // So many unsaved scenes, of which a page sees only that they are there.
  fillWithUnsaved(count: number): void {
    for (let i = 0; i < count; ++i) {
      const folder = join(this.state, 'cotouch', 'scenes', `unsaved-20260131-${101000 + i}`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'scene.toml'), 'cotouch = 2\n');
    }
  }

  // As hard as it gets: no goodbye to anyone.
  async kill(): Promise<void> {
    const child = this.child;
    this.child = null;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.state, { recursive: true, force: true });
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
