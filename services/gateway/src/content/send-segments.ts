import { readFileSync, rmSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { LogStoreEnv } from '@sluice/object-store';
import { type BreakingStore, logPath, openLogStore, StoreError } from '@sluice/object-store';
import type { Sent } from './content-spool.ts';
import { entriesOf, type SegmentEntry } from './segment.ts';
import { storedLogOf } from './stored-log-of.ts';

/**
 * A thread of its own: puts streams together, writes objects, and keeps all of
 * that off the loop that serves requests. It is told paths of segments, one
 * after the other, and says what became of each.
 */
export interface SenderData {
  readonly env: LogStoreEnv;
}

async function sendSegment(store: BreakingStore, path: string): Promise<Omit<Sent, 'awayBecause'>> {
  const entries = entriesOf(readSegment(path));
  let stored = 0;
  let refused = 0;
  let refusedBecause: string | undefined;
  let isAway = false;
  const send = async (): Promise<void> => {
    for (const entry of entries) {
      if (isAway) return;
      try {
        await put(store, entry);
        stored++;
      } catch (error) {
        // What cannot be put together today cannot be tomorrow.
        if (error instanceof StoreError && error.isAway) isAway = true;
        else {
          refused++;
          if (error instanceof StoreError) refusedBecause = error.message;
        }
      }
    }
  };
  // They share the one generator: each takes what is next.
  await Promise.all(Array.from({ length: atOnce }, send));
  if (!isAway) rmSync(path, { force: true });
  return { isAway, stored, refused, refusedBecause };
}

/** Nothing where somebody has taken the file away. Blocks: this thread waits for nothing else meanwhile. */
function readSegment(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

function put(store: BreakingStore, entry: SegmentEntry): Promise<void> {
  const { head } = entry;
  const content = Buffer.from(JSON.stringify(storedLogOf(entry)));
  return store.put(logPath(head.format, head), content, 'application/json');
}

const atOnce = 16;

if (parentPort !== null) {
  const port = parentPort;
  let awayBecause: string | undefined;
  const store = openLogStore((workerData as SenderData).env, {
    blocks: true,
    listener: {
      onAway: (reason) => (awayBecause = reason),
      onBack: () => (awayBecause = undefined),
    },
  });
  if (store === undefined) throw new Error('no log store is set');
  port.on('message', (path: string) => {
    sendSegment(store, path).then(
      (sent) => port.postMessage({ ...sent, awayBecause } satisfies Sent),
      () => port.postMessage({ isAway: true, stored: 0, refused: 0, awayBecause } satisfies Sent),
    );
  });
}
