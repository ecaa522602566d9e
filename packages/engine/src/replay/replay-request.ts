import type { TargetFacts } from '../facts.ts';
import type { Counter } from '../limits/limit.ts';
import type { PastRequest, PastVisit, UnknownReason } from '../past/past-request.ts';
import { settingsOf, treatmentOf } from '../past/settings-of.ts';
import type { ResolvedTarget } from '../resolved-target.ts';
import { movesOn } from '../walk-plan.ts';
import {
  type ForeseenStep,
  foreseeRoutes,
  type ReplayedConfig,
  type Way,
} from './foresee-routes.ts';
import type { LimitReplay, Use } from './limit-replay.ts';
import { nameTarget } from './name-target.ts';

/** What is changed, and what is known of the rest. */
export interface ReplayParts {
  readonly limits: LimitReplay;
  /** The models that a saved provider may be asked for, by its slug; undefined = its list is not changed. */
  readonly allowedModels: (slug: string) => ReadonlySet<string> | undefined;
  /** The catalogue's id of a saved provider; undefined = the workspace has none of this slug. */
  readonly providerOf: (slug: string) => string | undefined;
  /** What the request would have used at a target that was not asked. */
  readonly useAt: (past: PastRequest, target: TargetFacts) => Use;
}

/** What a request of the past would have come to. */
export interface Replayed {
  /** The limit that refuses it before any target is asked. */
  readonly refusedBy: Counter | undefined;
  /** Their shares add up to 1; none of what is refused at once. */
  readonly ways: readonly ReplayedWay[];
}

export interface ReplayedWay {
  readonly share: number;
  readonly visits: readonly ReplayedVisit[];
  /** Set where it cannot be told what becomes of it. */
  readonly unknown: UnknownReason | undefined;
}

export interface ReplayedVisit {
  readonly target: TargetFacts;
  /** As it was then; undefined = it was not asked so, and what it would have answered is not known. */
  readonly past: PastVisit | undefined;
  readonly refusal: Refusal | undefined;
}

export interface Refusal {
  readonly status: number;
  /** `limit`, `model`, or what the config lacks: `provider`, `route`. */
  readonly by: 'limit' | 'model' | 'provider' | 'route';
  readonly counter?: Counter;
}

/**
 * What would have become of a request with other limits, lists of models, and, where one is given, another config.
 * Requests come in the order of their time: limits count them.
 * @param config undefined = its targets are those that were asked
 */
export function replayRequest(
  past: PastRequest,
  config: ReplayedConfig | undefined,
  parts: ReplayParts,
): Replayed {
  const { limits } = parts;
  if (past.wasRefused) return { refusedBy: undefined, ways: [unknownWay('refused_then')] };
  const refusedBy = limits.admit(past.request, past.atMs);
  if (refusedBy !== undefined) return { refusedBy, ways: [] };
  const ways: readonly Way[] =
    config === undefined ? [{ share: 1, step: asRecorded }] : foreseeRoutes(config, past);
  const replayed = ways.map((way) => new Walk(past, config, parts, way.share).run(way.step));
  settle(past, replayed, parts);
  return { refusedBy: undefined, ways: replayed };
}

/** Stands for the targets that were asked, in their order. */
const asRecorded: ForeseenStep = { kind: 'refusal', path: '' };

/** An answer, or the end of what is known: a target that was not asked is taken to answer. */
type Result = { status: number; isLast: boolean } | 'ends';

class Walk {
  readonly #past: PastRequest;
  readonly #config: ReplayedConfig | undefined;
  readonly #parts: ReplayParts;
  readonly #share: number;
  readonly #visits: ReplayedVisit[] = [];
  readonly #seen = new Set<PastVisit>();
  #unknown: UnknownReason | undefined;

  constructor(
    past: PastRequest,
    config: ReplayedConfig | undefined,
    parts: ReplayParts,
    share: number,
  ) {
    this.#past = past;
    this.#config = config;
    this.#parts = parts;
    this.#share = share;
  }

  run(step: ForeseenStep): ReplayedWay {
    if (step === asRecorded) this.#walkRecorded();
    else this.#walk(step);
    return { share: this.#share, visits: this.#visits, unknown: this.#unknown };
  }

  #walkRecorded(): void {
    for (const visit of this.#past.visits) this.#take(visit.target, visit);
    const last = this.#visits.at(-1);
    // Whether others stood behind it is told by a config alone.
    const hasOthers = [...this.#past.choices.values()].some(({ mode }) => mode === 'fallback');
    if (last?.refusal !== undefined && hasOthers) this.#unknown = 'config_not_known';
  }

  #walk(step: ForeseenStep): Result {
    switch (step.kind) {
      case 'target':
        return this.#ask(step.target);
      case 'unknown':
        return this.#endUnknown(step.reason);
      case 'refusal':
        return this.#endWithoutRoute(step.path);
      case 'fallback': {
        let result: Result = 'ends';
        for (const option of step.steps) {
          result = this.#walk(option);
          if (result === 'ends') return result;
          if (step.stoodThen && result.isLast) return 'ends';
          if (!movesOn(step.onStatusCodes, result.status)) return result;
        }
        return result;
      }
    }
  }

  #endWithoutRoute(path: string): 'ends' {
    const past = this.#past.visits.find(
      (visit) => visit.target.provider === '' && visit.path === path,
    );
    const refusal = past === undefined ? ({ status: 400, by: 'route' } as const) : undefined;
    this.#visits.push({ target: nobody, past, refusal });
    return 'ends';
  }

  #ask(planned: ResolvedTarget): Result {
    const named = this.#name(planned);
    if (typeof named === 'string') return this.#endUnknown(named);
    if (named === undefined) {
      const target = {
        provider: planned.provider ?? '',
        providerSlug: undefined,
        model: undefined,
      };
      return this.#push({ target, past: undefined, refusal: { status: 400, by: 'provider' } });
    }
    return this.#take(named.target, named.visit);
  }

  #take(target: TargetFacts, visit: PastVisit | undefined): Result {
    const refusal = this.#refusalOf(target);
    return this.#push({ target, past: refusal === undefined ? visit : undefined, refusal });
  }

  #push(visit: ReplayedVisit): Result {
    const { past, refusal } = visit;
    this.#visits.push(visit);
    if (refusal !== undefined) return { status: refusal.status, isLast: false };
    if (past === undefined) {
      if (this.#past.visits.some(({ isCacheHit }) => isCacheHit))
        return this.#endUnknown('answered_from_cache');
      return 'ends';
    }
    this.#seen.add(past);
    return { status: past.status, isLast: past === this.#past.visits.at(-1) };
  }

  #endUnknown(reason: UnknownReason): 'ends' {
    this.#unknown = reason;
    return 'ends';
  }

  /** Whom it asks, and what was recorded of the same. */
  #name(
    planned: ResolvedTarget,
  ): { target: TargetFacts; visit: PastVisit | undefined } | UnknownReason | undefined {
    const visits = this.#past.visits.filter((visit) => !this.#seen.has(visit));
    const same = visits.filter((visit) => this.#isSame(visit, planned, settingsOf));
    const here = same.find(({ path }) => path === planned.path) ?? same[0];
    if (here !== undefined) return { target: here.target, visit: here };
    const named = nameTarget(planned, this.#past);
    if (typeof named === 'string') return named;
    const target = this.#facts(named);
    if (target === undefined) return undefined;
    const visit = visits.find(
      (other) => isEqual(other.target, target) && this.#isSame(other, planned, treatmentOf),
    );
    return { target, visit };
  }

  #isSame(
    visit: PastVisit,
    planned: ResolvedTarget,
    by: (target: ResolvedTarget) => string,
  ): boolean {
    const then = this.#config?.targetsThen?.get(visit.path);
    return then !== undefined && by(then) === by(planned);
  }

  #facts({ provider, model }: { provider: string; model: string }): TargetFacts | undefined {
    if (!provider.startsWith('@'))
      return { provider: provider.toLowerCase(), providerSlug: undefined, model };
    const providerSlug = provider.slice(1);
    const id = this.#parts.providerOf(providerSlug);
    return id === undefined ? undefined : { provider: id, providerSlug, model };
  }

  #refusalOf(target: TargetFacts): Refusal | undefined {
    const { allowedModels, limits } = this.#parts;
    const allowed =
      target.providerSlug === undefined ? undefined : allowedModels(target.providerSlug);
    if (allowed !== undefined && !allowed.has(target.model ?? ''))
      return { status: 403, by: 'model' };
    const { request, atMs } = this.#past;
    const counter = limits.admitTarget(request, target, atMs, this.#share);
    if (counter === undefined) return undefined;
    return { status: counter.limit.span.kind === 'rate' ? 429 : 412, by: 'limit', counter };
  }
}

const nobody: TargetFacts = { provider: '', providerSlug: undefined, model: undefined };

function isEqual(one: TargetFacts, other: TargetFacts): boolean {
  return (
    one.provider === other.provider &&
    one.providerSlug === other.providerSlug &&
    one.model === other.model
  );
}

function unknownWay(unknown: UnknownReason): ReplayedWay {
  return { share: 1, visits: [], unknown };
}

/** Counts what the request used; of what cannot be told what it did use. */
function settle(
  past: PastRequest,
  ways: readonly ReplayedWay[],
  { limits, useAt }: ReplayParts,
): void {
  let tokens = 0;
  let costNanoUsd = 0;
  const add = (target: TargetFacts, use: Use, share: number) => {
    const part = { tokens: use.tokens * share, costNanoUsd: use.costNanoUsd * share };
    limits.settle(past.request, target, part, past);
    tokens += part.tokens;
    costNanoUsd += part.costNanoUsd;
  };
  let asked = 0;
  for (const { share, visits, unknown } of ways) {
    if (unknown !== undefined) {
      for (const visit of past.visits) add(visit.target, useOf(visit), share);
      asked += past.visits.length;
      continue;
    }
    for (const { target, past: visit, refusal } of visits) {
      if (refusal !== undefined) continue;
      add(target, visit === undefined ? useAt(past, target) : useOf(visit), share);
      asked++;
    }
  }
  if (asked === 0) limits.giveBack(past.request, past.atMs);
  limits.settle(past.request, undefined, { tokens, costNanoUsd }, past);
}

function useOf({ tokens, costNanoUsd = 0 }: PastVisit): Use {
  return { tokens, costNanoUsd };
}
