import type { MessageInitShape } from '@bufbuild/protobuf';
import type { config } from '@sluice/proto-stubs';
import { asResponse, type FollowResponse } from './as-response.ts';
import type { Barriers } from './barriers.ts';
import type { ChangeFeed } from './change-feed.ts';
import { Follower, type FollowerParts } from './follower.ts';
import type { LiveGateways } from './live-gateways.ts';
import type { Pace } from './pace.ts';
import { formats } from './sections/index.ts';
import { tell } from './tell.ts';

type WatchResponse = MessageInitShape<typeof config.WatchResponseSchema>;

export interface WatchOptions {
  heartbeatMs: number;
  signal: AbortSignal;
}

/** The stream of a gateway of the release before: `ready` when the feed is live, then changes as they are committed. */
export function watchChanges(
  feed: ChangeFeed,
  options: WatchOptions,
): AsyncGenerator<WatchResponse> {
  const ready: WatchResponse = { event: { case: 'ready', value: {} } };
  return tell<WatchResponse>({
    ...options,
    ready,
    subscribe: (push) => ({
      heartbeat: () => ({ event: { case: 'heartbeat', value: {} } }),
      end: feed.subscribe((event) => {
        if (event.type === 'live') push(ready);
        else if (event.type === 'change') push(asResponse(event.notice));
      }),
    }),
  });
}

export interface FollowParts extends FollowerParts {
  feed: ChangeFeed;
  /** At which gateways are told that they may begin to ask. */
  pace: Pace;
  barriers: Barriers;
  liveGateways: LiveGateways;
  /** Of all peppers that keys are found by here: a gateway with none of them knows no key. */
  pepperNames: readonly string[];
}

/** The same of what the gateway says that it holds, and with barriers, of which it says when it has passed them. */
export function followChanges(
  parts: FollowParts,
  requests: AsyncIterable<config.FollowRequest>,
  options: WatchOptions,
): AsyncGenerator<FollowResponse> {
  const ready: FollowResponse = {
    event: {
      case: 'ready',
      value: { compares: true, formats, pepperNames: [...parts.pepperNames] },
    },
  };
  const broken = new AbortController();
  return tell<FollowResponse>({
    signal: AbortSignal.any([options.signal, broken.signal]),
    heartbeatMs: options.heartbeatMs,
    ready,
    subscribe(push) {
      const follower = new Follower(parts, push);
      const passing = parts.barriers.follow((number) =>
        push({ event: { case: 'barrier', value: { number } } }),
      );
      let stopWaiting = () => {};
      const unsubscribe = parts.feed.subscribe((event) => {
        if (event.type === 'live') {
          if (follower.isHolding) passing.comparing();
          stopWaiting();
          stopWaiting = parts.pace.begin(() => push(ready));
        } else if (event.type === 'change' && follower.hears(event.notice)) {
          passing.told();
          follower.tell(event.notice);
        }
      });
      let leave = () => {};
      const beat = () => follower.heartbeat(parts.liveGateways);
      void hear(requests, {
        onHello({ saysHolding, replicaId }) {
          follower.isCalled(replicaId);
          passing.isCalled(replicaId);
          leave();
          leave = parts.liveGateways.join(replicaId, () => push(beat()));
          push(beat());
          if (!saysHolding) return;
          follower.saysHolding();
          passing.comparing();
        },
        onPassed: (number) => passing.passed(number),
        // What could not be read is compared on its next stream.
        onHolding: (holding) =>
          follower.holds(holding).then(
            // The last of the messages that say all of it.
            () => holding.keysMark !== undefined && passing.compared(),
            () => broken.abort(),
          ),
      });
      return {
        heartbeat: beat,
        end() {
          leave();
          unsubscribe();
          stopWaiting();
          passing.leave();
        },
      };
    },
  });
}

async function hear(
  requests: AsyncIterable<config.FollowRequest>,
  heard: {
    onHello: (hello: config.Hello) => void;
    onPassed: (number: bigint) => void;
    onHolding: (holding: config.Holding) => void;
  },
): Promise<void> {
  try {
    for await (const { say } of requests) {
      if (say.case === 'hello') heard.onHello(say.value);
      else if (say.case === 'passed') heard.onPassed(say.value);
      else if (say.case === 'holding') heard.onHolding(say.value);
    }
  } catch {
    // The stream broke, which its other side notices as well.
  }
}
