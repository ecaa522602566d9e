import type { HookCheck } from '@sluice/engine';
import { type AskHost, type CheckContext, CheckError, type CheckOutcome } from '@sluice/guardrails';
import type { JsonObject } from '@sluice/providers';
import { largeWork } from '../http/large-work.ts';
import { askHost, WatchedAsk } from './ask-host.ts';
import type { Asking } from './asking.ts';
import type { CheckCompiler, ReadyCheck } from './check-compiler.ts';
import { withDeadline } from './deadline.ts';
import type { HookBounds } from './hook-bounds.ts';
import type { HookContext } from './hook-context.ts';
import type { CheckResult } from './hook-results.ts';
import { hasTooManyValues, valuesMax } from './too-many-values.ts';
import { hasTime, isBusy, noteSpent } from './turn.ts';
import type { UndecidedChecks } from './undecided-checks.ts';

export interface HookTools {
  readonly compiler: CheckCompiler;
  readonly checkDeadlineMs: number;
  readonly fetch: Asking['fetch'];
  /** Of checks whose hosts answer. */
  readonly undecided: Pick<UndecidedChecks, 'decided' | 'undecided'>;
  /** Hears of each check that could not decide, by the name of its error. */
  readonly onError?: ((name: string) => void) | undefined;
  /** What the checks of one event took so far, without their waits; absent = nobody counts. */
  readonly spending?: { ms: number };
}

/**
 * What all checks of one event may take together. A config may have ten thousand
 * of them: those that come too late could not decide, as any that is too slow.
 */
const spendingMaxMs = 1_000;

export interface CheckRun {
  readonly result: CheckResult;
  /** What the check made of the document of this event; undefined when it left it alone. */
  readonly changed: JsonObject | undefined;
}

/**
 * Runs one check: a promise only where something has to be waited for. Never
 * throws or rejects: a check that does so has an error in its result.
 */
export function runCheck(
  check: HookCheck,
  context: HookContext,
  tools: HookTools,
  bounds: HookBounds,
): CheckRun | Promise<CheckRun> {
  const { largeOwner } = context;
  if (!isBusy() && largeOwner === undefined) return runNow(check, context, tools, bounds);
  return itsTurn(largeOwner).then(() => runNow(check, context, tools, bounds));
}

async function itsTurn(largeOwner: string | undefined): Promise<void> {
  await hasTime();
  if (largeOwner !== undefined) await largeWork.turn(largeOwner);
}

function runNow(
  check: HookCheck,
  context: HookContext,
  tools: HookTools,
  bounds: HookBounds,
): CheckRun | Promise<CheckRun> {
  const startedAt = performance.now();
  const found = ({ verdict, data, request, response }: CheckOutcome): CheckRun => {
    const changed = context.event === 'beforeRequest' ? request : response;
    const isChanged = changed !== undefined;
    const result = resultOf(check, context, startedAt, verdict, boundedData(data), isChanged);
    return { result, changed };
  };
  const failed = (error: unknown): CheckRun => {
    const { name, message } =
      error instanceof Error ? error : { name: 'Error', message: String(error) };
    tools.onError?.(name);
    const result = resultOf(check, context, startedAt, false, null, false);
    return { result: { ...result, error: { name, message } }, changed: undefined };
  };
  try {
    if (tools.spending !== undefined && tools.spending.ms > spendingMaxMs)
      throw new CheckError('TimeSpent', 'The checks of this request have taken too long.');
    const ready = tools.compiler.get(check);
    if (needsBody(ready)) {
      if (context.unreadable !== undefined) throw new CheckError('Unreadable', context.unreadable);
      bounds.expectLength();
      expectFewValues(ready, context);
    }
    const ends = endOf(ready, bounds, startedAt, tools, context);
    const outcome =
      ready.deadlineMs === undefined
        ? looked(ready, context, nobodyToAsk, tools)
        : waited({ id: check.id, ...ready }, ready.deadlineMs, ends, context, tools, bounds);
    if (!(outcome instanceof Promise)) return found(outcome);
    return withDeadline(outcome, ends.afterMs, ends.error).then(found).catch(failed);
  } catch (error) {
    return failed(error);
  }
}

function resultOf(
  check: HookCheck,
  { createdAt }: HookContext,
  startedAt: number,
  verdict: boolean,
  data: JsonObject | null,
  transformed: boolean,
): CheckResult {
  return {
    id: check.id,
    verdict,
    data,
    execution_time: elapsedMs(startedAt),
    transformed,
    created_at: createdAt,
    log: null,
    fail_on_error: check.parameters.failOnError === true,
  };
}

/** Which operation it is, and what is known of its caller, is known without the body. */
function needsBody({ judges }: ReadyCheck): boolean {
  return judges === 'texts' || judges === 'parameters';
}

/** Only of large bodies: those of usual size have no room for so many. @throws CheckError */
function expectFewValues(
  { judges }: ReadyCheck,
  { event, request, response = {}, largeOwner }: HookContext,
): void {
  if (judges !== 'texts' || largeOwner === undefined) return;
  if (hasTooManyValues(event === 'beforeRequest' ? request : response))
    throw new CheckError('TextTooLong', `The body has more than ${valuesMax} values.`);
}

/** When a check that waits is given up, and as what. */
interface CheckEnd {
  readonly afterMs: number;
  readonly error: () => Error;
}

/** Its own time is over, or that of its hook. @throws CheckError when that is so already */
function endOf(
  { deadlineMs }: ReadyCheck,
  bounds: HookBounds,
  now: number,
  { checkDeadlineMs, spending }: HookTools,
  { partWithinMs = Number.POSITIVE_INFINITY }: HookContext,
): CheckEnd {
  const ownMs = Math.min(deadlineMs ?? checkDeadlineMs, partWithinMs);
  const remainingMs = bounds.remainingMs(now, spending?.ms ?? 0);
  return remainingMs === undefined || ownMs <= remainingMs
    ? { afterMs: ownMs, error: tooSlow }
    : { afterMs: remainingMs, error: () => bounds.end() };
}

/** A check that may wait: what it waits for ends when its time is over. */
async function waited(
  ready: ReadyCheck & Pick<HookCheck, 'id'>,
  timeoutMs: number,
  { afterMs, error }: CheckEnd,
  context: HookContext,
  tools: HookTools,
  { by, hookId }: HookBounds,
): Promise<CheckOutcome> {
  const ending = new AbortController();
  const signal = AbortSignal.any([context.signal, ending.signal]);
  const timer = setTimeout(() => ending.abort(error()), afterMs).unref();
  const watched = new WatchedAsk(askHost(context, { fetch: tools.fetch, by, timeoutMs, signal }));
  const place = {
    workspaceId: context.workspaceId,
    hookId: by === 'admin' ? hookId : undefined,
    checkId: ready.id,
  };
  try {
    const outcome = await looked(ready, { ...context, signal }, watched.ask, tools);
    if (watched.isAnswered) tools.undecided.decided(place);
    return outcome;
  } catch (error) {
    if (watched.isAnswered && error instanceof CheckError && error.name === 'HostFailed')
      tools.undecided.undecided(place, error.message);
    throw error;
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
}

const nobodyToAsk: AskHost = () =>
  Promise.reject(new CheckError('HostFailed', 'A check without a time of its own asks nobody.'));

/** What a check finds, or its promise; the time that it kept the event loop is noted. */
function looked(
  ready: ReadyCheck,
  context: HookContext,
  ask: CheckContext['ask'],
  tools: HookTools,
): CheckOutcome | Promise<CheckOutcome> {
  const startedAt = performance.now();
  try {
    return ready.run({ ...context, ask });
  } finally {
    const ms = performance.now() - startedAt;
    noteSpent(ms);
    if (context.largeOwner !== undefined) largeWork.note(ms);
    if (tools.spending !== undefined) tools.spending.ms += ms;
  }
}

/** Results go into replies, records and logs: what a host answers must not fill them. Most are short enough by any count. */
function boundedData(data: JsonObject): JsonObject {
  const isBounded =
    jsonLengthMax(data, dataLengthMax) <= dataLengthMax ||
    JSON.stringify(data).length <= dataLengthMax;
  return isBounded ? data : { explanation: 'What was found is too long to be told.' };
}

/** So long a value is as JSON at most; looks no further than `enough`. */
function jsonLengthMax(value: unknown, enough: number): number {
  if (typeof value === 'string') return 2 + escapeLengthMax * value.length;
  if (typeof value !== 'object' || value === null) return scalarLengthMax;
  let length = 2;
  for (const key in value) {
    length += 4 + escapeLengthMax * key.length;
    length += jsonLengthMax((value as Record<string, unknown>)[key], enough - length);
    if (length > enough) break;
  }
  return length;
}

/** `\u0000`. */
const escapeLengthMax = 6;
/** `-1.2345678901234567e-300`. */
const scalarLengthMax = 24;

const dataLengthMax = 64 * 1024;

/** Since a reading of `performance.now()`, to a hundredth of a millisecond. */
export function elapsedMs(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 100) / 100;
}

function tooSlow(): Error {
  return new CheckError('DeadlineExceeded', 'The check took too long.');
}
