import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type LogStoreEnv, logStoreEnvOf } from '@sluice/object-store';
import type { SegmentSender, Sent } from './content-spool.ts';
import type { SenderData } from './send-segments.ts';

/** The thread that writes to the log store, started with the first segment, and again should it die. */
export class SegmentThread implements SegmentSender {
  readonly #env: LogStoreEnv;
  #worker: Worker | undefined;

  constructor(env: LogStoreEnv) {
    this.#env = env;
  }

  async send(path: string): Promise<Sent> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    worker.postMessage(path);
    const ended = new AbortController();
    try {
      return await Promise.race([
        once(worker, 'message', { signal: ended.signal }).then(([sent]) => sent as Sent),
        once(worker, 'exit', { signal: ended.signal }).then(() => {
          throw new Error('the thread that writes logs has ended');
        }),
      ]);
    } finally {
      ended.abort();
    }
  }

  async stop(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const env = logStoreEnvOf(this.#env);
    const worker = new Worker(new URL('./send-segments.ts', import.meta.url), {
      workerData: { env } satisfies SenderData,
      // A segment, its objects, and no more.
      resourceLimits: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 },
    });
    worker.unref();
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    // Told by its end; without a listener it would end us.
    worker.on('error', () => {});
    return worker;
  }
}
