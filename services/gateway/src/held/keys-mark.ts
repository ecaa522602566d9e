/**
 * What the held keys are fresh of, by the name that the control plane gave it:
 * after a gap it tells of the keys that changed since. Empty = each key must be
 * asked for again.
 */
export class KeysMark {
  readonly #onChange: (mark: string) => void;
  #value = '';
  /** Whether the keys were compared on this stream: only then does it tell all that is different. */
  #isCompared = false;
  /** Whether all that was told of keys on this stream is in force. */
  #told: Promise<boolean> = Promise.resolve(true);

  /** @param onChange told of what is worth keeping */
  constructor(onChange: (mark: string) => void) {
    this.#onChange = onChange;
  }

  get value(): string {
    return this.#value;
  }

  restore(mark: string): void {
    this.#value = mark;
  }

  /** A stream begins to tell, or has ended. */
  missed(): void {
    this.#isCompared = false;
    this.#told = Promise.resolve(true);
  }

  compared(): void {
    this.#isCompared = true;
  }

  /** @param work whether a change that was told is in force, once it is known */
  told(work: Promise<boolean>): void {
    this.#told = Promise.all([this.#told, work]).then((each) => !each.includes(false));
  }

  /** This was reached with what has been told. When some of that could not be fetched, the mark before stays. */
  reached(mark: string): void {
    if (mark === '' || !this.#isCompared) return;
    void this.#told.then((isInForce) => {
      if (isInForce) this.#set(mark);
    });
  }

  /** Nobody says what will have been told. */
  lose(): void {
    this.#set('');
  }

  #set(mark: string): void {
    if (mark === this.#value) return;
    this.#value = mark;
    this.#onChange(mark);
  }
}
