import { SignInFault } from '../registry/sign-in-fault.ts';

interface Waiting {
  readonly group: string;
  readonly go: () => void;
}

/** Lets a few run at once, of one group fewer, and the rest wait for their turn: one slow group does not hold up all others. */
export class Turns {
  readonly #atOnce: number;
  readonly #ofGroup: number;
  readonly #waitMs: number;
  readonly #running = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #count = 0;

  constructor(options: { atOnce: number; ofGroup: number; waitMs: number }) {
    this.#atOnce = options.atOnce;
    this.#ofGroup = options.ofGroup;
    this.#waitMs = options.waitMs;
  }

  /** @throws SignInFault `busy` after the time to wait */
  async take<T>(group: string, run: () => Promise<T>): Promise<T> {
    if (!this.#mayRun(group)) await this.#wait(group);
    else this.#enter(group);
    try {
      return await run();
    } finally {
      this.#leave(group);
    }
  }

  #mayRun(group: string): boolean {
    return this.#count < this.#atOnce && (this.#running.get(group) ?? 0) < this.#ofGroup;
  }

  #enter(group: string): void {
    this.#count += 1;
    this.#running.set(group, (this.#running.get(group) ?? 0) + 1);
  }

  #leave(group: string): void {
    this.#count -= 1;
    const left = (this.#running.get(group) ?? 1) - 1;
    if (left === 0) this.#running.delete(group);
    else this.#running.set(group, left);
    for (;;) {
      const at = this.#waiting.findIndex((each) => this.#mayRun(each.group));
      if (at < 0) return;
      const [next] = this.#waiting.splice(at, 1);
      if (next === undefined) return;
      this.#enter(next.group);
      next.go();
    }
  }

  #wait(group: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        group,
        go() {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        const at = this.#waiting.indexOf(waiting);
        if (at >= 0) this.#waiting.splice(at, 1);
        reject(new SignInFault('busy', 'Too many tokens are renewed at once: try again.'));
      }, this.#waitMs);
      if (this.#waiting.length >= waitingMax) {
        clearTimeout(timer);
        reject(new SignInFault('busy', 'Too many tokens are renewed at once: try again.'));
        return;
      }
      this.#waiting.push(waiting);
    });
  }
}

const waitingMax = 10_000;
