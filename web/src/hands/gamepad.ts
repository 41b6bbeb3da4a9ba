// A gamepad as a hand (Gamepad API, standard mapping): left stick moves in the view's plane, triggers pull near and
// push away, right stick turns, shoulder buttons roll, the lower face button (A, cross) lets go. It can rumble with the force.
import type { Hand } from './hand';
import type { KeyView } from './keyboard';
import { shiftBy, stick, turnBy } from './motion';

const kSpeed = 0.25; // scene sizes a second at full stick
const kTurnSpeed = 1.2; // radians a second at full stick
const kRumbleEvery = 100; // milliseconds

export class GamepadHand {
  rumble = false;
  private rumbledAt = 0;

  constructor(
    private readonly view: KeyView,
    private readonly hand: Hand,
    private readonly connected: (name: string) => void,
  ) {
    window.addEventListener('gamepadconnected', (event) => this.connected(event.gamepad.id));
  }

  step(seconds: number): void {
    const pad = firstPad();
    if (!pad) return this.hand.letGo('gamepad'); // it may have been unplugged with its stick pushed
    const axis = (i: number) => stick(pad.axes[i] ?? 0);
    const button = (i: number) => pad.buttons[i]?.value ?? 0;
    const move = [axis(0), -axis(1), stick(button(7)) - stick(button(6))] as const;
    const turn = [axis(3), axis(2), button(5) - button(4)] as const;
    if (button(0) > 0.5) this.hand.drop();
    if (![...move, ...turn].some((value) => value !== 0)) return this.hand.letGo('gamepad');
    if (!this.hand.grab('gamepad')) return;
    const basis = this.view.basis();
    const way = kSpeed * this.view.sceneSize() * seconds;
    const angle = kTurnSpeed * seconds;
    this.hand.move((pose) => {
      const shifted = shiftBy(pose, basis, move[0] * way, move[1] * way, move[2] * way);
      const pivot = this.view.pivot(this.hand.body, shifted);
      return turnBy(shifted, basis, pivot, turn[0] * angle, turn[1] * angle, turn[2] * angle);
    });
  }

  // `strength` 0…1, proportional to the force.
  feel(strength: number, now: number): void {
    if (!this.rumble || now - this.rumbledAt < kRumbleEvery) return;
    const actuator = firstPad()?.vibrationActuator;
    if (!actuator || strength < 0.01) return;
    this.rumbledAt = now;
    const effect = { duration: 1.5 * kRumbleEvery, strongMagnitude: strength, weakMagnitude: 0.5 * strength };
    // Not every pad can; one that cannot stays silent.
    void actuator.playEffect('dual-rumble', effect).catch(() => {});
  }
}

function firstPad(): Gamepad | undefined {
  return navigator.getGamepads?.().find((pad) => pad?.connected) ?? undefined;
}
