// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from 'vitest';
import { parseMessage, type DeviceInfo } from '../../src/messages';
import { DevicesPanel } from '../../src/panels/devices';

const device = (members: Partial<DeviceInfo>) => ({ device: 1, name: 'arm', participant: 4, motors: true, state: 'ready', body: 0, force: 0, rate: 1000, reason: '', ...members });

function told(...devices: object[]): DeviceInfo[] {
  const message = parseMessage(JSON.stringify({ type: 'devices', devices }));
  if (!message.ok || message.value.type !== 'devices') throw new Error('no message about devices');
  return message.value.devices;
}

describe('The devices', () => {
  let switched: [number, boolean][] = [];
  let root: HTMLElement;
  let panel: DevicesPanel;

  beforeEach(() => {
    document.body.innerHTML = '<div id="world"></div>';
    root = document.getElementById('world')!;
    switched = [];
    panel = new DevicesPanel(root, (number, on) => switched.push([number, on]), (body) => (body === 2 ? 'bunny' : 'body'));
    panel.allow(['devices']);
  });

  const lines = () => [...root.querySelectorAll('.doing')].map((line) => line.textContent);
  const buttons = () => [...root.querySelectorAll('button')];

  it('are not mentioned where there are none', () => {
    expect(root.querySelector<HTMLElement>('#devices')!.hidden).toBe(true);
    panel.set(told(device({})));
    expect(root.querySelector<HTMLElement>('#devices')!.hidden).toBe(false);
  });

  it('say what they hold, how hard and how often they are served', () => {
    panel.set(told(device({ body: 2, force: 1.5, rate: 999.6 }), device({ device: 2, name: 'mouse', motors: false })));
    expect(lines()).toEqual(['holds bunny · 1.50 N · 1000 times a second', 'holds nothing · no motors · 1000 times a second']);
  });

  it('are switched off, and on again after their power was cut', () => {
    panel.set(told(device({}), device({ device: 2, state: 'disabled', reason: 'Its driver did not answer.' }), device({ device: 3, state: 'off' })));
    expect(buttons().map((b) => b.textContent)).toEqual(['Switch off', 'Switch on', 'Switch on']);
    for (const one of buttons()) one.click();
    expect(switched).toEqual([
      [1, false],
      [2, true],
      [3, true],
    ]);
  });

  it('keep their switches while they are told anew, so that a slow click counts', () => {
    panel.set(told(device({ force: 1 })));
    const [pressed] = buttons();
    panel.set(told(device({ force: 2, body: 2 })));
    expect(buttons()[0]).toBe(pressed);
    expect(lines()).toEqual(['holds bunny · 2.00 N · 1000 times a second']);
    panel.set(told(device({ state: 'off' })));
    expect(pressed!.textContent).toBe('Switch on');
    pressed!.click();
    expect(switched).toEqual([[1, true]]);
  });

  it('give a reason when one is gone or refused, which has no switch', () => {
    panel.set(told(device({ device: 0, name: 'SpaceMouse', state: 'refused', reason: 'The daemon does not answer.' })));
    expect(root.querySelector('.reason')!.textContent).toBe('The daemon does not answer.');
    expect(lines()).toEqual(['does not take part']);
    expect(buttons()).toEqual([]);
  });

  it('are switched by owners only', () => {
    panel.set(told(device({})));
    panel.allow(['hand']);
    expect(buttons()).toEqual([]);
  });

  it('keep the focus on a switch while they are told anew', () => {
    panel.set(told(device({})));
    buttons()[0]!.focus();
    panel.set(told(device({ force: 2 })));
    expect(document.activeElement).toBe(buttons()[0]);
  });

  it('are lost if a later server says what this page does not know', () => {
    expect(told(device({ state: 'dreaming' as never }))[0]!.state).toBe('lost');
  });
});
