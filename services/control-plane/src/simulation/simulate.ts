import { nanoUsdPerUsd } from '@sluice/contracts/admin';
import {
  type CompiledConfig,
  type CompiledPolicy,
  compileBudgetPolicy,
  compileConfig,
  compileRatePolicy,
  directConfig,
  LimitReplay,
  type PastRequest,
  type Refusal,
  type ReplayedConfig,
  type ReplayedWay,
  type ReplayParts,
  replayedConfig,
  replayRequest,
  savedHook,
  type TargetFacts,
} from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import type { PriceBook } from '@sluice/pricing';
import type { usage } from '@sluice/proto-stubs';
import type { ShownContent } from '../ledger/logs/read-content.ts';
import { assumptionsOf } from './assumptions.ts';
import { answerOf, costOf, type LoggedRequest, pastRequestOf } from './past-request-of.ts';
import { UsePrices } from './price-use.ts';
import { type Costs, nameOfLimit, Tally } from './tally.ts';
import type { ConfigDocument, FindVersions, Report, SimulationTask } from './task.ts';
import { withContent } from './with-content.ts';

export interface SimulationParts {
  readonly book: Pick<PriceBook, 'lookUp'>;
  readonly findVersions: FindVersions;
  /** Undefined = there is no store of bodies. */
  readonly readContent: ((record: usage.UsageRecord) => Promise<ShownContent>) | undefined;
  /** Milliseconds on a clock that only goes forward. */
  readonly clock: () => number;
}

const bodiesAtOnce = 16;

/**
 * Replays the requests with what the task changes, and adds up what becomes of them.
 * @param batches attempts of whole requests, the oldest first; it is left when there is no more time
 */
export async function simulate(
  task: SimulationTask,
  batches: AsyncIterable<readonly usage.UsageRecord[]>,
  parts: SimulationParts,
): Promise<Report> {
  const run = new SimulationRun(task, parts);
  const endsAt = parts.clock() + task.timeMsMax;
  let stoppedBy: Report['stopped_by'] = null;
  for await (const batch of batches) {
    stoppedBy = await run.replay(batch, endsAt);
    if (stoppedBy !== null) break;
  }
  return run.report(stoppedBy);
}

class SimulationRun {
  readonly #task: SimulationTask;
  readonly #parts: SimulationParts;
  readonly #prices: UsePrices;
  readonly #tally = new Tally();
  readonly #changed: CompiledConfig | undefined;
  readonly #replay: ReplayParts;
  /** Whether the changes can refuse one target of a request: then it matters who stood behind it. */
  readonly #refusesTargets: boolean;
  readonly #versions = new Map<string, CompiledConfig | undefined>();
  readonly #replayed = new Map<CompiledConfig | undefined, ReplayedConfig>();
  readonly #unchanged = new Map<CompiledConfig, ReplayedConfig>();
  #current: LoggedRequest | undefined;
  #lastAtMs: number;

  constructor(task: SimulationTask, parts: SimulationParts) {
    this.#task = task;
    this.#parts = parts;
    this.#prices = new UsePrices(parts.book, task.providers);
    this.#changed = task.config && compiled(task.config);
    this.#lastAtMs = task.fromMs;
    const policies = policiesOf(task);
    const allowed = new Map(
      task.allowedModels.map(({ provider, models }) => [provider, new Set(models)]),
    );
    const ids = new Map(task.providers.map(({ slug, id }) => [slug, id]));
    this.#refusesTargets = allowed.size > 0 || policies.some(({ level }) => level === 'target');
    this.#replay = {
      limits: new LimitReplay(policies),
      allowedModels: (slug) => allowed.get(slug),
      providerOf: (slug) => ids.get(slug),
      useAt: (past, target) => ({
        tokens: past.tokens,
        costNanoUsd: this.#priceAt(target, past.atMs) ?? 0,
      }),
    };
  }

  /** What stopped it before the end of the batch; null = nothing. */
  async replay(batch: readonly usage.UsageRecord[], endsAt: number): Promise<Report['stopped_by']> {
    const groups = grouped(batch);
    await this.#learnVersions(groups);
    const requests = groups.map((records) => {
      const then = this.#thenOf(records[0]!);
      const logged = pastRequestOf(records, then);
      return { logged, config: this.#configFor(logged, then) };
    });
    const contents = await this.#contentsOf(requests, endsAt);
    for (const [index, { logged, config }] of requests.entries()) {
      if (this.#tally.replayed >= this.#task.requestsMax) return 'requests';
      if (this.#parts.clock() > endsAt) return 'time';
      this.#replayOne(logged, contents.get(index) ?? logged.past, config);
    }
    return null;
  }

  report(stoppedBy: Report['stopped_by']): Report {
    const { workspaceId, fromMs, toMs } = this.#task;
    return {
      object: 'simulation',
      workspace_id: workspaceId,
      replayed_from: new Date(fromMs).toISOString(),
      replayed_to: new Date(stoppedBy === null ? toMs : this.#lastAtMs).toISOString(),
      is_complete: stoppedBy === null,
      stopped_by: stoppedBy,
      ...this.#tally.report,
      assumptions: assumptionsOf(this.#task),
    };
  }

  #replayOne(logged: LoggedRequest, past: PastRequest, config: ReplayedConfig | undefined): void {
    this.#current = logged;
    this.#tally.replayed++;
    this.#lastAtMs = past.atMs;
    const before = this.#costBefore(logged);
    const { refusedBy, ways } = replayRequest(
      past,
      logged.isUnclear ? undefined : config,
      this.#replay,
    );
    if (refusedBy !== undefined)
      this.#refuse(1, { status: 0, by: 'limit', counter: refusedBy }, before, 0, 0);
    else if (logged.isUnclear && (config !== undefined || this.#refusesTargets))
      this.#tally.leaveOut(1, 'outcome_not_recorded', before.recorded);
    else for (const way of ways) this.#tallyWay(way, past, before);
  }

  #tallyWay(way: ReplayedWay, past: PastRequest, before: Before): void {
    const { share, visits, unknown } = way;
    if (unknown !== undefined) {
      this.#tally.leaveOut(share, unknown, before.recorded);
      return;
    }
    const refusal = visits.at(-1)?.refusal;
    let after: number | undefined = 0;
    let afterNow: number | undefined = 0;
    for (const visit of visits) {
      if (visit.refusal !== undefined) continue;
      const { target, past: asked } = visit;
      after = sum(
        after,
        asked === undefined ? this.#priceAt(target, past.atMs) : asked.costNanoUsd,
      );
      afterNow = sum(
        afterNow,
        asked === undefined
          ? this.#priceAt(target, this.#task.nowMs)
          : before.nowOfVisits.get(asked),
      );
    }
    if (refusal !== undefined) {
      this.#refuse(share, refusal, before, after, afterNow);
      return;
    }
    const costs: Costs = {
      before: before.recorded,
      beforeNow: before.atPricesNow,
      after,
      afterNow,
    };
    const isSame =
      visits.length === past.visits.length &&
      visits.every((visit, index) => visit.past === past.visits[index]);
    if (isSame) this.#tally.same(share, costs);
    else
      this.#tally.route(
        share,
        past.visits.map(({ target }) => target),
        visits.flatMap(({ target, refusal: refused }) => (refused === undefined ? [target] : [])),
        visits.some((visit) => visit.past === undefined && visit.refusal === undefined),
        costs,
      );
  }

  #refuse(
    share: number,
    { by, counter }: Refusal,
    before: Before,
    after: number | undefined,
    afterNow: number | undefined,
  ): void {
    const { last } = this.#current!;
    const refusedBy =
      counter !== undefined ? nameOfLimit(counter) : by === 'model' ? 'allowed_models' : 'config';
    this.#tally.refuse(
      share,
      { workspaceSlug: last.workspaceSlug, model: last.model, refusedBy },
      { before: before.recorded, beforeNow: before.atPricesNow, after, afterNow },
    );
  }

  #costBefore({ attempts }: LoggedRequest): Before {
    const nowOfVisits = new Map<object, number | undefined>();
    let [recorded, atPricesNow]: (number | undefined)[] = [0, 0];
    for (const [visit, records] of attempts) {
      let visitNow: number | undefined = 0;
      for (const record of records) visitNow = sum(visitNow, this.#priceNow(visit.target, record));
      nowOfVisits.set(visit, visitNow);
      recorded = sum(recorded, visit.costNanoUsd);
      atPricesNow = sum(atPricesNow, visitNow);
    }
    return { recorded, atPricesNow, nowOfVisits };
  }

  /** What an attempt would cost today; what cost nothing for another reason than its price does so today. */
  #priceNow(target: TargetFacts, record: usage.UsageRecord): number | undefined {
    if (costOf(record) === 0) return 0;
    const { responseModel, serviceTier, servedRegion } = record;
    const served = { model: responseModel, tier: serviceTier, region: servedRegion };
    return this.#prices.priceOf(target, record, served, this.#task.nowMs);
  }

  /** What the answer of the current request would cost elsewhere. */
  #priceAt(target: TargetFacts, atMs: number): number | undefined {
    const answer = answerOf([...this.#current!.attempts.values()].flat());
    return answer === undefined
      ? undefined
      : this.#prices.priceOf(target, answer, { model: '', tier: '', region: '' }, atMs);
  }

  #configFor(
    { last }: LoggedRequest,
    then: CompiledConfig | undefined,
  ): ReplayedConfig | undefined {
    const replaces = this.#task.config?.replaces;
    if (this.#changed !== undefined && (replaces === undefined || replaces === last.configId))
      return made(this.#replayed, then, () => replayedConfig(this.#changed!, then));
    if (!this.#refusesTargets || then === undefined || last.configVersionId === '')
      return undefined;
    return made(this.#unchanged, then, () => replayedConfig(then, then));
  }

  #thenOf({ configVersionId, optionPath, decisionJson }: usage.UsageRecord) {
    if (configVersionId !== '') return this.#versions.get(configVersionId);
    const isPlain = optionPath === 'config' && !decisionJson.includes('"choices":[{');
    return isPlain ? directConfig : undefined;
  }

  /** Documents are asked for once; what is gone stays unknown. */
  async #learnVersions(groups: readonly (readonly usage.UsageRecord[])[]): Promise<void> {
    if (this.#changed === undefined && !this.#refusesTargets) return;
    const ids = new Set(groups.map(([first]) => first!.configVersionId));
    const wanted = [...ids].filter((id) => id !== '' && !this.#versions.has(id));
    if (wanted.length === 0) return;
    const found = await this.#parts.findVersions(wanted);
    for (const id of wanted) this.#versions.set(id, compiledThen(found.get(id)));
  }

  /** Requests with what was kept of them, where that is looked at. */
  async #contentsOf(
    requests: readonly { logged: LoggedRequest; config: ReplayedConfig | undefined }[],
    endsAt: number,
  ): Promise<ReadonlyMap<number, PastRequest>> {
    const contents = new Map<number, PastRequest>();
    const { readContent } = this.#parts;
    if (this.#changed === undefined || readContent === undefined) return contents;
    // They share it: each takes what is next.
    const waiting = [...requests.entries()]
      .filter(([, { logged, config }]) => this.#needsContent(logged, config))
      .values();
    const read = async () => {
      for (const [index, { logged }] of waiting) {
        if (this.#parts.clock() > endsAt) return;
        contents.set(index, withContent(logged.past, await readContent(logged.last)));
      }
    };
    await Promise.all(Array.from({ length: bodiesAtOnce }, read));
    return contents;
  }

  #needsContent(logged: LoggedRequest, config: ReplayedConfig | undefined): boolean {
    if (config === undefined || logged.last.logFormat === '') return false;
    this.#current = logged;
    const { ways } = replayRequest(logged.past, config, { ...this.#replay, limits: noLimits });
    return ways.some(
      ({ unknown }) => unknown === 'body_not_kept' || unknown === 'headers_not_kept',
    );
  }
}

const noLimits = new LimitReplay([]);

interface Before {
  readonly recorded: number | undefined;
  readonly atPricesNow: number | undefined;
  /** Of each visit, at the prices of now. */
  readonly nowOfVisits: ReadonlyMap<object, number | undefined>;
}

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one + other;
}

function made<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key);
  if (found !== undefined) return found;
  const value = make();
  map.set(key, value);
  return value;
}

function compiled({ slug, node, references }: ConfigDocument): CompiledConfig {
  return compileConfig(node, {
    slug,
    findConfig: (name) => references.get(name),
    // No check is run again: of a guardrail its name is enough, to tell targets with it from those without.
    findGuardrail: (name) => savedHook({ slug: name, versionId: '', checks: [], actions: {} }),
  });
}

/** A document of then may refer to what is gone. */
function compiledThen(document: ConfigDocument | undefined): CompiledConfig | undefined {
  if (document === undefined) return undefined;
  try {
    return compiled(document);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'config.invalid') return undefined;
    throw error;
  }
}

/** Attempts of one request stand together. */
function grouped(batch: readonly usage.UsageRecord[]): usage.UsageRecord[][] {
  const groups: usage.UsageRecord[][] = [];
  for (const record of batch) {
    const group = groups.at(-1);
    if (group !== undefined && Buffer.compare(group[0]!.requestId, record.requestId) === 0)
      group.push(record);
    else groups.push([record]);
  }
  return groups;
}

/** Each is named by its place among those that were sent. */
function policiesOf({ rateLimits, usageLimits, workspaceId, fromMs }: SimulationTask) {
  const conditionsOf = (
    id: string,
    {
      name,
      conditions,
      group_by,
    }: Pick<SimulationTask['rateLimits'][number], 'name' | 'conditions' | 'group_by'>,
  ) => ({
    id,
    name: name ?? id,
    workspaceId,
    conditions: conditions.map(({ key, value, excludes }) => ({
      key,
      values: [value].flat(),
      excludes: excludes === undefined ? [] : [excludes].flat(),
    })),
    groupBy: group_by.map(({ key }) => key),
  });
  const policies = [
    ...rateLimits.map((limit, index) =>
      compileRatePolicy(conditionsOf(`rate_limits[${index}]`, limit), limit),
    ),
    ...usageLimits.map((limit, index) =>
      compileBudgetPolicy(conditionsOf(`usage_limits[${index}]`, limit), {
        id: '',
        type: limit.type,
        value: limit.type === 'cost' ? limit.credit_limit * nanoUsdPerUsd : limit.credit_limit,
        period: periodOf(limit, fromMs),
      }),
    ),
  ];
  return policies.filter((policy): policy is CompiledPolicy => policy !== undefined);
}

const dayMs = 86_400_000;

/** Weeks and months are those of the calendar; days are counted from the first request on. */
function periodOf(
  { periodic_reset, periodic_reset_days }: SimulationTask['usageLimits'][number],
  fromMs: number,
) {
  const days = periodic_reset_days ?? 0;
  return {
    generation: 0,
    startedAtMs: 0,
    nextResetAtMs: days > 0 ? fromMs + days * dayMs : periodic_reset == null ? 0 : 1,
    cadence: days > 0 ? 'days' : (periodic_reset ?? ''),
    days,
    weeksBeginOnSunday: false,
  };
}
