// Debian's Firefox ESR, driven over Marionette: the protocol that geckodriver speaks to it, JSON over a local socket. Playwright
// drives only a Firefox of its own making.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Nothing but loopback: no updates, no telemetry, no first page.
const kPreferences: Record<string, boolean | number | string> = {
  'marionette.port': 0, // any that is free; Firefox writes it into its profile
  'webgl.force-enabled': true, // without a graphics card, by Mesa's software
  'webgl.forbid-software': false,
  'app.update.enabled': false,
  'app.normandy.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.page': 0,
  'browser.aboutwelcome.enabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'toolkit.telemetry.server': '',
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'browser.safebrowsing.update.enabled': false,
  'services.settings.server': 'http://127.0.0.1:9/',
  'extensions.systemAddon.update.enabled': false,
  'media.gmp-manager.updateEnabled': false,
};

// A screen in memory: without any, Firefox draws no WebGL.
class Display {
  private constructor(
    private readonly child: ChildProcess,
    readonly name: string,
  ) {}

  static async start(width: number, height: number): Promise<Display> {
    const options = ['-screen', '0', `${width}x${height}x24`, '-nolisten', 'tcp', '-displayfd', '1'];
    const child = spawn('Xvfb', options, { stdio: ['ignore', 'pipe', 'ignore'] });
    const number = await new Promise<string>((resolve, reject) => {
      child.stdout.once('data', (data: Buffer) => resolve(data.toString().trim()));
      child.once('error', reject);
      child.once('exit', () => reject(new Error('Xvfb ended before it had a screen.')));
    });
    return new Display(child, `:${number}`);
  }

  end(): void {
    this.child.kill('SIGKILL');
  }
}

// '' if this machine has no Firefox, or no screen in memory for it.
export function firefoxProgram(): string {
  if (process.env.FIREFOX) return process.env.FIREFOX;
  return execFileSync('sh', ['-c', 'command -v Xvfb >/dev/null && command -v firefox-esr || true']).toString().trim();
}

type Answer = { value: unknown };

export class Firefox {
  private constructor(
    private readonly child: ChildProcess,
    private readonly display: Display,
    private readonly profile: string,
    private readonly socket: Socket,
  ) {
    socket.on('data', (data: Buffer) => this.received(data));
    socket.on('close', () => this.fail(new Error('Firefox closed the connection.')));
    socket.on('error', (error) => this.fail(error));
  }

  private buffer = Buffer.alloc(0);
  private number = 0;
  private readonly waiting = new Map<number, { resolve(answer: Answer): void; reject(error: Error): void }>();

  static async start(program: string, width: number, height: number): Promise<Firefox> {
    const profile = mkdtempSync(join(tmpdir(), 'cotouch-firefox-'));
    const lines = Object.entries(kPreferences).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`);
    writeFileSync(join(profile, 'user.js'), lines.join('\n'));
    const options = ['--no-remote', '--profile', profile, '--marionette', '--remote-allow-system-access'];
    const display = await Display.start(width, height);
    const env = { ...process.env, HOME: profile, DISPLAY: display.name };
    const child = spawn(program, [...options, '--width', String(width), '--height', String(height), 'about:blank'], { stdio: 'ignore', env });
    try {
      const socket = await open(() => Number(readFileSync(join(profile, 'MarionetteActivePort'), 'utf8')), child);
      const firefox = new Firefox(child, display, profile, socket);
      await firefox.command('WebDriver:NewSession', {});
      await firefox.command('WebDriver:SetTimeouts', { script: 120_000, pageLoad: 120_000 });
      return firefox;
    } catch (error) {
      child.kill('SIGKILL');
      display.end();
      throw error;
    }
  }

  async goto(address: string): Promise<void> {
    await this.command('WebDriver:Navigate', { url: address });
  }

  // The body of a function that runs in the page.
  async run<T>(script: string, ...args: unknown[]): Promise<T> {
    return (await this.command('WebDriver:ExecuteScript', { script, args })).value as T;
  }

  // Until the script returns something true.
  async until<T>(script: string, seconds = 120): Promise<T> {
    for (const end = Date.now() + 1000 * seconds; ; await new Promise((resolve) => setTimeout(resolve, 100))) {
      const value = await this.run<T>(script);
      if (value) return value;
      if (Date.now() > end) throw new Error(`Not within ${seconds} seconds: ${script}`);
    }
  }

  // A PNG of the window.
  async screenshot(): Promise<Buffer> {
    return Buffer.from((await this.command('WebDriver:TakeScreenshot', { full: false })).value as string, 'base64');
  }

  // The mouse stays where it is and as it is between two of these.
  async mouse(...actions: object[]): Promise<void> {
    const source = { type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions };
    await this.command('WebDriver:PerformActions', { actions: [source] });
  }

  // What a user would see as red lines in the console: uncaught errors, and what was logged as one.
  async errors(origin: string): Promise<string[]> {
    await this.command('Marionette:SetContext', { value: 'chrome' });
    const script = `
      const thrown = Services.console.getMessageArray().filter((entry) => entry instanceof Ci.nsIScriptError)
        .filter((entry) => !(entry.flags & Ci.nsIScriptError.warningFlag) && entry.sourceName.startsWith(arguments[0]))
        .map((entry) => entry.errorMessage);
      const storage = Cc['@mozilla.org/consoleAPI-storage;1'].getService(Ci.nsIConsoleAPIStorage);
      const logged = storage.getEvents().filter((event) => event.level === 'error' && event.filename.startsWith(arguments[0]))
        .map((event) => event.arguments.map(String).join(' '));
      return [...thrown, ...logged];`;
    const found = await this.run<string[]>(script, origin);
    await this.command('Marionette:SetContext', { value: 'content' });
    return found;
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.socket.destroy();
    if (this.child.exitCode === null) {
      this.child.kill('SIGKILL');
      await ended;
    }
    this.display.end();
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  private command(name: string, parameters: object): Promise<Answer> {
    const id = ++this.number;
    const text = Buffer.from(JSON.stringify([0, id, name, parameters]));
    this.socket.write(`${text.length}:`);
    this.socket.write(text);
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  // Answers are "<bytes>:[1, id, error, result]"; the first message greets and has no number.
  private received(data: Buffer): void {
    this.buffer = Buffer.concat([this.buffer, data]);
    for (;;) {
      const colon = this.buffer.indexOf(':');
      const length = Number(this.buffer.subarray(0, Math.max(0, colon)).toString());
      if (colon < 0 || this.buffer.length < colon + 1 + length) return;
      const message: unknown = JSON.parse(this.buffer.subarray(colon + 1, colon + 1 + length).toString());
      this.buffer = this.buffer.subarray(colon + 1 + length);
      if (!Array.isArray(message)) continue;
      const [, id, error, result] = message as [number, number, { message?: string } | null, Answer];
      const waiting = this.waiting.get(id);
      this.waiting.delete(id);
      if (error) waiting?.reject(new Error(`Firefox: ${error.message ?? JSON.stringify(error)}`));
      else waiting?.resolve(result);
    }
  }

  private fail(error: Error): void {
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}

// Once Firefox listens; it says where in a file of its profile.
async function open(port: () => number, child: ChildProcess): Promise<Socket> {
  for (const end = Date.now() + 120_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 200))) {
    if (child.exitCode !== null) throw new Error(`Firefox ended with ${child.exitCode} before it listened.`);
    try {
      const socket = connect(port(), '127.0.0.1');
      await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
      return socket;
    } catch {
      // not yet
    }
  }
  throw new Error('Firefox did not listen within two minutes.');
}
