// The network panel: what a worse network than the real one does to the session, live. It drives the link emulator of the
// program that serves this page.
import { element } from '../../dom';
import type { Network, NetworkChange } from '../../share-messages';
import type { Together } from '../../together';

const kPause = 100; // milliseconds between two changes while a slider is dragged

interface Slider {
  key: 'delay_ms' | 'jitter_ms' | 'loss';
  label: string;
  high: number;
  step: number;
  scale: number; // of the slider's number over the message's
  unit: string;
  of: (network: Network) => number;
}

const kSliders: Slider[] = [
  { key: 'delay_ms', label: 'Delay, round trip', high: 800, step: 5, scale: 1, unit: 'ms', of: (network) => network.delay },
  { key: 'jitter_ms', label: 'Jitter', high: 400, step: 5, scale: 1, unit: 'ms', of: (network) => network.jitter },
  { key: 'loss', label: 'Loss', high: 50, step: 0.5, scale: 100, unit: '%', of: (network) => network.loss },
];

// "network-1" → "Network 1", "lan" → "LAN".
export function profileText(name: string): string {
  if (name.length <= 3) return name.toUpperCase();
  const words = name.replace(/[-_]+/g, ' ');
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

// Hands on the newest of many changes, at most one in so many milliseconds.
export class Paced<T extends object> {
  private waiting: T | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly pause: number,
    private readonly act: (change: T) => void,
  ) {}

  push(change: T): void {
    this.waiting = { ...this.waiting, ...change };
    if (this.timer === undefined) this.flush();
  }

  private flush(): void {
    this.timer = undefined;
    const change = this.waiting;
    if (!change) return;
    this.waiting = null;
    this.timer = setTimeout(() => this.flush(), this.pause);
    this.act(change);
  }
}

export class NetworkPanel {
  readonly root = element('details', { className: 'fold', id: 'network' });
  private readonly profile = element('select', { id: 'network-profile' });
  private readonly synchronised = element('input', { type: 'checkbox', id: 'synchronised' });
  private readonly sliders = kSliders.map((slider) => this.slider(slider));
  private readonly paced: Paced<NetworkChange>;
  private profiles = '';

  constructor(private readonly together: Together) {
    this.paced = new Paced<NetworkChange>(kPause, (change) => together.tryNetwork(change));
    this.profile.addEventListener('change', () => together.tryNetwork({ profile: this.profile.value }));
    this.synchronised.addEventListener('change', () => together.synchronise(this.synchronised.checked));
    this.root.append(
      element('summary', {}, 'Network'),
      element('p', { className: 'note' }, 'Make the network between you and the others worse than it is, and feel what that does.'),
      element('label', { className: 'field' }, element('span', {}, 'Like'), this.profile),
      ...this.sliders.map((slider) => slider.root),
      element('label', { className: 'check' }, this.synchronised, element('span', {}, 'Synchronised')),
      element(
        'p',
        { className: 'note' },
        'What arrives late rolls the world back and is replayed, so that everyone ends up with the same world; without that the views drift apart.',
      ),
    );
  }

  show(): void {
    const { network } = this.together;
    this.root.hidden = network === null;
    if (!network) return;
    const names = network.profiles.includes(network.profile) ? network.profiles : [network.profile, ...network.profiles];
    if (names.join() !== this.profiles) {
      this.profiles = names.join();
      this.profile.replaceChildren(...names.map((name) => element('option', { value: name }, profileText(name))));
    }
    this.profile.value = network.profile;
    this.synchronised.checked = network.synchronised;
    for (const { of, input, say, slider } of this.sliders) {
      // A slider that is being dragged is not pulled out of the user's hand.
      if (document.activeElement !== input) input.value = String(slider.scale * of(network));
      say(slider.scale * of(network));
    }
  }

  private slider(slider: Slider) {
    const input = element('input', { type: 'range', min: '0', max: String(slider.high), step: String(slider.step), id: `network-${slider.key}` });
    const output = element('output', {});
    const say = (value: number) => (output.textContent = `${Number(value.toFixed(1))} ${slider.unit}`);
    input.addEventListener('input', () => {
      say(Number(input.value));
      this.paced.push({ [slider.key]: Number(input.value) / slider.scale });
    });
    const root = element('label', { className: 'slider' }, element('span', {}, slider.label, output), input);
    return { root, input, say, of: slider.of, slider };
  }
}
