import type { MessageInitShape } from '@bufbuild/protobuf';
import type { config } from '@sluice/proto-stubs';
import type { ChangeNotice } from '../kernel/database/change.ts';
import type { Barriers } from './barriers.ts';
import type { ChangeFeed } from './change-feed.ts';
import { tell } from './tell.ts';

type WatchResponse = MessageInitShape<typeof config.WatchResponseSchema>;
type FollowResponse = MessageInitShape<typeof config.FollowResponseSchema>;

export interface WatchOptions {
  heartbeatMs: number;
  signal: AbortSignal;
}

const ready = { event: { case: 'ready', value: {} } } as const satisfies WatchResponse;
const heartbeat = { event: { case: 'heartbeat', value: {} } } as const satisfies WatchResponse;

/** The stream of a gateway of the release before: `ready` when the feed is live, then changes as they are committed. */
export function watchChanges(
  feed: ChangeFeed,
  options: WatchOptions,
): AsyncGenerator<WatchResponse> {
  return tell<WatchResponse>({
    ...options,
    ready,
    heartbeat,
    subscribe: (push) =>
      feed.subscribe((event) => {
        if (event.type === 'live') push(ready);
        else if (event.type === 'change') push(asResponse(event.notice));
      }),
  });
}

/** The same with barriers, of which the gateway says when it has passed them. */
export function followChanges(
  parts: { feed: ChangeFeed; barriers: Barriers },
  requests: AsyncIterable<config.FollowRequest>,
  options: WatchOptions,
): AsyncGenerator<FollowResponse> {
  const { feed, barriers } = parts;
  return tell<FollowResponse>({
    ...options,
    ready,
    heartbeat,
    subscribe(push) {
      const follower = barriers.follow((number) =>
        push({ event: { case: 'barrier', value: { number } } }),
      );
      const unsubscribe = feed.subscribe((event) => {
        if (event.type === 'live') push(ready);
        else if (event.type === 'change') push(asResponse(event.notice));
      });
      void hear(requests, (number) => follower.passed(number));
      return () => {
        unsubscribe();
        follower.leave();
      };
    },
  });
}

async function hear(
  requests: AsyncIterable<config.FollowRequest>,
  onPassed: (number: bigint) => void,
): Promise<void> {
  try {
    for await (const { say } of requests) if (say.case === 'passed') onPassed(say.value);
  } catch {
    // The stream broke, which its other side notices as well.
  }
}

function asResponse(notice: ChangeNotice) {
  if ('key' in notice)
    return { event: { case: 'keyChanged', value: { keyId: notice.key } } } as const;
  if ('organisation' in notice)
    return {
      event: { case: 'organisationChanged', value: { organisationId: notice.organisation } },
    } as const;
  return {
    event: {
      case: 'workspaceChanged',
      value: { workspaceId: notice.workspace, revision: BigInt(notice.revision) },
    },
  } as const;
}
