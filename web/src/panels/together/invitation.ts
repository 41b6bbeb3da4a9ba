// The invitation of the scene that is shared from here: to copy, to type, to scan.
import { encode } from 'uqr';
import { button, copyText, element } from '../../dom';

const kSvg = 'http://www.w3.org/2000/svg';

// The dark squares of a QR code as one path, a unit each; light ones are left out.
export function qrPath(dark: readonly (readonly boolean[])[]): string {
  return dark.flatMap((row, y) => row.flatMap((on, x) => (on ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
}

// Black on white whatever the theme is: not every camera reads it the other way round.
export function qrCode(text: string): SVGSVGElement {
  const code = encode(text, { ecc: 'M', border: 4 });
  const svg = document.createElementNS(kSvg, 'svg');
  svg.setAttribute('viewBox', `0 0 ${code.size} ${code.size}`);
  svg.setAttribute('class', 'qr');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', 'The invitation as a QR code');
  svg.setAttribute('shape-rendering', 'crispEdges');
  const path = document.createElementNS(kSvg, 'path');
  path.setAttribute('d', qrPath(code.data));
  svg.append(path);
  return svg;
}

export class Invitation {
  readonly root = element('details', { className: 'fold', id: 'invitation' });
  private readonly word = field('invite-own', 'Invitation');
  private readonly command = field('invite-command', 'Command that joins');
  private readonly code = element('div', { className: 'qr-box' });
  private shown = '';
  private alone = true;

  // `copied` is told whether it worked.
  constructor(private readonly copied: (done: boolean) => void) {
    const row = (input: HTMLInputElement, label: string) =>
      element('div', { className: 'row' }, input, button('Copy', label, () => void this.copy(input)));
    this.root.append(
      element('summary', {}, 'Invitation'),
      element('p', { className: 'note' }, 'Give it only to people you want here: whoever knows it can join. They paste it into their page, or run the command.'),
      row(this.word, 'Copy the invitation'),
      row(this.command, 'Copy the command'),
      this.code,
    );
  }

  // Unfolded as long as nobody came.
  show(invite: string, alone: boolean): void {
    this.root.hidden = invite === '';
    if (invite !== this.shown) {
      this.shown = invite;
      this.word.value = invite;
      this.command.value = `cotouch join ${invite}`;
      this.code.replaceChildren(...(invite ? [qrCode(invite)] : []));
      this.root.open = alone;
    } else if (alone !== this.alone) {
      this.root.open = alone;
    }
    this.alone = alone;
  }

  private async copy(input: HTMLInputElement): Promise<void> {
    this.copied(await copyText(input.value));
  }
}

function field(id: string, label: string): HTMLInputElement {
  const input = element('input', { type: 'text', readOnly: true, id, className: 'mono' });
  input.setAttribute('aria-label', label);
  input.addEventListener('focus', () => input.select());
  return input;
}
