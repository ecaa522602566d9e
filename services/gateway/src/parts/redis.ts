import type { Part } from '@sluice/service';
import type { Logger } from '@sluice/telemetry';
import { connectRedis } from '../redis/connect-redis.ts';
import type { RedisPlace } from '../redis/redis-settings.ts';
import { SharedStore } from '../redis/shared-store.ts';
import { SharingChanges } from '../redis/sharing-changes.ts';

/** What each user of Redis goes on with alone while it does not answer. */
const aloneHelp = {
  circuits: '1 while circuits are counted by each gateway alone',
  sticky: '1 while sticky assignments are remembered by each gateway alone',
  cache: '1 while the shared cache is empty',
  vectors: '1 while the shared semantic cache is empty',
  mcp_letters: '1 while answers to MCP servers reach them at the gateway that was asked alone',
  mcp_sessions:
    '1 while ends of MCP sessions, and what tools said last, are known to each gateway alone',
  owners: '1 while owners of stored objects are known to the gateway that saw them made alone',
  bills: '1 while what ended in the background may count for limits at each gateway that sees it',
  calls: '1 while calls of a gateway that is killed are not taken over by another',
  agents: '1 while each gateway knows the agent tasks, and the calls of agents, that it saw itself',
};

/** So long a start waits for a Redis that says nothing. */
const firstTryMs = 2000;

/** What several gateways share; nothing, where there is no Redis. */
export function redisPart(place: RedisPlace | undefined, logger: Logger) {
  const changes = new SharingChanges(logger);
  const connect = (kind: string) =>
    place && new SharedStore({ client: connectRedis(place, logger, { kind }), logger, changes });
  const shared = connect('state');
  // Large answers must not stand in line before counters.
  const sharedCache = connect('cache');
  const part: Part = {
    name: 'redis',
    // The first request is counted with those of others, too.
    start: async () => {
      await Promise.all([shared?.firstTry(firstTryMs), sharedCache?.firstTry(firstTryMs)]);
    },
    stop: () => Promise.all([shared?.close(), sharedCache?.close()]),
    gauges: () =>
      Object.entries(aloneHelp).map(([user, help]) => ({
        name: `sluice_${user}_degraded`,
        help,
        read: () => Number([shared, sharedCache].some((store) => store?.isDegraded(user))),
      })),
  };
  return { shared, sharedCache, part };
}
