import { Worker } from 'node:worker_threads';
import { CheckError } from '../check.ts';
import type { Told } from './tell-languages.ts';

interface Waiting {
  readonly resolve: (told: readonly Told[]) => void;
  readonly reject: (error: CheckError) => void;
}

/** Asks the thread that knows languages; it starts with the first question, and again should it end. */
class LanguageThread {
  #worker: Worker | undefined;
  /** In the order in which they were asked, which is that of the answers. */
  #waiting: Waiting[] = [];

  /** What language each text is in. @throws CheckError `TimeSpent` when too many ask at once */
  ask(texts: readonly string[]): Promise<readonly Told[]> {
    if (this.#waiting.length >= waitingMax)
      return Promise.reject(new CheckError('TimeSpent', 'Too many texts wait for their language.'));
    this.#worker ??= this.#start();
    const { promise, resolve, reject } = Promise.withResolvers<readonly Told[]>();
    this.#waiting.push({ resolve, reject });
    this.#worker.ref();
    this.#worker.postMessage(texts);
    return promise;
  }

  #start(): Worker {
    const worker = new Worker(new URL('./tell-languages.ts', import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 128 },
    });
    worker.on('message', (told: readonly Told[]) => {
      this.#waiting.shift()?.resolve(told);
      // Nobody has to stay for a thread that has nothing to do.
      if (this.#waiting.length === 0) worker.unref();
    });
    worker.on('exit', () => {
      this.#worker = undefined;
      const lost = this.#waiting;
      this.#waiting = [];
      for (const { reject } of lost)
        reject(new CheckError('HostFailed', 'What tells languages has ended.'));
    });
    // Told by its end; without a listener it would end us.
    worker.on('error', () => {});
    return worker;
  }
}

/** Each takes half a millisecond at most. */
const waitingMax = 500;

/** One for the process. */
export const languageThread = new LanguageThread();
