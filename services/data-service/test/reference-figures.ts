import { usage } from '@sluice/proto-stubs';
import { type Attempt, type Judgement, lacksPrice, type RandomLedger } from './random-ledger.ts';

/** An entry, made in plain steps: what the figures of the ledger are compared with. */
export interface Entry {
  last: Attempt;
  at: number;
  latencyMs: number;
  inputTokens: number;
  outputTokens: number;
  tokens: number;
  cents: number;
  lacksPrice: boolean;
  avoidedCents: number;
  isSuccess: boolean;
  isAnswered: boolean;
  isHit: boolean;
  isSemanticHit: boolean;
  isFallback: boolean;
  user: string;
  feedback: readonly Judgement[];
}

export function entriesOf({ attempts, adjustments, judgements }: RandomLedger): Entry[] {
  const adjusted = groupBy(adjustments, ({ recordId }) => recordId.toString('hex'));
  const said = groupBy(judgements, ({ workspaceId, traceId }) => `${workspaceId} ${traceId}`);
  const fallbacks = fallbacksOf(attempts);
  return [...groupBy(attempts, ({ entryId }) => entryId.toString('hex')).values()].map((tries) => {
    const last = tries.reduce((one, other) => (isLater(other, one) ? other : one));
    const isHit = last.cacheStatus === 'HIT';
    const cost = tries.map((attempt) => {
      const changes = adjusted.get(attempt.id.toString('hex')) ?? [];
      return (
        (attempt.costKnown ? attempt.costNanoUsd : 0) + sum(changes, (each) => each.costNanoUsd)
      );
    });
    const [inputTokens, outputTokens] = [
      sum(tries, (attempt) => attempt.inputTokens),
      sum(tries, (attempt) => attempt.outputTokens),
    ];
    return {
      last,
      at: last.at,
      latencyMs: last.entryMs > 0 ? last.entryMs : last.latencyMs,
      inputTokens,
      outputTokens,
      tokens: inputTokens + outputTokens,
      cents: sum(cost, (nano) => nano) / 1e7,
      lacksPrice: tries.some(lacksPrice),
      avoidedCents: sum(tries, (attempt) => attempt.avoidedCostNanoUsd) / 1e7,
      isSuccess: last.statusCode >= 200 && last.statusCode <= 299,
      isAnswered: ![usage.Outcome.DENIED, usage.Outcome.LOST].includes(last.outcome),
      isHit,
      isSemanticHit: isHit && last.cacheType === 'semantic',
      isFallback: fallbacks.has(last.entryId.toString('hex')),
      user: last.metadata._user ?? '',
      feedback: said.get(`${last.workspaceId} ${last.traceId}`) ?? [],
    };
  });
}

/** Entries that were asked because the one before, at another place of the config, was not a plain 200. */
function fallbacksOf(attempts: readonly Attempt[]): Set<string> {
  const fallbacks = new Set<string>();
  const atPlaces = attempts.filter(({ optionPath }) => optionPath !== '');
  for (const ofRequest of groupBy(atPlaces, ({ requestId }) =>
    requestId.toString('hex'),
  ).values()) {
    const lasts = [...groupBy(ofRequest, ({ entryId }) => entryId.toString('hex'))]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([entry, tries]) => ({
        entry,
        last: tries.reduce((one, other) => (isLater(other, one) ? other : one)),
      }));
    for (const [at, { entry, last }] of lasts.entries()) {
      const before = lasts[at - 1]?.last;
      if (before === undefined || before.statusCode === 200) continue;
      if (before.optionPath !== last.optionPath) fallbacks.add(entry);
    }
  }
  return fallbacks;
}

function isLater(one: Attempt, other: Attempt): boolean {
  const [ended, otherEnded] = [one, other].map((each) => each.errorCode !== 'request.superseded');
  if (ended !== otherEnded) return ended === true;
  if (one.retryCount !== other.retryCount) return one.retryCount > other.retryCount;
  return Buffer.compare(one.id, other.id) > 0;
}

/** Every figure of some entries, by the names that graphs, groups and summaries have for them. */
export function figuresOf(entries: readonly Entry[]) {
  const answered = entries.filter((entry) => entry.isAnswered);
  const used = entries.filter((entry) => entry.tokens > 0);
  const hits = entries.filter((entry) => entry.isHit);
  const misses = answered.filter((entry) => !entry.isHit);
  const errors = entries.filter((entry) => !entry.isSuccess);
  const ofUsers = entries.filter((entry) => entry.user !== '');
  const users = new Set(ofUsers.map((entry) => entry.user)).size;
  const feedback = feedbackOf(entries);
  const latencies = answered.map((entry) => entry.latencyMs).sort((one, other) => one - other);
  const percentile = (part: number) =>
    latencies[Math.max(0, Math.ceil(part * latencies.length) - 1)] ?? 0;
  const [hitMs, missMs] = [hits, misses].map((some) => mean(some, (entry) => entry.latencyMs));
  return {
    requests: entries.length,
    cost: sum(entries, (entry) => entry.cents),
    avg_cost: ratio(
      sum(entries, (entry) => entry.cents),
      entries.filter((entry) => entry.cents !== 0).length,
    ),
    unpriced: entries.filter((entry) => entry.lacksPrice).length,
    total_tokens: sum(entries, (entry) => entry.tokens),
    avg_tokens: mean(used, (entry) => entry.tokens),
    avg_input_tokens: mean(used, (entry) => entry.inputTokens),
    avg_output_tokens: mean(used, (entry) => entry.outputTokens),
    avg_latency: mean(answered, (entry) => entry.latencyMs),
    p50_latency: percentile(0.5),
    p90_latency: percentile(0.9),
    p95_latency: percentile(0.95),
    p99_latency: percentile(0.99),
    users,
    user_requests: ofUsers.length,
    avg_user_requests: ratio(ofUsers.length, users),
    error_count: errors.length,
    error_rate: 100 * ratio(errors.length, entries.length),
    success_rate: 100 * ratio(entries.length - errors.length, entries.length),
    retries: entries.filter((entry) => entry.isSuccess && entry.last.retryCount > 0).length,
    fallbacks: entries.filter((entry) => entry.isSuccess && entry.isFallback).length,
    hits: hits.length,
    cache_hit_rate: 100 * ratio(hits.length, entries.length),
    semantic_hits: hits.filter((entry) => entry.isSemanticHit).length,
    simple_hits: hits.filter((entry) => !entry.isSemanticHit).length,
    simple_savings: sum(hits, (entry) => (entry.isSemanticHit ? 0 : entry.avoidedCents)),
    semantic_savings: sum(hits, (entry) => (entry.isSemanticHit ? entry.avoidedCents : 0)),
    hit_latency: hitMs!,
    cache_speedup: hits.length === 0 || missMs === 0 ? 0 : 100 * (1 - hitMs! / missMs!),
    feedbacks: feedback.length,
    avg_weighted_feedback: mean(feedback, ({ value, weight }) => value * weight),
    requests_with_feedback: entries.filter((entry) => entry.feedback.length > 0).length,
    first_seen: entries.reduce((least, { at }) => Math.min(least, at), Number.MAX_SAFE_INTEGER),
    last_seen: entries.reduce((most, { at }) => Math.max(most, at), 0),
  };
}

/** That of their traces, each once. */
export function feedbackOf(entries: readonly Entry[]): Judgement[] {
  return [
    ...new Map(
      entries.flatMap((entry) => entry.feedback).map((each) => [each.id.toString('hex'), each]),
    ).values(),
  ];
}

export function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

function sum<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}

function ratio(of: number, to: number): number {
  return to === 0 ? 0 : of / to;
}

function mean<T>(values: readonly T[], of: (value: T) => number): number {
  return ratio(sum(values, of), values.length);
}
