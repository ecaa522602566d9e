import { Worker } from 'node:worker_threads';
import type { ExporterData } from './export-spans.ts';
import type { BatchSender, Exported } from './span-queue.ts';

/** The thread that makes spans and sends them, started with the first batch, and again should it die. */
export class ExportThread implements BatchSender {
  readonly #data: ExporterData;
  readonly #waiting: ((exported: Exported) => void)[] = [];
  #worker: Worker | undefined;

  constructor(data: ExporterData) {
    this.#data = data;
  }

  send(batch: Uint8Array<ArrayBuffer>, onExported: (exported: Exported) => void): void {
    this.#worker ??= this.#start();
    this.#waiting.push(onExported);
    this.#worker.postMessage(batch, [batch.buffer]);
  }

  async stop(): Promise<void> {
    this.#waiting.length = 0;
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL('./export-spans.ts', import.meta.url), {
      workerData: this.#data,
      // A batch, its spans, and no more.
      resourceLimits: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 },
    });
    worker.unref();
    worker.on('message', (exported: Exported) => this.#waiting.shift()?.(exported));
    worker.on('exit', () => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      for (const onExported of this.#waiting.splice(0)) onExported(died);
    });
    // Told by its end; without a listener it would end us.
    worker.on('error', () => {});
    return worker;
  }
}

const died: Exported = {
  taken: 0,
  isAway: true,
  reason: 'the thread that sends them ended',
};
