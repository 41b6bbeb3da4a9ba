// The panel "Together": share the scene or join one, who is in the session, chat, marks, the network between all of them.
import { button, element, remember, remembered } from '../../dom';
import { listed, type Together, type Topic } from '../../together';
import { Chat } from './chat';
import { Invitation } from './invitation';
import { MarkList } from './marks';
import { NetworkPanel } from './network';
import { PeerList } from './peers';

export interface TogetherActions {
  renamed(): void; // the user has another name now
  toggleMarking(): void;
  bodyName(body: number): string;
  tell(text: string): void; // a short sentence for the user
}

export class TogetherPanel {
  readonly plots = element('div', { className: 'agreement' });
  private readonly name = element('input', { type: 'text', maxLength: 24, id: 'share-name', autocomplete: 'off' });
  private readonly invite = element('input', { type: 'text', id: 'invite', autocomplete: 'off', className: 'mono', placeholder: 'Paste it here' });
  private readonly joining: HTMLButtonElement;
  private readonly wrong = element('p', { className: 'wrong', id: 'share-wrong', hidden: true });
  private readonly off: HTMLElement;
  private readonly busy: HTMLElement;
  private readonly on: HTMLElement;
  private readonly stage = element('p', { id: 'share-stage' });
  private readonly progress = element('progress', { max: 1, value: 0 });
  private readonly status = element('p', { id: 'share-status' });
  private readonly invitation: Invitation;
  private readonly peers: PeerList;
  private readonly chat: Chat;
  private readonly marks: MarkList;
  private readonly network: NetworkPanel;

  constructor(
    root: HTMLElement,
    private readonly together: Together,
    private readonly actions: TogetherActions,
  ) {
    this.invitation = new Invitation((done) =>
      actions.tell(done ? 'Copied.' : 'The browser does not let the page copy. Select the text and copy it yourself.'),
    );
    this.peers = new PeerList(together);
    this.chat = new Chat(together);
    this.marks = new MarkList(together, () => actions.toggleMarking(), (body) => actions.bodyName(body));
    this.network = new NetworkPanel(together);
    this.wrong.setAttribute('role', 'alert');
    this.invite.setAttribute('aria-label', 'Invitation');
    this.joining = element('button', { type: 'submit', id: 'share-join' }, 'Join');
    this.off = this.makeOff();
    this.busy = this.makeBusy();
    this.on = this.makeOn();
    root.append(this.wrong, this.off, this.busy, this.on);
    this.showShare();
    this.show('peers');
  }

  show(topic: Topic): void {
    if (topic === 'share') this.showShare();
    if (topic === 'share' || topic === 'peers') {
      this.showStatus();
      this.peers.show();
    }
    if (topic === 'network') this.network.show();
    if (topic === 'chat') this.chat.show();
    if (topic === 'marks') this.marks.show();
  }

  // Back to what holds, after the server refused a change.
  restore(): void {
    this.network.show();
  }

  marking(armed: boolean): void {
    this.marks.armed(armed);
  }

  // An invitation came with the page's address.
  invited(invite: string): void {
    this.invite.value = invite;
    this.joining.classList.add('primary');
    this.joining.focus();
  }

  focusChat(): void {
    this.chat.focus();
  }

  private makeOff(): HTMLElement {
    const start = button('Share this scene', 'Share this scene: others can then join it', () => this.together.start(this.ownName()));
    start.id = 'share-start';
    start.classList.add('primary');
    const form = element('form', { className: 'row' }, this.invite, this.joining);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.complain(this.together.join(this.invite.value, this.ownName()));
    });
    this.invite.addEventListener('input', () => this.complain(''));
    this.name.addEventListener('change', () => this.ownName());
    return element(
      'div',
      { id: 'share-off' },
      element('div', { className: 'group' }, element('label', { className: 'field' }, element('span', {}, 'Your name'), this.name)),
      element(
        'div',
        { className: 'group' },
        element('h2', {}, 'Share'),
        element('p', { className: 'note' }, 'People on other computers can then hold the same bodies with you. You get an invitation to give them.'),
        element('div', { className: 'row' }, start),
      ),
      element('div', { className: 'group' }, element('h2', {}, 'Join with an invitation'), form),
    );
  }

  private makeBusy(): HTMLElement {
    this.stage.setAttribute('role', 'status');
    this.progress.setAttribute('aria-label', 'Progress');
    const cancel = button('Cancel', 'Cancel sharing or joining', () => this.together.leave());
    cancel.id = 'share-cancel';
    return element('div', { className: 'group', id: 'share-busy' }, this.stage, this.progress, element('div', { className: 'row' }, cancel));
  }

  private makeOn(): HTMLElement {
    this.status.setAttribute('role', 'status');
    const leave = button('Leave', 'Leave the session; the others go on', () => this.together.leave());
    leave.id = 'share-leave';
    const agreement = element('details', { className: 'fold', id: 'agreement', open: true }, element('summary', {}, 'Agreement'), this.plots);
    return element(
      'div',
      { id: 'share-on' },
      element('div', { className: 'group' }, element('div', { className: 'status-row' }, this.status, leave), this.invitation.root),
      this.peers.root,
      this.chat.root,
      this.marks.root,
      element('div', { className: 'group' }, agreement),
      element('div', { className: 'group' }, this.network.root),
    );
  }

  private showShare(): void {
    const { share, shared, busy } = this.together;
    this.off.hidden = shared || busy;
    this.busy.hidden = !busy;
    this.on.hidden = !shared;
    const stage = share.stage || (share.state === 'joining' ? 'Joining' : 'Starting');
    if (this.stage.textContent !== stage) this.stage.textContent = stage;
    this.progress.value = share.progress;
    if (shared) this.invite.value = '';
    if (document.activeElement !== this.name) this.name.value = remembered('name') ?? '';
    this.complain(share.state === 'failed' ? share.reason || 'The scene is not shared any more; the program did not say why.' : '');
    this.network.show();
  }

  private showStatus(): void {
    const { share, others, reachable } = this.together;
    const names = others.map((peer) => peer.name);
    const with_ = names.length === 0 ? 'Nobody else is here yet' : `Together with ${listed(names)}`;
    const here = share.state === 'cut_off' ? 'Cut off from the others' : with_;
    const text = reachable ? here : 'The program behind this page does not answer';
    if (this.status.textContent !== text) this.status.textContent = text;
    this.invitation.show(share.invite, reachable && names.length === 0);
  }

  private complain(text: string): void {
    this.wrong.textContent = text;
    this.wrong.hidden = text === '';
  }

  // The name in the field, kept and told.
  private ownName(): string {
    const name = this.name.value.trim();
    if (name !== (remembered('name') ?? '')) {
      remember('name', name);
      this.actions.renamed();
    }
    return name;
  }
}
