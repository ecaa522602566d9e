import type { Counter, Limit, LimitType } from '@sluice/engine';
import { type ErrorCode, GatewayError } from '@sluice/errors';
import type { LimitCheck } from '../exchange/limits.ts';
import type { ReplyHeaders } from '../exchange/reply.ts';
import type { CounterState, Estimate } from '../exchange/reservation.ts';
import { wantOf } from './held-reservation.ts';
import { neededFor } from './limit-store.ts';

const unitWords: Readonly<Record<string, string>> = {
  rps: 'second',
  rpm: 'minute',
  rph: 'hour',
  rpd: 'day',
  rpw: 'week',
};

/** What is held by others may be back so soon. */
const reservedRetryS = 1;

/** The refusal of a limit: names the entity by slug, says when to come back. */
export function limitError(state: CounterState, nowMs: number): GatewayError {
  const code = codeOf(state);
  const { counter, resetAtMs, name } = state;
  const { limit } = counter;
  const retryAfterS =
    code === 'limit.reserved' || code === 'limit.unavailable'
      ? reservedRetryS
      : secondsTo(resetAtMs, nowMs);
  return new GatewayError(code, {
    message: messages[code](counter, amountText(limit.type, limit.value), byText(counter)),
    headers: {
      ...(retryAfterS === undefined ? {} : { 'retry-after': String(Math.max(1, retryAfterS)) }),
      ...limitHeaders([state], nowMs),
    },
    detail: { counter: name, limit: limit.value },
  });
}

type LimitCode = Extract<
  ErrorCode,
  'limit.rate_exceeded' | 'limit.budget_exhausted' | 'limit.reserved' | 'limit.unavailable'
>;

const messages: Readonly<
  Record<LimitCode, (counter: Counter, amount: string, by: string) => string>
> = {
  'limit.rate_exceeded': ({ entity, limit }, amount, by) =>
    `Rate limit exceeded for ${entity}: ${amount} per ${unitOf(limit)} allowed${by}.`,
  'limit.budget_exhausted': ({ entity }, amount, by) =>
    `Budget exhausted for ${entity}: ${amount} allowed${by}.`,
  'limit.reserved': ({ entity }, amount, by) =>
    `What is left for ${entity} is held by requests that are not over: ${amount} allowed${by}.`,
  'limit.unavailable': ({ entity }, amount, by) =>
    `A limit of ${entity} cannot be checked at the moment: ${amount} allowed${by}.`,
};

function codeOf({ counter, posted, alone }: CounterState): LimitCode {
  const { span, value, rules, type } = counter.limit;
  if (alone === 'refuse' || alone === 'lease') return 'limit.unavailable';
  const isSpent = alone === 'share' || posted >= value || type === 'requests' || rules.isStrict;
  if (!isSpent) return 'limit.reserved';
  return span.kind === 'rate' ? 'limit.rate_exceeded' : 'limit.budget_exhausted';
}

function unitOf({ span }: Counter['limit']): string {
  return span.kind === 'rate' ? (unitWords[span.unit] ?? span.unit) : 'period';
}

function byText({ limit: { holder } }: Counter): string {
  if (holder.kind !== 'policy') return '';
  const name = holder.name === '' ? '' : ` "${holder.name}"`;
  if (holder.workspaceId === '') return ` by the organisation's policy${name}`;
  return name === '' ? '' : ` by policy${name}`;
}

function amountText(type: LimitType, value: number): string {
  return type === 'cost' ? `$${dollars(value)}` : `${value} ${type}`;
}

const nanoDigits = 9;
const nanoInDollar = 1_000_000_000;

/** Nano-dollars, to the whole one, as dollars: two digits behind the point, or as many as there are. */
export function dollars(nanoUsd: number): string {
  const rounded = Math.round(nanoUsd);
  const rest = rounded % nanoInDollar;
  const whole = (rounded - rest) / nanoInDollar;
  const digits = String(rest).padStart(nanoDigits, '0');
  let length = nanoDigits;
  while (length > 2 && digits[length - 1] === '0') length--;
  return `${whole}.${digits.slice(0, length)}`;
}

function secondsTo(resetAtMs: number, nowMs: number): number | undefined {
  return resetAtMs === 0 ? undefined : Math.max(0, Math.ceil((resetAtMs - nowMs) / 1000));
}

/**
 * For the tightest counter of each kind: `x-service-ratelimit-…-{requests,tokens}`
 * and `x-service-budget-…-{cost,tokens,requests}`, cost in dollars, reset in
 * seconds. The provider's own `x-ratelimit-*` names are left to the provider.
 */
export function limitHeaders(
  states: readonly CounterState[],
  nowMs: number,
): Record<string, string> {
  const headers: Record<string, string> = {};
  addLimitHeaders(headers, states, nowMs);
  return headers;
}

/** As `limitHeaders`, to headers that there are. */
export function addLimitHeaders(
  headers: ReplyHeaders,
  states: readonly CounterState[],
  nowMs: number,
): void {
  for (const names of headerNames) {
    let tightest: CounterState | undefined;
    for (const state of states) {
      const { limit } = state.counter;
      if (limit.span.kind !== names.span || limit.type !== names.type) continue;
      if (limit.rules.isShadow) continue;
      if (tightest === undefined || leftBeside(state) < leftBeside(tightest)) tightest = state;
    }
    if (tightest !== undefined) addRemaining(headers, names, tightest, nowMs);
  }
  addJudgements(headers, states);
}

function addJudgements(headers: ReplyHeaders, states: readonly CounterState[]): void {
  let alone: string | undefined;
  let shadows: string[] | undefined;
  for (const { counter, wouldRefuse, alone: rule } of states) {
    alone ??= rule;
    if (!wouldRefuse) continue;
    const { name } = counter.limit.holder;
    shadows ??= [];
    shadows.push(name === '' ? counter.entity : name);
  }
  if (alone !== undefined) headers['x-service-limits-degraded'] = alone;
  if (shadows !== undefined) headers['x-service-limits-would-refuse'] = listText(shadows);
}

/**
 * What is left beside what others use and hold: the request itself holds what it
 * may come to, and few come to that. Requests are counted at once.
 */
function leftBeside({ counter, remaining, held }: CounterState): number {
  return counter.limit.type === 'requests' ? remaining : remaining + held;
}

interface HeaderNames {
  readonly span: Limit['span']['kind'];
  readonly type: LimitType;
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

const headerNames: readonly HeaderNames[] = (['rate', 'budget'] as const).flatMap((span) =>
  (['requests', 'tokens', 'cost'] as const).map((type) => {
    const family = `x-service-${span === 'rate' ? 'ratelimit' : 'budget'}`;
    return {
      span,
      type,
      limit: `${family}-limit-${type}`,
      remaining: `${family}-remaining-${type}`,
      reset: `${family}-reset-${type}`,
    };
  }),
);

function addRemaining(
  headers: ReplyHeaders,
  names: HeaderNames,
  state: CounterState,
  nowMs: number,
): void {
  const { counter, resetAtMs } = state;
  const text = names.type === 'cost' ? dollars : String;
  headers[names.limit] = text(counter.limit.value);
  headers[names.remaining] = text(Math.max(0, leftBeside(state)));
  const resetS = secondsTo(resetAtMs, nowMs);
  if (resetS !== undefined) headers[names.reset] = String(resetS);
}

const namesMax = 20;

function listText(names: readonly string[]): string {
  return names
    .slice(0, namesMax)
    .map((name) => name.replace(/[^\x20-\x7e]|,/g, '?'))
    .join(',');
}

/** The refusal by the first limit that has nothing left, as a request would meet it. */
export function limitRefusal(checks: readonly LimitCheck[]): GatewayError | undefined {
  return checks.find(({ refusal }) => refusal !== undefined)?.refusal;
}

/**
 * What `take` and the look at prices would refuse with at one counter.
 * @param estimate undefined = what the request will use is not known yet
 */
export function refusalAt(
  state: CounterState,
  estimate: Estimate | undefined,
): GatewayError | undefined {
  const { counter, remaining } = state;
  if (counter.limit.rules.isShadow) return undefined;
  if (remaining < 1) return limitError(state, Date.now());
  if (estimate === undefined) return undefined;
  const unpriced = unpricedRefusal(counter, estimate);
  if (unpriced !== undefined) return unpriced;
  return remaining < neededFor(wantOf(counter, estimate))
    ? limitError(state, Date.now())
    : undefined;
}

/** Of an estimate prices are looked up where somebody asks for them. */
export function unpricedRefusal(
  { limit, entity }: Counter,
  estimate: Estimate,
): GatewayError | undefined {
  if (limit.type !== 'cost' || !limit.rules.refusesUnpriced || limit.rules.isShadow)
    return undefined;
  const what = estimate.isUnpriced === true ? 'this model' : unpricedText(estimate);
  if (what === undefined) return undefined;
  return new GatewayError('limit.unpriced', {
    message: `No price is known of ${what}, and the budget of ${entity} takes none without.`,
  });
}

/** In words: the tools that a request asks for and that have no price; undefined = there are none. */
export function unpricedText({ unpricedTools }: Estimate): string | undefined {
  if (unpricedTools === undefined || unpricedTools.length === 0) return undefined;
  return `${unpricedTools.join(', ')} at this model`;
}
