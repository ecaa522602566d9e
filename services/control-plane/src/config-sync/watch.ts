import { once } from 'node:events';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { config } from '@sluice/proto-stubs';
import type { ChangeFeed, FeedEvent } from './change-feed.ts';

type WatchResponse = MessageInitShape<typeof config.WatchResponseSchema>;

/** A reader so slow that this much waits for it is told to fetch everything again instead. */
const waitingMax = 10_000;

export interface WatchOptions {
  heartbeatMs: number;
  signal: AbortSignal;
}

/** One gateway's stream: `ready` when the feed is live, then changes as they are committed, and a heartbeat. */
export async function* watchChanges(
  feed: ChangeFeed,
  options: WatchOptions,
): AsyncGenerator<WatchResponse> {
  const { signal } = options;
  let waiting: WatchResponse[] = [];
  const wake = new EventTarget();
  const push = (message: WatchResponse) => {
    if (waiting.length >= waitingMax) waiting = [ready];
    else waiting.push(message);
    wake.dispatchEvent(new Event('message'));
  };
  const heartbeat = setInterval(
    () => push({ event: { case: 'heartbeat', value: {} } }),
    options.heartbeatMs,
  );
  const unsubscribe = feed.subscribe((event) => push(asResponse(event)));
  try {
    while (!signal.aborted) {
      if (waiting.length === 0) await once(wake, 'message', { signal }).catch(ignoreAbort);
      const batch = waiting;
      waiting = [];
      for (const message of batch) {
        if (signal.aborted) return;
        yield message;
      }
    }
  } finally {
    clearInterval(heartbeat);
    unsubscribe();
  }
}

const ready: WatchResponse = { event: { case: 'ready', value: {} } };

function asResponse(event: FeedEvent): WatchResponse {
  if (event.type === 'live') return ready;
  const { notice } = event;
  if ('key' in notice) return { event: { case: 'keyChanged', value: { keyId: notice.key } } };
  if ('organisation' in notice)
    return {
      event: { case: 'organisationChanged', value: { organisationId: notice.organisation } },
    };
  return {
    event: {
      case: 'workspaceChanged',
      value: { workspaceId: notice.workspace, revision: BigInt(notice.revision) },
    },
  };
}

function ignoreAbort(error: unknown): void {
  if ((error as { name?: string }).name !== 'AbortError') throw error;
}
