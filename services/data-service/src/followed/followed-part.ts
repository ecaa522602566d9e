import type { TlsFiles } from '@sluice/rpc';
import type { Part } from '@sluice/service';
import { addCounter, type Logger, type Metrics } from '@sluice/telemetry';
import type { Register } from '../control-plane/register.ts';
import type { Env } from '../settings.ts';
import { gatewayPool } from '../through-gateway/gateway-pool.ts';
import { FollowWork, type LookOutcome } from './follow-work.ts';

const leaseMs = 60_000;
const timeoutMs = 30_000;
const answerBytesMax = 32 * 1024 * 1024;
const outcomes: readonly LookOutcome[] = ['open', 'ended', 'gone', 'missing', 'failed', 'lost'];

/** Work that goes on at providers, followed until it has ended, so that what nobody polls is billed too. */
export function followedPart(
  env: Env,
  parts: { register: Register; certificates: TlsFiles; logger: Logger; metrics: Metrics },
): Part {
  const { register, certificates, logger, metrics } = parts;
  const pool = gatewayPool(env.GATEWAY_URL, certificates.client, env.FOLLOWED_AT_ONCE || 1);
  const looks = addCounter(
    metrics.registry,
    'sluice_followed_looks_total',
    'Looks at work that goes on at providers, by what they came to.',
    { labels: { outcome: new Set(outcomes) }, seriesMax: outcomes.length },
  );
  for (const outcome of outcomes) looks.child({ outcome }).add(0);
  const following = new FollowWork(
    {
      register,
      looker: { pool, timeoutMs, answerBytesMax },
      logger,
      onLook: (outcome) => looks.child({ outcome }).add(1),
    },
    {
      atOnce: env.FOLLOWED_AT_ONCE,
      intervalMs: env.FOLLOW_LOOK_INTERVAL,
      leaseMs,
      paces: {
        RESPONSE_STATUS_CHECK_INTERVAL: {
          intervalMs: env.RESPONSE_STATUS_CHECK_INTERVAL,
          longestMs: env.FOLLOW_TIME_MAX,
        },
        BATCH_STATUS_CHECK_INTERVAL: {
          intervalMs: env.BATCH_STATUS_CHECK_INTERVAL,
          longestMs: env.BATCH_TIME_MAX,
        },
        FINETUNE_STATUS_CHECK_INTERVAL: {
          intervalMs: env.FINETUNE_STATUS_CHECK_INTERVAL,
          longestMs: env.FINETUNE_TIME_MAX,
        },
      },
    },
  );
  return {
    name: 'followed',
    start() {
      if (env.FOLLOWED_AT_ONCE > 0) following.start();
    },
    drain: () => following.drain(),
    stop: () => pool.destroy(),
    gauges: () => [
      {
        name: 'sluice_followed_works',
        help: 'Works that go on at providers and are followed, of all replicas',
        read: () => following.followed.count,
      },
      {
        name: 'sluice_followed_oldest_seconds',
        help: 'Age of the oldest of them; 0 = there is none',
        read: () => {
          const { oldestAtMs } = following.followed;
          return oldestAtMs === 0 ? 0 : Math.max(0, (Date.now() - oldestAtMs) / 1000);
        },
      },
    ],
  };
}
