// Every gesture, from the browser's events to the pose that is sent: mouse, fingers, keys and a gamepad.
//
// The eye looks along y from (0, -2, 0), x to the right and z up, and a pixel is a milliradian: with the part at the
// origin, two metres away, a pixel is two millimetres. The scene is one metre large.
import { Matrix4, Quaternion, Ray, Vector3 } from 'three';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { GamepadHand } from '../../src/hands/gamepad';
import { Hand } from '../../src/hands/hand';
import { KeyboardHand } from '../../src/hands/keyboard';
import { isTakenBy } from '../../src/hands/keys';
import { basisOf, transformPoint, type HandPose } from '../../src/hands/motion';
import { PointerHand } from '../../src/hands/pointer';

const eye = new Vector3(0, -2, 0);
const basis = basisOf(new Matrix4().makeBasis(new Vector3(1, 0, 0), new Vector3(0, 0, 1), new Vector3(0, -1, 0)));
const event = (type: string, members: object) => Object.assign(new Event(type, { cancelable: true }), members);

class FakeElement extends EventTarget {
  clientWidth = 1000;
  clientHeight = 1000;
  classList = { add: vi.fn(), remove: vi.fn(), toggle: vi.fn() };
  focus = vi.fn();
  setPointerCapture = vi.fn();
}

// The part is a square of 200 pixels around the middle.
function setUp() {
  const orbiting: boolean[] = [];
  const hand = new Hand({
    grasp: () => true,
    release: vi.fn(),
    input: vi.fn(),
    body: () => ({ position: new Vector3(), rotation: new Quaternion() }),
    limit: (pose) => pose,
    changed: () => {},
    refused: () => {},
  });
  const view = {
    pick: (x: number, y: number) =>
      Math.abs(x) < 100 && Math.abs(y) < 100 ? { body: 0, point: new Vector3(x / 500, 0, -y / 500) } : null,
    ray: (x: number, y: number) => new Ray(eye.clone(), new Vector3(x / 1000, 1, -y / 1000).normalize()),
    basis: () => basis,
    pivot: (_body: number, pose: HandPose) => pose.position.clone(),
    sceneSize: () => 1,
    setOrbiting: (on: boolean) => orbiting.push(on),
    grabbed: vi.fn(),
  };
  return { hand, view, orbiting };
}

const near = (v: Vector3, x: number, y: number, z: number) => {
  expect(v.x).toBeCloseTo(x, 9);
  expect(v.y).toBeCloseTo(y, 9);
  expect(v.z).toBeCloseTo(z, 9);
};
// Where a point of the part goes, for turns.
const carried = (hand: Hand, x: number, y: number, z: number) => transformPoint(hand.target!, new Vector3(x, y, z));

describe('Mouse and fingers', () => {
  let page: ReturnType<typeof setUp>;
  let element: FakeElement;
  let pointer: PointerHand;
  const send = (type: string, x: number, y: number, more: object = {}) =>
    element.dispatchEvent(
      event(type, { pointerId: 1, pointerType: 'mouse', button: 0, buttons: 1, clientX: x, clientY: y, shiftKey: false, ...more }),
    );
  const wheel = (deltaY: number, more: object = {}) => {
    const made = event('wheel', { deltaX: 0, deltaY, deltaMode: 0, shiftKey: false, ...more });
    element.dispatchEvent(made);
    return made;
  };
  const finger = (pointerId: number) => ({ pointerId, pointerType: 'touch' });

  beforeEach(() => {
    page = setUp();
    element = new FakeElement();
    pointer = new PointerHand(element as unknown as HTMLElement, page.view, page.hand);
  });

  it('beside the part are left to the camera', () => {
    send('pointerdown', 300, 0);
    expect(page.hand.grip).toBe('free');
    expect(page.orbiting).toEqual([]);
    expect(wheel(100).defaultPrevented).toBe(false);
  });

  it('drag the part in the plane of the screen and let it go', () => {
    send('pointerdown', 50, 0);
    expect(page.hand.grip).toBe('asking');
    send('pointermove', 100, 0);
    send('pointermove', 150, -50);
    near(page.hand.target!.position, 0.2, 0, 0.1);
    expect(page.orbiting).toEqual([false]);
    send('pointerup', 150, -50);
    expect(page.hand.grip).toBe('free');
    expect(page.orbiting).toEqual([false, true]);
  });

  it('push it away with the wheel turned away, without a jump when the drag goes on', () => {
    send('pointerdown', 50, 0);
    expect(wheel(-100).defaultPrevented).toBe(true);
    near(page.hand.target!.position, 0, 0.01, 0);
    wheel(200);
    near(page.hand.target!.position, 0, -0.01, 0);
    send('pointermove', 50, 0);
    near(page.hand.target!.position, 0, -0.01, 0);
  });

  it('turn it with Shift, with the right button and with the switch', () => {
    for (const how of ['shift', 'right', 'switch']) {
      pointer.turning = how === 'switch';
      send('pointerdown', 0, 0, { button: how === 'right' ? 2 : 0 });
      send('pointermove', 25, 0, { shiftKey: how === 'shift' });
      near(page.hand.target!.position, 0, 0, 0);
      // The near side goes along to the right, by four radians a thousand pixels.
      near(carried(page.hand, 0, -1, 0), Math.sin(0.1), -Math.cos(0.1), 0);
      send('pointerup', 25, 0);
    }
  });

  it('go on dragging without a jump after a turn', () => {
    send('pointerdown', 80, 0);
    send('pointermove', 80, 60, { shiftKey: true });
    send('pointermove', 80, 60);
    near(page.hand.target!.position, 0, 0, 0);
    send('pointermove', 90, 60);
    expect(page.hand.target!.position.x).toBeCloseTo(0.02, 2);
  });

  it('roll it with Shift and the wheel, also where the browser makes that a sideways wheel', () => {
    send('pointerdown', 0, 0);
    wheel(100, { shiftKey: true });
    near(carried(page.hand, 0, 0, 1), Math.sin(0.1), 0, Math.cos(0.1));
    wheel(0, { shiftKey: true, deltaX: 100 });
    near(carried(page.hand, 0, 0, 1), Math.sin(0.2), 0, Math.cos(0.2));
  });

  it('of two fingers pinch for depth', () => {
    send('pointerdown', -50, 0, finger(1));
    expect(pointer.byTouch).toBe(true);
    send('pointerdown', 50, 0, finger(2));
    // Spread by a factor e, about the same middle: nearer by a quarter of the scene.
    send('pointermove', 50 * Math.E, 0, finger(2));
    send('pointermove', -50 * Math.E, 0, finger(1));
    expect(page.hand.target!.position.y).toBeCloseTo(-0.25, 9);
    expect(Math.abs(page.hand.target!.position.x)).toBeLessThan(0.02); // perspective of the steps between
    expect(page.hand.target!.rotation.angleTo(new Quaternion())).toBeCloseTo(0, 9);
  });

  it('of two fingers twist to roll, also past the left where the angle jumps', () => {
    send('pointerdown', 0, 0, finger(1));
    send('pointerdown', -100 * Math.cos(0.1), 100 * Math.sin(0.1), finger(2));
    send('pointermove', -100 * Math.cos(0.1), -100 * Math.sin(0.1), finger(2)); // clockwise by 0.2
    near(carried(page.hand, 0, 0, 1).sub(page.hand.target!.position), Math.sin(0.2), 0, Math.cos(0.2));
  });

  it('of two fingers move it together, and lifting either does not throw it', () => {
    send('pointerdown', 0, 0, finger(1));
    send('pointerdown', 80, 0, finger(2));
    send('pointermove', 40, -40, finger(1));
    send('pointermove', 120, -40, finger(2));
    // One finger after the other, so a little of it goes by way of a pinch and a twist.
    const moved = page.hand.target!.position.clone();
    expect(moved.distanceTo(new Vector3(0.08, 0, 0.08))).toBeLessThan(0.005);
    send('pointerup', 40, -40, finger(1));
    expect(page.hand.grip).not.toBe('free');
    send('pointermove', 120, -40, finger(2));
    near(page.hand.target!.position, moved.x, moved.y, moved.z);
    send('pointerup', 120, -40, finger(2));
    expect(page.hand.grip).toBe('free');
  });

  it('let go when the browser takes the pointer away or the server the hand', () => {
    send('pointerdown', 0, 0);
    send('pointercancel', 0, 0);
    expect(page.hand.grip).toBe('free');
    send('pointerdown', 0, 0);
    page.hand.forget();
    send('pointermove', 10, 0);
    expect(page.orbiting.at(-1)).toBe(true);
  });
});

describe('Keys', () => {
  let page: ReturnType<typeof setUp>;
  let keyboard: KeyboardHand;
  let dialogOpen: boolean;
  const key = (type: 'keydown' | 'keyup', code: string, more: object = {}) =>
    window.dispatchEvent(event(type, { code, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more }));

  beforeEach(() => {
    dialogOpen = false;
    vi.stubGlobal('window', new EventTarget());
    vi.stubGlobal('document', { querySelector: () => (dialogOpen ? {} : null) });
    page = setUp();
    keyboard = new KeyboardHand(page.view, page.hand);
  });

  it('move the part along the view’s axes, 0.15 of the scene a second', () => {
    const ways: [string, number, number, number][] = [
      ['KeyD', 1, 0, 0],
      ['KeyA', -1, 0, 0],
      ['KeyW', 0, 0, 1],
      ['KeyS', 0, 0, -1],
      ['KeyE', 0, 1, 0],
      ['KeyQ', 0, -1, 0],
    ];
    for (const [code, x, y, z] of ways) {
      key('keydown', code);
      keyboard.step(1);
      near(page.hand.target!.position, 0.15 * x, 0.15 * y, 0.15 * z);
      key('keyup', code);
      keyboard.step(1);
      near(page.hand.target!.position, 0.15 * x, 0.15 * y, 0.15 * z);
      page.hand.drop();
    }
  });

  it('turn it with Shift: the near side follows the key', () => {
    key('keydown', 'KeyD', { shiftKey: true });
    keyboard.step(0.5);
    near(carried(page.hand, 0, -1, 0), Math.sin(0.4), -Math.cos(0.4), 0);
    key('keyup', 'KeyD', { shiftKey: true });
    page.hand.drop();
    key('keydown', 'KeyW', { shiftKey: true });
    keyboard.step(0.5);
    near(carried(page.hand, 0, -1, 0), 0, -Math.cos(0.4), Math.sin(0.4));
  });

  it('hold the part at rest until Escape lets go', () => {
    key('keydown', 'KeyD');
    keyboard.step(0.1);
    key('keyup', 'KeyD');
    expect(page.hand.grip).not.toBe('free');
    key('keydown', 'Escape');
    expect(page.hand.grip).toBe('free');
  });

  it('belong to an open dialog: it scrolls and closes, and the part stays in the hand', () => {
    key('keydown', 'KeyD');
    keyboard.step(0.1);
    key('keyup', 'KeyD');
    const held = page.hand.target!.position.clone();
    dialogOpen = true;
    const arrow = event('keydown', { code: 'KeyD', shiftKey: false });
    window.dispatchEvent(arrow);
    keyboard.step(1);
    expect(arrow.defaultPrevented).toBe(false);
    near(page.hand.target!.position, held.x, held.y, held.z);
    key('keydown', 'Escape');
    expect(page.hand.grip).not.toBe('free');
  });

  it('belong to a field, and of other controls only those that they answer to', () => {
    const taken = (tagName: string, type: string) =>
      ['KeyW', 'Space', 'Escape', 'ArrowUp', 'Home', 'Enter'].filter((code) =>
        isTakenBy({ tagName, type } as unknown as EventTarget, code),
      );
    const all = ['KeyW', 'Space', 'Escape', 'ArrowUp', 'Home', 'Enter'];
    expect(taken('INPUT', 'text')).toEqual(all);
    expect(taken('SELECT', 'select-one')).toEqual(all);
    expect(taken('TEXTAREA', 'textarea')).toEqual(all);
    expect(taken('INPUT', 'range')).toEqual(['ArrowUp', 'Home']);
    expect(taken('INPUT', 'checkbox')).toEqual(['Space', 'Enter']);
    expect(taken('INPUT', 'radio')).toEqual(['Space', 'ArrowUp']);
    expect(taken('BUTTON', 'button')).toEqual(['Space', 'Enter']);
    expect(taken('CANVAS', '')).toEqual([]);
  });

  it('that are still down when the hand was refused or dropped do not take it again', () => {
    for (const goes of [() => page.hand.answered({ type: 'hand', hand: 1, body: 0, state: 'refused', point: [0, 0, 0], reason: '' }), () => page.hand.drop()]) {
      key('keydown', 'KeyD');
      keyboard.step(0.1);
      goes();
      for (let i = 0; i < 5; ++i) keyboard.step(0.1);
      expect(page.hand.grip).toBe('free');
      key('keyup', 'KeyD');
    }
    key('keydown', 'KeyD');
    keyboard.step(0.1);
    expect(page.hand.grip).toBe('asking');
  });

  it('stop when the window loses them, and leave shortcuts to the browser', () => {
    key('keydown', 'KeyD');
    window.dispatchEvent(new Event('blur'));
    keyboard.step(1);
    expect(page.hand.target).toBeNull();
    key('keydown', 'KeyS', { ctrlKey: true });
    keyboard.step(1);
    expect(page.hand.target).toBeNull();
  });
});

describe('A gamepad', () => {
  let page: ReturnType<typeof setUp>;
  let gamepad: GamepadHand;
  let pad: { connected: boolean; axes: number[]; buttons: { value: number }[]; vibrationActuator: unknown };

  beforeEach(() => {
    pad = {
      connected: true,
      axes: [0, 0, 0, 0],
      buttons: Array.from({ length: 17 }, () => ({ value: 0 })),
      vibrationActuator: null,
    };
    vi.stubGlobal('window', new EventTarget());
    vi.stubGlobal('navigator', { getGamepads: () => [null, pad] });
    page = setUp();
    gamepad = new GamepadHand(page.view, page.hand, () => {});
  });

  const dropAtRest = () => {
    pad.axes.fill(0);
    pad.buttons.forEach((button) => (button.value = 0));
    gamepad.step(0);
    page.hand.drop();
  };

  it('at rest holds nothing', () => {
    pad.axes = [0.05, -0.1, 0.1, 0];
    gamepad.step(1);
    expect(page.hand.grip).toBe('free');
  });

  it('moves with the left stick and the triggers, a quarter of the scene a second', () => {
    const moves: [() => void, number, number, number][] = [
      [() => (pad.axes[0] = 1), 0.25, 0, 0],
      [() => (pad.axes[1] = -1), 0, 0, 0.25], // up on a stick is negative
      [() => (pad.buttons[7]!.value = 1), 0, 0.25, 0], // right trigger pushes away
      [() => (pad.buttons[6]!.value = 1), 0, -0.25, 0],
    ];
    for (const [press, x, y, z] of moves) {
      press();
      gamepad.step(1);
      near(page.hand.target!.position, x, y, z);
      dropAtRest();
    }
  });

  it('turns with the right stick and rolls with the shoulders', () => {
    pad.axes[2] = 1;
    gamepad.step(0.25);
    near(carried(page.hand, 0, -1, 0), Math.sin(0.3), -Math.cos(0.3), 0);
    dropAtRest();
    pad.axes[3] = 1; // down: the near side goes down
    gamepad.step(0.25);
    near(carried(page.hand, 0, -1, 0), 0, -Math.cos(0.3), -Math.sin(0.3));
    dropAtRest();
    pad.buttons[5]!.value = 1;
    gamepad.step(0.25);
    near(carried(page.hand, 0, 0, 1), Math.sin(0.3), 0, Math.cos(0.3));
  });

  it('keeps holding at rest, and the lower face button lets go', () => {
    pad.axes[0] = 1;
    gamepad.step(0.1);
    pad.axes[0] = 0;
    gamepad.step(0.1);
    expect(page.hand.grip).not.toBe('free');
    pad.buttons[0]!.value = 1;
    gamepad.step(0.1);
    expect(page.hand.grip).toBe('free');
  });

  it('lets go with the button also while a stick is pushed, until that has come to rest', () => {
    pad.axes[0] = 1;
    gamepad.step(0.1);
    pad.buttons[0]!.value = 1;
    gamepad.step(0.1);
    pad.buttons[0]!.value = 0;
    gamepad.step(0.1);
    expect(page.hand.grip).toBe('free');
    pad.axes[0] = 0;
    gamepad.step(0.1);
    pad.axes[0] = 1;
    gamepad.step(0.1);
    expect(page.hand.grip).toBe('asking');
  });

  it('unplugged with its stick pushed is at rest', () => {
    pad.axes[0] = 1;
    gamepad.step(0.1);
    pad.connected = false;
    gamepad.step(0.1);
    expect(page.hand.isMovedBy('gamepad')).toBe(false);
  });

  it('rumbles in proportion to the force, only where that is wanted', () => {
    const playEffect = vi.fn(() => Promise.resolve());
    pad.vibrationActuator = { playEffect };
    gamepad.feel(0.5, 1000);
    expect(playEffect).not.toHaveBeenCalled();
    gamepad.rumble = true;
    gamepad.feel(0.5, 1000);
    gamepad.feel(0.5, 1050); // too soon
    gamepad.feel(0, 2000); // nothing to feel
    expect(playEffect).toHaveBeenCalledTimes(1);
    expect(playEffect).toHaveBeenCalledWith('dual-rumble', expect.objectContaining({ strongMagnitude: 0.5 }));
  });
});
