import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorCode, fromUnknown, GatewayError } from '@sluice/errors';
import { type LogStoreEnv, openLogStore } from '@sluice/object-store';
import { readPriceFiles } from '@sluice/price-files';
import { PriceBook } from '@sluice/pricing';
import { analytics } from '@sluice/proto-stubs';
import { createRpcClient, type RpcClientOptions } from '@sluice/rpc';
import { loadPublicKeys } from '@sluice/signed-files';
import { readContent } from '../ledger/logs/read-content.ts';
import { pastRequests } from './past-requests.ts';
import { simulate } from './simulate.ts';
import type { ConfigDocument, FindVersions, Report, SimulationTask } from './task.ts';

/**
 * A thread of its own for each simulation: reads the ledger, replays, and keeps all of
 * that off the loop that answers. It ends with its answer, and when it is told to.
 */
export interface ThreadData {
  readonly task: SimulationTask;
  readonly ledger: RpcClientOptions;
  readonly storeEnv: LogStoreEnv;
  readonly priceFilesDir: string | undefined;
  readonly factsKeyFile: string | undefined;
}

export type ThreadSays =
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string }
  /** Answered with the documents. */
  | { readonly kind: 'versions'; readonly ids: readonly string[] };

async function run({
  task,
  ledger,
  storeEnv,
  priceFilesDir,
  factsKeyFile,
}: ThreadData): Promise<Report> {
  const { ca, cert, key } = ledger.tls ?? {};
  const client = createRpcClient(analytics.LogService, {
    ...ledger,
    // Bytes come here as no Buffers.
    tls: ledger.tls && { ca: bufferOf(ca), cert: bufferOf(cert), key: bufferOf(key) },
  });
  const store = openLogStore(storeEnv);
  try {
    const files =
      priceFilesDir === undefined
        ? undefined
        : (
            await readPriceFiles(priceFilesDir, {
              keys: loadPublicKeys('FACTS_PUBLIC_KEY_FILE', factsKeyFile),
            })
          ).prices;
    const contentParts = { store, now: new Date(task.nowMs), keptDays: task.keptDays };
    return await simulate(task, pastRequests(client, task), {
      book: new PriceBook(files),
      findVersions,
      readContent:
        store === undefined
          ? undefined
          : (record) => readContent(record, task.reader, contentParts),
      clock: () => performance.now(),
    });
  } finally {
    client.close();
    await store?.close();
  }
}

function bufferOf(bytes: Uint8Array | undefined): Buffer | undefined {
  return bytes && Buffer.from(bytes);
}

const findVersions: FindVersions = async (ids) => {
  const port = parentPort!;
  port.postMessage({ kind: 'versions', ids } satisfies ThreadSays);
  const [documents] = (await once(port, 'message')) as [ReadonlyMap<string, ConfigDocument>];
  return documents;
};

function failure(error: unknown): ThreadSays {
  // Groups of limits are bounded, as is what the thread may remember.
  const fault =
    error instanceof RangeError
      ? new GatewayError('admin.analytics_too_large', { cause: error })
      : fromUnknown(error);
  return { kind: 'failed', code: fault.code, message: fault.message };
}

if (parentPort !== null) {
  const port = parentPort;
  run(workerData as ThreadData)
    .then((report): ThreadSays => ({ kind: 'report', report }), failure)
    .then((said) => {
      port.postMessage(said);
      port.close();
    });
}
