// Everything on the page that belongs to a shared session, put together: the panel, the plots, the strips over the picture, marks.
import { byId } from './dom';
import { joinOf } from './invite';
import { Marking, type Spot } from './marking';
import type { Message } from './messages';
import type { Layout } from './panels/layout';
import { TaskStrip } from './panels/task';
import { AgreementPlots } from './panels/together/agreement';
import { TogetherPanel } from './panels/together/panel';
import type { Toasts } from './panels/toast';
import type { StateFrame } from './protocol';
import type { ShareCommand } from './share-messages';
import type { SharedWorld } from './shared-world';
import { Together, type Topic } from './together';
import type { WorldView } from './view/world';

export interface SharingPort {
  send(command: ShareCommand): void;
  renamed(): void;
  replaying(): boolean;
  layout: Layout;
  toasts: Toasts;
  world: WorldView;
  shared: SharedWorld;
}

export class Sharing {
  readonly together: Together;
  readonly marking: Marking;
  private readonly panel: TogetherPanel;
  private readonly plots: AgreementPlots;
  private readonly strip = new TaskStrip(byId('task-strip'));
  private invite: string; // that came with the page's address and was not used yet

  constructor(private readonly port: SharingPort, address: Location) {
    this.together = new Together(
      (command) => port.send(command),
      (topic) => this.changed(topic),
    );
    this.marking = new Marking({
      allowed: () => this.together.shared && !port.replaying(),
      at: (x, y) => this.spot(port.world.spotAt(x, y)),
      selected: () => {
        const body = port.shared.selected?.id;
        const point = body === undefined ? null : port.world.middleOf(body);
        return this.spot(body !== undefined && point ? { body, point } : null);
      },
      drop: ({ body, point }) => this.together.mark(body, point),
      changed: (armed) => {
        this.panel.marking(armed);
        byId('stage').classList.toggle('marking', armed);
      },
    });
    this.panel = new TogetherPanel(byId('together'), this.together, {
      renamed: () => port.renamed(),
      toggleMarking: () => this.marking.toggle(),
      bodyName: (body) => port.shared.bodyName(body),
      tell: (text) => port.toasts.show(text, 'info'),
    });
    this.plots = new AgreementPlots(this.panel.plots, this.together);
    this.plots.build();
    this.invite = joinOf(address.hash);
    // Pasted into the address of a page that is open, it loads nothing anew.
    window.addEventListener('hashchange', () => {
      this.invite = joinOf(address.hash);
      this.offerInvite();
    });
  }

  received(message: Message): void {
    this.noteReading();
    this.together.received(message);
    if (message.type === 'hello') this.port.layout.allowSharing(this.together.can);
    if (message.type === 'share') this.offerInvite();
  }

  disconnected(): void {
    this.marking.cancel();
    this.together.disconnected();
  }

  // A few times a second.
  step(frame: StateFrame | null): void {
    const { together, port } = this;
    this.noteReading();
    port.layout.notice(port.replaying() ? '' : together.notice);
    port.layout.together(together.unread, together.others.length);
    this.plots.draw();
    const people = together.shared && !port.replaying() ? 1 + together.others.filter((peer) => !peer.observer).length : 0;
    this.strip.show(frame?.task ?? null, port.shared.task?.title ?? 'Task', (body) => port.shared.bodyName(body), people);
  }

  repaint(): void {
    this.plots.build();
  }

  // At every message, not only at the next step: the panel may have been closed just before somebody spoke.
  private noteReading(): void {
    this.together.read(this.together.shared && this.port.layout.togetherOpen);
  }

  restore(): void {
    this.panel.restore();
  }

  // Another scene: its bodies have other names.
  sceneChanged(): void {
    this.panel.show('marks');
  }

  toggle(): void {
    if (this.together.can) this.port.layout.toggleTogether();
  }

  writeToAll(): void {
    if (!this.together.shared) return;
    this.port.layout.openTogether();
    this.panel.focusChat();
  }

  private changed(topic: Topic): void {
    this.panel.show(topic);
    if (topic === 'marks') this.port.world.setMarks(this.together.marks.values());
    if (topic === 'share') this.port.shared.hold(this.together.holdsScene);
    if (topic === 'share' && !this.together.shared) this.marking.cancel();
  }

  private spot(found: { body: number; point: { toArray(): number[] } } | null): Spot | null {
    return found && { body: found.body, point: found.point.toArray() as Spot['point'] };
  }

  // The invitation of the address is shown, ready to join; whoever opened the page decides. It is taken out of the address then: it
  // is a secret, and it should not be offered again after a reload.
  private offerInvite(): void {
    if (!this.invite || this.together.share.state !== 'off') return;
    this.port.layout.openTogether();
    this.panel.invited(this.invite);
    this.invite = '';
    history.replaceState(null, '', location.pathname + location.search);
  }
}
