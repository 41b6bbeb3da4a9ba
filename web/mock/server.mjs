// A stand-in for the cotouch server, for working on the page and for its tests: serves web/dist and speaks
// docs/viewer-protocol.md with a synthetic world. Not part of the product.
//
//   node mock/server.mjs [--port 8765] [--token TOKEN]
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebSocketServer } from 'ws';
import { encodeMesh, encodeNear, encodeRecording, encodeState } from './encode.mjs';
import { readStl } from './shapes.mjs';
import { scenes, World } from './world.mjs';

const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at > 0 ? process.argv[at + 1] : otherwise;
};
const port = Number(option('port', '8765'));
const token = option('token', 'mock-token-mock-token-mock-token-0');
const root = fileURLToPath(new URL('../dist', import.meta.url));
const kTypes = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.png': 'image/png' };
const kFeatures = ['near', 'traversed', 'upload', 'record', 'save', 'settings'];
const kUnits = { mm: 1e-3, cm: 1e-2, m: 1, in: 0.0254, ft: 0.3048, um: 1e-6 };

let world = new World('torus-on-ball');
let generation = 1;
let started = Date.now();
let sequence = 0;
let holder = null;
let uploads = [];
let jobs = 0;
let recording = null;
const recordings = [];
const viewers = new Set();
const settings = { contact_stiffness: 1000, max_force: 8, budget_us: 800 };

const tell = (viewer, message) => viewer.socket.send(JSON.stringify(message));
const tellAll = (message) => viewers.forEach((viewer) => tell(viewer, message));
const entries = () => recordings.map(({ frames, ...entry }) => entry);

function openWorld(next) {
  world = next;
  generation += 1;
  started = Date.now();
  holder = null;
  tellAll({ type: 'scene', generation, name: world.name });
}

function sceneJson() {
  const { title, summary } = world.description;
  const { name, parts, hands } = world;
  return { generation, name, title, summary, bounds: world.bounds(), parts, hands, settings };
}

// ---- HTTP ----

const server = createServer(async (request, response) => {
  const url = new URL(request.url, 'http://localhost');
  const json = (status, value) => {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(value));
  };
  const binary = (type, value) => {
    response.writeHead(200, { 'Content-Type': type });
    response.end(value);
  };
  if (!url.pathname.startsWith('/api/')) return serveFile(url.pathname, response);
  if (url.searchParams.get('token') !== token) return json(401, { error: 'The token is missing or wrong.' });
  const [, , what, rest = ''] = url.pathname.split('/');
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  if (what === 'hello') return json(200, { protocol: 1, version: 'mock' });
  if (what === 'scenes') {
    const list = Object.entries(scenes).map(([name, { title, summary }]) => ({ name, title, summary, thumbnail: '' }));
    return json(200, { scenes: list });
  }
  if (what === 'scene' && rest === '') return json(200, sceneJson());
  if (what === 'scene') return json(200, { file: 'saved.toml', play: 'cotouch play saved.toml' });
  if (what === 'mesh') {
    if (Number(url.searchParams.get('scene')) !== generation) return json(409, { error: 'Another scene is open now.' });
    return binary('application/octet-stream', encodeMesh(world.meshes.get(Number(rest)), generation));
  }
  if (what === 'upload') {
    const name = url.searchParams.get('name') ?? '';
    const scale = kUnits[url.searchParams.get('unit')];
    const job = ++jobs;
    json(200, { job });
    return void prepare(job, name, Buffer.concat(chunks), scale);
  }
  if (what === 'recording') {
    const [id, ending] = rest.split('.');
    const found = recordings.find((entry) => entry.id === id);
    if (!found) return json(404, { error: 'There is no such recording.' });
    if (ending === 'frames') return binary('application/octet-stream', encodeRecording(found.frames, found.seconds));
    return binary('text/plain', 'time,force\n');
  }
  return json(404, { error: 'There is nothing here.' });
});

async function serveFile(path, response) {
  const file = join(root, normalize(path === '/' ? '/index.html' : path));
  try {
    const content = await readFile(file);
    response.writeHead(200, { 'Content-Type': kTypes[extname(file)] ?? 'application/octet-stream' });
    response.end(content);
  } catch {
    response.writeHead(404);
    response.end();
  }
}

async function prepare(job, name, body, scale) {
  const say = (stage, progress, state = 'running', reason = '') =>
    tellAll({ type: 'job', job, name, stage, progress, state, reason });
  try {
    for (const [i, stage] of ['reading', 'distance field', 'distance field', 'pointshell'].entries()) {
      say(stage, i / 4);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const mesh = readStl(body, scale);
    const hasMoving = uploads.some((part) => part.role === 'moving');
    const role = uploads.length > 0 && !hasMoving ? 'moving' : 'static';
    uploads.push({ name: name.replace(/\.[^.]*$/, ''), role, mesh, removable: true });
    say('done', 1, 'done');
    openWorld(new World('yours', uploads));
  } catch (error) {
    say('failed', 1, 'failed', `${name} could not be read: ${error.message}`);
  }
}

// ---- feed ----

const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
server.on('upgrade', (request, socket, head) => {
  const url = new URL(request.url, 'http://localhost');
  if (url.pathname !== '/feed' || url.searchParams.get('token') !== token) {
    return socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n');
  }
  return sockets.handleUpgrade(request, socket, head, (connection) => welcome(connection));
});

function welcome(socket) {
  const viewer = { socket, near: false, traversed: false, input: 0, dropped: 0 };
  viewers.add(viewer);
  const limits = { upload_bytes: 64e6, parts: 16, inputs_per_second: 125 };
  tell(viewer, { type: 'hello', protocol: 1, version: 'mock', viewer: viewers.size, features: kFeatures, limits });
  tell(viewer, { type: 'scene', generation, name: world.name });
  tell(viewer, { type: 'settings', ...settings });
  tell(viewer, { type: 'recordings', recordings: entries() });
  socket.on('message', (data, isBinary) => (isBinary ? takeInput(viewer, data) : obey(viewer, data.toString())));
  socket.on('close', () => {
    viewers.delete(viewer);
    if (holder === viewer) letGo();
  });
}

function letGo() {
  holder = null;
  world.relax();
}

function takeInput(viewer, data) {
  if (data.length !== 48 || data.toString('latin1', 0, 2) !== 'CT') {
    return viewer.socket.close(4000, 'A binary message is not a hand input.');
  }
  if (holder !== viewer || data.readUInt32LE(12) !== generation) return undefined;
  viewer.input = data.readUInt32LE(8);
  const floats = [20, 24, 28, 32, 36, 40, 44].map((at) => data.readFloatLE(at));
  world.device = { position: floats.slice(0, 3), rotation: floats.slice(3) };
  return undefined;
}

const commands = {
  view: (viewer, { near = viewer.near, traversed = viewer.traversed }) => Object.assign(viewer, { near, traversed }),
  open_scene: (viewer, { name }) => {
    if (!scenes[name]) return `There is no scene called ${name}.`;
    if (holder && holder !== viewer) return 'Another viewer holds the part; wait until it is let go.';
    uploads = [];
    return openWorld(new World(name));
  },
  reset: () => world.reset(),
  take_hand: (viewer, { hand }) => {
    if (holder && holder !== viewer) {
      return tell(viewer, { type: 'hand', hand, state: 'refused', reason: 'Another viewer holds this hand.' });
    }
    holder = viewer;
    world.relax();
    return tell(viewer, { type: 'hand', hand, state: 'granted', reason: '' });
  },
  release_hand: (viewer, { hand }) => {
    if (holder === viewer) letGo();
    tell(viewer, { type: 'hand', hand, state: 'released', reason: '' });
  },
  settings: (_viewer, { type, id, ...change }) => {
    Object.assign(settings, change);
    world.contactStiffness = settings.contact_stiffness;
    tellAll({ type: 'settings', ...settings });
  },
  record_start: () => {
    recording = { from: Date.now(), frames: [] };
    tellAll({ type: 'recording', active: true, seconds: 0 });
  },
  record_stop: () => {
    if (!recording) return 'Nothing is being recorded.';
    const seconds = (Date.now() - recording.from) / 1000;
    const peak = Math.max(0, ...recording.frames.map((frame) => frame.peak));
    const id = `mock-${recordings.length + 1}`;
    recordings.unshift({ id, scene: world.name, seconds, peak_force: peak, bytes: 1234, frames: recording.frames });
    recording = null;
    tellAll({ type: 'recording', active: false, seconds });
    return tellAll({ type: 'recordings', recordings: entries() });
  },
  delete_recording: (_viewer, command) => {
    const at = recordings.findIndex((entry) => entry.id === command.recording);
    if (at < 0) return 'There is no such recording.';
    recordings.splice(at, 1);
    return tellAll({ type: 'recordings', recordings: entries() });
  },
  remove_part: (_viewer, { part }) => {
    uploads.splice(part - 1, 1);
    openWorld(new World('yours', uploads));
  },
};

function obey(viewer, text) {
  let command;
  try {
    command = JSON.parse(text);
  } catch {
    return viewer.socket.close(4000, 'A text message is not JSON.');
  }
  const action = commands[command.type];
  const answer = action ? action(viewer, command) : `The mock does not know "${command.type}".`;
  const reason = typeof answer === 'string' ? answer : '';
  if (command.id !== undefined) return tell(viewer, { type: 'reply', id: command.id, ok: reason === '', reason });
  return reason ? tell(viewer, { type: 'error', reason }) : undefined;
}

// ---- the loop ----

function stateFor(viewer, time, generationShown) {
  const cycle = 40 + 0.4 * world.contacts.length + 5 * Math.random();
  const hand = world.hands[0];
  const who = holder === null ? 0 : holder === viewer ? 1 : 2;
  return encodeState({
    sequence,
    generation: generationShown,
    time,
    flags: 1 | (recording ? 2 : 0),
    viewers: viewers.size,
    cycleMedian: cycle,
    cycleLongest: cycle * (1.3 + Math.random()),
    cycles: Date.now() - started,
    missed: 0,
    clearance: world.clearance,
    hands: hand
      ? [
          {
            ...world,
            holder: who,
            part: hand.part,
            flags: world.limited ? 1 : 0,
            level: world.contacts.length > 0 ? 4 : 2,
            visited: 60 + 3 * world.contacts.length,
            deepest: Math.max(0, -world.clearance || 0),
            input: viewer?.input ?? 0,
          },
        ]
      : [],
    contacts: world.contacts.map(({ point, depth }) => [...point, depth]),
    traversed: viewer?.traversed ? world.contacts.map(({ point }, i) => [...point, i % 5]) : [],
  });
}

setInterval(() => {
  sequence += 1;
  world.step();
  if (recording && sequence % 2 === 0) {
    const frame = stateFor(null, (Date.now() - recording.from) / 1000, 0);
    recording.frames.push({ frame, peak: Math.hypot(...world.force) });
  }
  const near = sequence % 4 === 0 && [...viewers].some((viewer) => viewer.near) ? world.nearness() : [];
  const nearFrames = near.map(({ part, distances }) => encodeNear(part, distances, sequence, generation));
  for (const viewer of viewers) {
    // Latest value wins: a viewer whose buffer has not emptied misses this frame.
    if (viewer.socket.bufferedAmount > 100_000) continue;
    viewer.socket.send(stateFor(viewer, (Date.now() - started) / 1000, generation));
    if (viewer.near) nearFrames.forEach((frame) => viewer.socket.send(frame));
  }
}, 33);

server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/?token=${token}`));
