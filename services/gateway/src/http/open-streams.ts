/** How many replies are being streamed to callers: what a gateway is busy with while its CPU is not. */
export class OpenStreams {
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @returns what is called once, when the reply has ended however it did */
  open(): () => void {
    this.#size += 1;
    return () => {
      this.#size -= 1;
    };
  }
}
