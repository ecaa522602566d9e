import type { Counter, LimitRules, LimitType, Period, RateUnit } from '@sluice/engine';
import { createLogger } from '@sluice/telemetry';
import { Redis } from 'ioredis';
import type { CounterState, Estimate } from '../src/exchange/reservation.ts';
import { newReservationId, wantsOf } from '../src/limits/held-reservation.ts';
import type { LimitStore, Taken } from '../src/limits/limit-store.ts';
import { RedisLimits, type RedisLimitsOptions } from '../src/limits/redis-limits.ts';
import { SharedStore } from '../src/redis/shared-store.ts';

export interface ExampleLimit {
  id?: string;
  type?: LimitType;
  value?: number;
  unit?: RateUnit;
  /** A budget, where it is given. */
  period?: Partial<Period>;
  group?: string;
  rules?: Partial<LimitRules>;
  name?: string;
  kind?: Counter['limit']['holder']['kind'];
}

let made = 0;

/** A counter of its own; a day long, so that no window ends within a test. */
export function exampleCounter(over: ExampleLimit = {}): Counter {
  const { id = `limit-${made++}`, type = 'requests', value = 3, unit = 'rpd', group = '' } = over;
  return {
    limit: {
      id,
      holder: { kind: over.kind ?? 'api_key', name: over.name ?? 'ci', workspaceId: 'ws-1' },
      type,
      value,
      span:
        over.period === undefined
          ? { kind: 'rate', unit }
          : { kind: 'budget', period: { ...forEver, ...over.period } },
      rules: {
        isShadow: false,
        isStrict: false,
        estimatesByObserved: false,
        withoutShared: over.period === undefined ? 'share' : 'lease',
        refusesUnpriced: false,
        ...over.rules,
      },
    },
    group,
    reset: undefined,
    entity: 'API key "ci"',
  };
}

const forEver: Period = {
  generation: 0,
  startedAtMs: 0,
  nextResetAtMs: 0,
  cadence: '',
  days: 0,
  weeksBeginOnSunday: false,
};

/** Spent, until 10.5 seconds after 1970 began. */
export function exampleState(
  limit: ExampleLimit = {},
  over: Partial<CounterState> = {},
): CounterState {
  const counter = exampleCounter(limit);
  return {
    counter,
    epoch: { name: '1', startMs: 0, endMs: 10_500 },
    name: 'n@1',
    posted: counter.limit.value,
    pending: 0,
    overshoot: 0,
    countedAtUs: 0,
    remaining: 0,
    resetAtMs: 10_500,
    held: 0,
    wouldRefuse: false,
    isOverflow: false,
    alone: undefined,
    ...over,
  };
}

export const estimate = (over: Partial<Estimate> = {}): Estimate => ({
  requests: 1,
  tokens: 1,
  costNanoUsd: 1,
  ...over,
});

/** Takes of counters that are all the request's own. */
export function take(
  store: LimitStore,
  counters: readonly Counter[],
  amounts: Partial<Estimate> = {},
  scope = 'org',
): Taken | Promise<Taken> {
  return store.take(scope, wantsOf(newReservationId(), counters, [], estimate(amounts)));
}

const logger = createLogger({ service: 'test', level: 'silent' });

export interface RedisGateway {
  readonly limits: RedisLimits;
  /** Its connection breaks, and nothing that it sends arrives. */
  leave(): void;
  comeBack(): void;
  close(): Promise<void>;
}

/** A gateway's connection to a Redis, and the limits on it. */
export function redisLimits(url: string, options: Partial<RedisLimitsOptions> = {}): RedisGateway {
  const client = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => 100,
  });
  client.on('error', () => {});
  let isAway = false;
  const unlessAway = (name: 'evalsha' | 'eval' | 'set' | 'sendCommand') => {
    const send = client[name] as (...args: unknown[]) => Promise<unknown>;
    return (...args: unknown[]) =>
      isAway ? Promise.reject(new Error('away')) : send.apply(client, args);
  };
  Object.assign(client, {
    evalsha: unlessAway('evalsha'),
    eval: unlessAway('eval'),
    set: unlessAway('set'),
    sendCommand: unlessAway('sendCommand'),
  });
  const limits = new RedisLimits({
    store: new SharedStore({ client, logger }),
    timeoutMs: 2000,
    ...options,
  });
  return {
    limits,
    leave() {
      isAway = true;
      client.emit('close');
    },
    comeBack() {
      isAway = false;
      client.emit('ready');
    },
    async close() {
      await limits.close();
      client.disconnect();
    },
  };
}
