// A feed whose server is the test: what it says goes in as text, what the page sends is kept.
import { Feed, type Socket } from '../../src/feed';
import type { Message } from '../../src/messages';

export class FakeSocket implements Socket {
  binaryType = '';
  readyState = 1;
  bufferedAmount = 0;
  onopen: Socket['onopen'] = null;
  onmessage: Socket['onmessage'] = null;
  onclose: Socket['onclose'] = null;
  onerror: Socket['onerror'] = null;
  sent: object[] = [];

  send(data: string | ArrayBuffer): void {
    this.sent.push(JSON.parse(data as string) as object);
  }
  close(): void {}
  say(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
}

// Timers have to be fake: a feed watches its connection.
export function fakeFeed(received: (message: Message) => void): { feed: Feed; socket: FakeSocket } {
  const socket = new FakeSocket();
  const feed = new Feed({
    open: () => socket,
    refusal: () => Promise.resolve(''),
    events: { link: () => {}, message: received, frame: () => {}, near: () => {} },
  });
  feed.connect();
  return { feed, socket };
}
