// Plays a recording in the page: which of its frames is shown, and when. Nothing on the server moves.
import type { Recording, StateFrame } from './protocol';
import { kNoStory, type Story } from './recorded';

// The last frame at or before `time`; the first one before it. Frames are in order of time.
export function frameAt(frames: StateFrame[], time: number): StateFrame | null {
  let low = 0;
  let high = frames.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (frames[middle]!.time <= time) low = middle + 1;
    else high = middle;
  }
  return frames[Math.max(0, low - 1)] ?? null;
}

export class Player {
  time = 0;
  playing = true;
  speed = 1;

  constructor(
    readonly recording: Recording,
    readonly story: Story = kNoStory,
  ) {}

  get frame(): StateFrame | null {
    return frameAt(this.recording.frames, this.time);
  }

  seek(time: number): void {
    this.time = Math.min(this.recording.duration, Math.max(0, time));
  }

  // Pressing play at the end starts over.
  toggle(): void {
    if (!this.playing && this.time >= this.recording.duration) this.time = 0;
    this.playing = !this.playing;
  }

  step(seconds: number): void {
    if (!this.playing) return;
    this.seek(this.time + seconds * this.speed);
    if (this.time >= this.recording.duration) this.playing = false;
  }
}
