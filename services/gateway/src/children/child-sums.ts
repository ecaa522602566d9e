import { RecentMap } from '../chain/recent-map.ts';
import { sharedKeys } from '../redis/shared-keys.ts';
import { sharedScript } from '../redis/shared-script.ts';
import type { SharedPart } from '../redis/shared-store.ts';

/** What calls used. Costs are whole nano-dollars. */
export interface ChildUse {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costNanoUsd: number;
}

export interface TakenUse extends ChildUse {
  /** What is summed at other gateways could not be asked for. */
  readonly isPartial: boolean;
}

/** As long as the task of an agent is known. */
const ttlMs = 7 * 24 * 60 * 60_000;
/** Of about 200 bytes each. */
const sumsMax = 100_000;

const addUse = sharedScript<number>(`
for _, key in ipairs(KEYS) do
  redis.call('HINCRBY', key, 'input', ARGV[2])
  redis.call('HINCRBY', key, 'output', ARGV[3])
  redis.call('HINCRBY', key, 'cost', ARGV[4])
  redis.call('PEXPIRE', key, ARGV[1])
end
return 1
`);

/** Takes of each count as much as there is, and no more than is given. */
const takeUse = sharedScript<number[]>(`
local taken = {}
for at, name in ipairs({'input', 'output', 'cost'}) do
  local left = tonumber(ARGV[at + 1])
  for _, key in ipairs(KEYS) do
    local part = math.min(left, tonumber(redis.call('HGET', key, name) or '0'))
    if part > 0 then redis.call('HINCRBY', key, name, string.format('%.0f', -part)) end
    left = left - part
  end
  taken[at] = tonumber(ARGV[at + 1]) - left
end
for _, key in ipairs(KEYS) do
  if ARGV[1] == '0' then redis.call('DEL', key) elseif redis.call('EXISTS', key) == 1 then redis.call('PEXPIRE', key, ARGV[1]) end
end
return taken
`);

/**
 * What agents' own calls through the gateway used and what of it was not set against an agent's report yet: in Redis, where
 * gateways share one, and in memory without it, or while it does not answer. What cannot be known is not there: then
 * more is billed, never less.
 */
export class ChildSums {
  readonly #shared: SharedPart | undefined;
  readonly #alone: RecentMap<ChildUse>;

  constructor(shared: SharedPart | undefined, max = sumsMax) {
    this.#shared = shared;
    this.#alone = new RecentMap(max);
  }

  /** Gateways share sums, and cannot just now. */
  get isAlone(): boolean {
    return this.#shared?.degraded === true;
  }

  /** Undefined = it is done. Never rejects. */
  add(organisationId: string, sums: readonly string[], use: ChildUse): Promise<void> | undefined {
    const keys = sums.map((sum) => sharedKeys.agentSum(organisationId, sum));
    const [first] = keys;
    if (first === undefined) return undefined;
    const whole = asWhole(use);
    const shared = this.#shared;
    if (shared?.isUsable === true)
      return shared
        .call(first, (redis) => addUse.run(redis, keys, [ttlMs, ...countsOf(whole)]))
        .then(
          () => {},
          () => {
            // Nobody knows whether it was added, and to add it twice would make a report free.
          },
        );
    for (const key of keys) {
      const known = this.#alone.use(key);
      this.#alone.set(key, known === undefined ? whole : sumOf(known, whole));
    }
    return undefined;
  }

  /**
   * Takes out what is there, of each count no more than `most`. Never rejects.
   * @param isOver nobody will ask for these sums again
   */
  async take(
    organisationId: string,
    sums: readonly string[],
    most: ChildUse,
    isOver: boolean,
  ): Promise<TakenUse> {
    const keys = sums.map((sum) => sharedKeys.agentSum(organisationId, sum));
    const wanted = asWhole(most);
    let taken = noUse;
    for (const key of keys) {
      taken = sumOf(taken, this.#takeAlone(key, lessOf(wanted, taken)));
      if (isOver) this.#alone.delete(key);
    }
    const shared = this.#shared;
    const [first] = keys;
    if (shared === undefined || first === undefined) return { ...taken, isPartial: false };
    try {
      const args = [isOver ? 0 : ttlMs, ...countsOf(lessOf(wanted, taken))];
      const [inputTokens = 0, outputTokens = 0, costNanoUsd = 0] = await shared.call(
        first,
        (redis) => takeUse.run(redis, keys, args),
      );
      return {
        ...sumOf(taken, { inputTokens, outputTokens, costNanoUsd }),
        isPartial: false,
      };
    } catch {
      return { ...taken, isPartial: true };
    }
  }

  #takeAlone(key: string, most: ChildUse): ChildUse {
    const known = this.#alone.use(key);
    if (known === undefined) return noUse;
    const taken = {
      inputTokens: Math.min(known.inputTokens, most.inputTokens),
      outputTokens: Math.min(known.outputTokens, most.outputTokens),
      costNanoUsd: Math.min(known.costNanoUsd, most.costNanoUsd),
    };
    this.#alone.set(key, lessOf(known, taken));
    return taken;
  }
}

const noUse: ChildUse = Object.freeze({ inputTokens: 0, outputTokens: 0, costNanoUsd: 0 });

function countsOf({ inputTokens, outputTokens, costNanoUsd }: ChildUse): number[] {
  return [inputTokens, outputTokens, costNanoUsd];
}

/** Counts that can be summed exactly. */
function asWhole({ inputTokens, outputTokens, costNanoUsd }: ChildUse): ChildUse {
  const whole = (count: number) => Math.min(Math.max(0, Math.round(count)), countMax);
  return {
    inputTokens: whole(inputTokens),
    outputTokens: whole(outputTokens),
    costNanoUsd: whole(costNanoUsd),
  };
}

const countMax = 2 ** 52;

function sumOf(one: ChildUse, other: ChildUse): ChildUse {
  return asWhole({
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    costNanoUsd: one.costNanoUsd + other.costNanoUsd,
  });
}

function lessOf(one: ChildUse, other: ChildUse): ChildUse {
  return asWhole({
    inputTokens: one.inputTokens - other.inputTokens,
    outputTokens: one.outputTokens - other.outputTokens,
    costNanoUsd: one.costNanoUsd - other.costNanoUsd,
  });
}
