// The devices at this machine: who they are, what they hold, how hard and how often they are served, on and off. Those that
// do not take part say why, quietly.
import { button, element } from '../dom';
import * as format from '../format';
import type { DeviceInfo } from '../messages';

const kStates: Record<DeviceInfo['state'], string> = {
  idle: 'waits for a scene that moves',
  ready: 'in use',
  off: 'switched off',
  lost: 'gone',
  faulty: 'reads nonsense',
  disabled: 'power cut',
  unguarded: 'unguarded',
  halted: 'halted',
  hangs: 'hangs',
  refused: 'does not take part',
};

const isOff = (device: DeviceInfo): boolean => device.state === 'off' || device.state === 'disabled';

// Of one device. It stays while the device is told anew, a few times a second: nobody's focus or click gets lost.
class Row {
  readonly item = element('li');
  private readonly doing = element('small', { className: 'doing' });
  private readonly reason = element('small', { className: 'reason' });
  private readonly toggle: HTMLButtonElement | null;

  constructor(private device: DeviceInfo, mayChange: boolean, switched: (device: number, on: boolean) => void) {
    this.toggle = mayChange && device.device > 0 ? button('', '', () => switched(device.device, isOff(this.device))) : null;
    this.item.append(element('strong', {}, device.name), this.doing, this.reason, ...(this.toggle ? [this.toggle] : []));
    this.item.dataset.device = String(device.device);
  }

  show(device: DeviceInfo, doing: string): void {
    this.device = device;
    this.item.dataset.state = device.state;
    this.doing.textContent = doing;
    this.reason.textContent = device.reason;
    this.reason.hidden = device.reason === '';
    if (!this.toggle) return;
    const word = isOff(device) ? 'Switch on' : 'Switch off';
    this.toggle.textContent = word;
    this.toggle.title = `${word}: ${device.name}`;
    this.toggle.setAttribute('aria-label', this.toggle.title);
  }
}

export class DevicesPanel {
  private readonly group = element('div', { className: 'group', id: 'devices', hidden: true });
  private readonly items = element('ul', { className: 'devices' });
  private devices: DeviceInfo[] = [];
  private rows: Row[] = [];
  private shown = ''; // which devices have rows
  private mayChange = false;

  constructor(
    root: HTMLElement,
    private readonly switched: (device: number, on: boolean) => void,
    private readonly bodyName: (body: number) => string,
  ) {
    this.group.append(element('h2', {}, 'Devices'), this.items);
    root.append(this.group);
  }

  allow(features: string[]): void {
    this.mayChange = features.includes('devices');
    this.set(this.devices);
  }

  set(devices: DeviceInfo[]): void {
    this.devices = devices;
    this.group.hidden = devices.length === 0;
    const those = JSON.stringify([this.mayChange, devices.map((device) => [device.device, device.name])]);
    if (those !== this.shown) {
      this.shown = those;
      this.rows = devices.map((device) => new Row(device, this.mayChange, this.switched));
      this.items.replaceChildren(...this.rows.map((row) => row.item));
    }
    devices.forEach((device, i) => this.rows[i]!.show(device, this.doing(device)));
  }

  private doing(device: DeviceInfo): string {
    if (device.state !== 'ready') return kStates[device.state];
    const holds = device.body > 0 ? `holds ${this.bodyName(device.body)}` : 'holds nothing';
    const felt = device.motors ? [format.force(device.force)] : ['no motors'];
    return [holds, ...felt, `${Math.round(device.rate)} times a second`].join(' · ');
  }
}
