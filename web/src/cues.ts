// An audible cue: a quiet tone whose loudness and pitch grow with the force. Off until the user asks for it (browsers allow
// sound only after a click anyway).
export class Sound {
  private context: AudioContext | undefined;
  private tone: OscillatorNode | undefined;
  private volume: GainNode | undefined;

  get on(): boolean {
    return this.context !== undefined;
  }

  toggle(): boolean {
    if (this.context) {
      void this.context.close();
      this.context = this.tone = this.volume = undefined;
      return false;
    }
    this.context = new AudioContext();
    this.volume = this.context.createGain();
    this.volume.gain.value = 0;
    this.tone = this.context.createOscillator();
    this.tone.type = 'triangle';
    this.tone.connect(this.volume).connect(this.context.destination);
    this.tone.start();
    return true;
  }

  // `strength` 0…1, proportional to the force.
  feel(strength: number): void {
    if (!this.context || !this.tone || !this.volume) return;
    const now = this.context.currentTime;
    // Glide over a few milliseconds: a step in loudness would click.
    this.volume.gain.setTargetAtTime(0.15 * Math.min(1, strength), now, 0.02);
    this.tone.frequency.setTargetAtTime(110 + 330 * Math.min(1, strength), now, 0.02);
  }
}
