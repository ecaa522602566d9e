import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { GatewayError } from '@sluice/errors';
import type { ThreadData, ThreadSays } from './simulate-thread.ts';
import type { FindVersions, Report, SimulationTask } from './task.ts';

export interface SimulatorParts {
  /** As it is reached now. */
  readonly ledger: () => ThreadData['ledger'];
  readonly storeEnv: ThreadData['storeEnv'];
  readonly priceFilesDir: string | undefined;
  readonly factsKeyFile: string | undefined;
}

/** Runs simulations, each in a thread, so many at once. */
export class Simulator {
  readonly #parts: SimulatorParts;
  readonly #atOnce: number;
  readonly #threads = new Set<Worker>();

  constructor(parts: SimulatorParts, atOnce: number) {
    this.#parts = parts;
    this.#atOnce = atOnce;
  }

  get running(): number {
    return this.#threads.size;
  }

  /**
   * @param signal ends it: nobody waits for its answer
   * @throws GatewayError `admin.simulations_busy`, `admin.analytics_unavailable`, `admin.analytics_too_large`
   */
  async run(
    task: SimulationTask,
    findVersions: FindVersions,
    signal: AbortSignal,
  ): Promise<Report> {
    if (this.#threads.size >= this.#atOnce)
      throw new GatewayError('admin.simulations_busy', { headers: { 'retry-after': '10' } });
    signal.throwIfAborted();
    const worker = new Worker(new URL('./simulate-thread.ts', import.meta.url), {
      workerData: { ...this.#parts, ledger: this.#parts.ledger(), task } satisfies ThreadData,
      resourceLimits: { maxYoungGenerationSizeMb: 32, maxOldGenerationSizeMb: 384 },
    });
    this.#threads.add(worker);
    const end = () => void worker.terminate();
    signal.addEventListener('abort', end, { once: true });
    try {
      return await this.#answerOf(worker, findVersions);
    } finally {
      signal.removeEventListener('abort', end);
      await worker.terminate();
      this.#threads.delete(worker);
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#threads].map((worker) => worker.terminate()));
  }

  #answerOf(worker: Worker, findVersions: FindVersions): Promise<Report> {
    const { promise, resolve, reject } = Promise.withResolvers<Report>();
    worker.on('message', (said: ThreadSays) => {
      if (said.kind === 'report') resolve(said.report);
      else if (said.kind === 'failed')
        reject(new GatewayError(said.code, { message: said.message }));
      else findVersions(said.ids).then((documents) => worker.postMessage(documents), reject);
    });
    worker.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? new GatewayError('admin.analytics_too_large', { cause: error })
          : error,
      ),
    );
    once(worker, 'exit').then(() => reject(new GatewayError('request.aborted')), reject);
    return promise;
  }
}
