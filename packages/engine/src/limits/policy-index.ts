import type { RequestFacts, TargetFacts } from '../facts.ts';
import type { Counter } from './limit.ts';
import { type CompiledPolicy, counterOf, type Matcher, unmetCondition } from './policies.ts';
import { candidatesOf, saidTo } from './policy-facts.ts';

/** What became of one policy for one request. */
export interface PolicyMatch {
  readonly policy: CompiledPolicy;
  /** Undefined = it does not apply. */
  readonly counter: Counter | undefined;
  /** The key of the first condition that the request does not meet. */
  readonly unmet: string | undefined;
}

interface Placed {
  readonly policy: CompiledPolicy;
  readonly at: number;
}

/** Policies that have a condition on one key: where the request has a value that they name. */
interface ByKey {
  readonly exact: Map<string, Placed[]>;
  /** By a text that ends in a slash. */
  readonly under: Map<string, Placed[]>;
  /** Any value, or what no table can find. */
  readonly present: Placed[];
}

const metadata = 'metadata.';
/** Counters that an index remembers; further groups are told anew with each request. */
const rememberedMax = 1024;
/** Keys by which requests are told apart, for that. */
const looksAtMax = 12;

/**
 * The policies of one level, found by the values that one condition of each
 * names: of ten thousand, a request meets those of its key, its user and its
 * model, and the rest is not looked at.
 */
export class PolicyIndex {
  readonly #policies: readonly CompiledPolicy[];
  readonly #always: Placed[] = [];
  readonly #byKey = new Map<string, ByKey>();
  readonly #metadataKeys: ReadonlyMap<string, ByKey>;
  readonly #otherKeys: readonly (readonly [string, ByKey])[];
  /** All that any of the policies looks at; undefined = too much to be told apart by. */
  readonly #looksAt: readonly string[] | undefined;
  /** What requests met, by what they say to these keys. */
  readonly #met = new Map<string, readonly Counter[]>();
  #remembered = 0;

  constructor(policies: readonly CompiledPolicy[], level: CompiledPolicy['level']) {
    this.#policies = policies.filter((policy) => policy.level === level);
    for (const [at, policy] of this.#policies.entries()) this.#place({ policy, at });
    const keys = [...this.#byKey];
    this.#metadataKeys = new Map(
      keys.flatMap(([key, table]) =>
        key.startsWith(metadata) ? [[key.slice(metadata.length), table] as const] : [],
      ),
    );
    this.#otherKeys = keys.filter(([key]) => !key.startsWith(metadata));
    // Who is named where nothing is grouped by: the workspace.
    const looksAt = new Set(['workspace_id']);
    for (const { matchers, groupBy } of this.#policies) {
      for (const { key } of matchers) looksAt.add(key);
      for (const key of groupBy) looksAt.add(key);
    }
    if (looksAt.size <= looksAtMax) this.#looksAt = [...looksAt];
  }

  get isEmpty(): boolean {
    return this.#policies.length === 0;
  }

  /** Whether any of them goes by it: a key of conditions or of groups. */
  looksAt(key: string): boolean {
    return this.#policies.some(
      ({ matchers, groupBy }) =>
        matchers.some((matcher) => matcher.key === key) || groupBy.some((name) => name === key),
    );
  }

  /** Counters of those that apply, in the order of the policies. The same objects for requests that say the same. */
  match(request: RequestFacts, target?: TargetFacts): readonly Counter[] {
    if (this.#policies.length === 0) return noCounters;
    if (this.#looksAt === undefined) return this.#find(request, target);
    let said = '';
    for (const key of this.#looksAt) said += saidTo(key, request, target);
    const known = this.#met.get(said);
    if (known !== undefined) return known;
    const counters = this.#find(request, target);
    if (this.#remembered + counters.length >= rememberedMax) {
      this.#met.clear();
      this.#remembered = 0;
    }
    this.#met.set(said, counters);
    this.#remembered += counters.length + 1;
    return counters;
  }

  #find(request: RequestFacts, target: TargetFacts | undefined): Counter[] {
    const met: Placed[] = [];
    const tryAll = (placed: readonly Placed[]) => {
      for (const each of placed)
        if (unmetCondition(each.policy, request, target) === undefined) met.push(each);
    };
    tryAll(this.#always);
    for (const [key, table] of this.#otherKeys)
      look(table, candidatesOf(key, request, target), tryAll);
    if (this.#metadataKeys.size > 0)
      for (const name in request.metadata) {
        const table = this.#metadataKeys.get(name);
        if (table !== undefined)
          look(table, candidatesOf(metadata + name, request, target), tryAll);
      }
    met.sort((one, other) => one.at - other.at);
    // One that names a value in two spellings was found by both.
    return met.flatMap(({ policy, at }, index) =>
      met[index - 1]?.at === at ? [] : [counterOf(policy, request, target)],
    );
  }

  /** `match` with its reasons: every policy of the level, in order, with the counter of those that apply. */
  explain(request: RequestFacts, target?: TargetFacts): PolicyMatch[] {
    return this.#policies.map((policy) => {
      const unmet = unmetCondition(policy, request, target);
      const counter = unmet === undefined ? counterOf(policy, request, target) : undefined;
      return { policy, counter, unmet };
    });
  }

  #place(placed: Placed): void {
    const matcher = mostTelling(placed.policy.matchers);
    if (matcher === undefined) {
      this.#always.push(placed);
      return;
    }
    let table = this.#byKey.get(matcher.key);
    if (table === undefined) {
      table = { exact: new Map(), under: new Map(), present: [] };
      this.#byKey.set(matcher.key, table);
    }
    if (!isFindable(matcher)) {
      table.present.push(placed);
      return;
    }
    for (const { text, prefix } of matcher.values) {
      const list = prefix ? table.under : table.exact;
      const same = list.get(text);
      if (same === undefined) list.set(text, [placed]);
      else same.push(placed);
    }
  }
}

const noCounters: readonly Counter[] = Object.freeze([]);

function look(
  { exact, under, present }: ByKey,
  candidates: readonly string[],
  found: (placed: readonly Placed[]) => void,
): void {
  if (candidates.length === 0) return;
  if (present.length > 0) found(present);
  for (const candidate of candidates) {
    const same = exact.get(candidate);
    if (same !== undefined) found(same);
    if (under.size === 0) continue;
    for (let end = candidate.indexOf('/'); end >= 0; end = candidate.indexOf('/', end + 1)) {
      const above = under.get(candidate.slice(0, end + 1));
      if (above !== undefined) found(above);
    }
  }
}

/** The condition by which fewest requests find the policy; undefined = it has none. */
function mostTelling(matchers: readonly Matcher[]): Matcher | undefined {
  return matchers.reduce<Matcher | undefined>(
    (best, matcher) => (best === undefined || weight(matcher) > weight(best) ? matcher : best),
    undefined,
  );
}

function weight({ key, values }: Matcher): number {
  if (!isFindable({ values })) return 0;
  const exact = values.every(({ prefix }) => !prefix) ? 10 : 1;
  return exact + (rank[key.startsWith(metadata) ? 'metadata' : key] ?? 1);
}

/** How many values of a key there may be, roughly. */
const rank: Readonly<Record<string, number>> = {
  api_key: 6,
  metadata: 5,
  prompt: 4,
  config: 4,
  model: 3,
  virtual_key: 3,
  provider: 2,
  mcp_tool: 3,
  mcp_server: 2,
  endpoint_type: 1,
  workspace_id: 0,
  organisation_id: 0,
};

/** By tables: each of its values is whole, or ends in a slash and a star. */
function isFindable({ values }: Pick<Matcher, 'values'>): boolean {
  return values.length > 0 && values.every(({ text, prefix }) => !prefix || text.endsWith('/'));
}
