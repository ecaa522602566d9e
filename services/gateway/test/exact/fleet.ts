import { analytics } from '@sluice/proto-stubs';
import { createRpcClient } from '@sluice/rpc';
import { isLongForm, waitMs } from '@sluice/testkit';
import { Redis } from 'ioredis';
import { sharedKeys } from '../../src/redis/shared-keys.ts';
import { type Lab, startLab } from '../lab.ts';

/** `npm run limits` is the long way; the suite goes a short one. */
export const isFull = isLongForm;

/** For whoever goes the long way. */
export function tell(...lines: readonly string[]): void {
  if (isFull) process.stdout.write(`${lines.join('\n')}\n`);
}

/** Also the pace at which those who died are given up. */
const holdExpiryMs = isFull ? 30_000 : 10_000;

/** A counter as Redis has it. */
export interface SharedCounter {
  readonly name: string;
  readonly posted: number;
  readonly reserved: number;
  readonly overshoot: number;
  /** Reservations that nobody has ended. */
  readonly held: readonly string[];
}

/** Gateways, each a process, with one real Redis, the control plane and the ledger. */
export interface Fleet {
  readonly lab: Lab;
  readonly organisation: string;
  /** Counters of a limit that has no groups, by the names of their epochs. */
  countersOf(limitId: string): Promise<Map<string, SharedCounter>>;
  /** Those of all groups. */
  groupsOf(limitId: string): Promise<SharedCounter[]>;
  /** What the ledger says that they came to. */
  ledgerSums(names: readonly string[]): Promise<Record<string, bigint>>;
  /** Ends a gateway as the kernel does, and starts it again. */
  killGateway(index: number): Promise<void>;
  stop(): Promise<void>;
}

export const gatewayCount = 4;

/** @param count how many gateways, four unless given; `more` is set for each of them */
export async function startFleet(
  count = gatewayCount,
  more: Readonly<Record<string, string>> = {},
): Promise<Fleet> {
  const settings = {
    LIMIT_STORE_TIMEOUT: '5000',
    LIMIT_HOLD_EXPIRY: String(holdExpiryMs),
    ...more,
  };
  const gateways = Array.from({ length: count }, (_, index) => nameOf(index));
  const lab = await startLab({
    processes: ['gateway'],
    promptLedger: true,
    gateways: count,
    redis: true,
    environment: Object.fromEntries(gateways.map((name) => [name, settings])),
  });
  const { stack } = lab.scenario;
  const redis = new Redis(stack.redis?.url ?? '');
  const organisation = stack.credentials.organisation_id;
  const ledger = createRpcClient(analytics.AnalyticsService, {
    address: `127.0.0.1:${stack.ports.dataServiceGrpc}`,
    token: stack.serviceToken,
  });
  const groupsOf: Fleet['groupsOf'] = async (limitId) => {
    const first = sharedKeys.limit(organisation, limitId);
    const prefix = first.slice(0, -limitId.length);
    const keys = await redis.keys(`${first}*`);
    const counters = keys.map(async (key): Promise<SharedCounter> => {
      const name = key.slice(prefix.length);
      const [p, r, o] = await redis.hmget(key, 'p', 'r', 'o');
      const members = await redis.zrange(sharedKeys.limitHeld(organisation, name), '0', '-1');
      return {
        name,
        posted: Number(p ?? 0),
        reserved: Number(r ?? 0),
        overshoot: Number(o ?? 0),
        // What begins with a dash is a mark of what was ended.
        held: members.filter((member) => !member.startsWith('-')),
      };
    });
    return Promise.all(counters);
  };
  return {
    lab,
    organisation,
    groupsOf,
    async countersOf(limitId) {
      const counters = await groupsOf(limitId);
      return new Map(
        counters.map((counter) => [counter.name.slice(counter.name.lastIndexOf('@') + 1), counter]),
      );
    },
    async ledgerSums(names) {
      const request = { organisationId: organisation, counters: [...names], fromMs: 0n };
      const { sumCounters } = analytics.AnalyticsService.method;
      return (await ledger.unary(sumCounters, request, { timeoutMs: waitMs })).sums;
    },
    async killGateway(index) {
      const part = stack.part(nameOf(index));
      await part.kill();
      await part.start();
    },
    async stop() {
      ledger.close();
      redis.disconnect();
      await lab.stop();
    },
  };
}

function nameOf(index: number): 'gateway' | `gateway-${number}` {
  return index === 0 ? 'gateway' : `gateway-${index + 1}`;
}
