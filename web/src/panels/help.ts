// The help overlay: every gesture on one page.
import { button, element } from '../dom';

const kGestures: [heading: string, rows: [gesture: string, meaning: string][]][] = [
  [
    'The body in your hand',
    [
      ['Drag it', 'picks it up there and moves it in the plane of the screen'],
      ['Wheel while dragging', 'pushes it away, pulls it near'],
      ['Shift + drag, right button', 'turns it'],
      ['Shift + wheel while dragging', 'rolls it'],
      ['Let go', 'the spring relaxes'],
      ['Drag a soft body', 'holds it at that point and bends it'],
    ],
  ],
  [
    'Looking around',
    [
      ['Drag beside the body', 'orbits'],
      ['Right button beside the body', 'pans'],
      ['Wheel', 'zooms'],
      ['F, double-click beside it', 'shows the whole scene'],
      ['Arrow keys', 'orbit; with Shift they pan'],
      ['+ / −', 'zooms'],
    ],
  ],
  [
    'Touch screen',
    [
      ['One finger on the body', 'moves or turns it (switch at the left)'],
      ['Second finger', 'pinch: depth, twist: roll'],
      ['Beside the body', 'one finger orbits, two pan and zoom'],
      ['Double tap beside it', 'shows the whole scene'],
    ],
  ],
  [
    'Keyboard',
    [
      ['W A S D', 'up, left, down, right'],
      ['Q / E', 'nearer / away'],
      ['Shift with these', 'turns'],
      ['Esc, half a minute at rest', 'lets go'],
      ['R', 'puts the bodies back'],
      ['Space', 'record; in a replay, pause'],
      ['G, P, ?', 'scenes, read-outs, this help'],
    ],
  ],
  [
    'Together',
    [
      ['T', 'share this scene or join another one; who is there'],
      ['C', 'write to everyone'],
      ['M, then click a body', 'drops a mark there for everyone to see'],
      ['M, then Enter', 'drops it on the selected body'],
    ],
  ],
  [
    'Gamepad',
    [
      ['Left stick, triggers', 'moves; pulls near, pushes away'],
      ['Right stick, shoulder buttons', 'turns; rolls'],
      ['A or cross', 'lets go'],
    ],
  ],
];

const kLegend: [name: string, color: string, meaning: string][] = [
  ['Ghost', '#6f9fd880', 'where your hand is'],
  ['Spring', '#0c8599', 'pulls the body to your hand'],
  ['Ball with a name', '#2f9e44', 'the hand of someone else'],
  ['Pin with a number', '#f08c00', 'a mark that somebody dropped'],
  ['Green ghost', '#2f9e4480', 'where a task wants its body'],
  ['Arrow', '#d6336c', 'force on your hand'],
  ['Bent arrow', '#7048e8', 'torque'],
  ['Dots', '#e03131', 'contact points; deeper ones are larger and redder'],
  ['Lines on a body', '#e8590c', 'the closer together, the nearer something is; warm colours too'],
];

export class Help {
  constructor(private readonly dialog: HTMLDialogElement) {
    const title = element('h2', { id: 'help-title' }, 'What your hands can do');
    const groups = kGestures.map(([heading, rows]) =>
      element(
        'section',
        {},
        element('h3', {}, heading),
        element('dl', {}, ...rows.flatMap(([what, why]) => [element('dt', {}, what), element('dd', {}, why)])),
      ),
    );
    const legend = element('section', {}, element('h3', {}, 'What you see'));
    const list = element('dl', {});
    for (const [name, color, meaning] of kLegend) {
      const swatch = element('i', { className: 'swatch' });
      swatch.style.background = color;
      list.append(element('dt', {}, swatch, name), element('dd', {}, meaning));
    }
    legend.append(list);
    const close = button('Close', 'Close the help', () => this.dialog.close());
    dialog.append(element('header', {}, title, close), element('div', { className: 'columns' }, ...groups, legend));
    dialog.addEventListener('click', (event) => {
      if (event.target === dialog) dialog.close();
    });
  }

  get isOpen(): boolean {
    return this.dialog.open;
  }

  toggle(): void {
    if (this.dialog.open) this.dialog.close();
    else this.dialog.showModal();
  }
}
