/**
 * Circuits, averages and the budget of hedging are shared by all who use a
 * config, so they may hear only of what was the provider's doing. This is the
 * one place that decides what that is. Two questions:
 *
 * - On whose terms was the call made? What a request says beside its config (an
 *   address, a key, settings, headers to forward, a path) makes the call
 *   the caller's own: nothing is heard of it, neither bad nor good.
 * - Does the outcome say something of the provider? A caller who left, a timeout
 *   that only the caller's shorter deadline made, a body that was refused for
 *   its content, a reply larger than the gateway holds: nothing.
 *
 * What stays with the caller is the content: how long an answer takes, and a
 * body that makes a provider fail. Rates (`failure_threshold_percentage` with
 * `minimum_requests`) are the defence of whoever fears that.
 */
import { type BreakerRule, countsAsFailure } from '@sluice/engine';
import { usage } from '@sluice/proto-stubs';
import { declaredSettings, isPlain, readSettings } from '@sluice/providers';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { EndedAttempt } from '../exchange/prepared-call.ts';
import type { Requester } from '../exchange/requester.ts';
import type { Target } from '../exchange/target.ts';
import { prefix } from '../http/caller-headers.ts';
import { credentialNames } from '../http/credential-headers.ts';

const { Outcome } = usage;

/** True when nothing but the content of the request is the caller's. */
export function isOnConfigsTerms(exchange: ModelExchange, target: Target): boolean {
  const { caller } = exchange.arrival;
  const { planned } = target;
  return (
    // Passed through, all headers and the path are the caller's, and the pace of the body.
    exchange.subject.operation.body !== 'raw' &&
    caller.customHost === undefined &&
    caller.forwardHeaders === undefined &&
    !bringsKey(exchange, target) &&
    namesProvider(planned) &&
    !forwardsCredential(planned.forwardHeaders) &&
    !changesSettings(exchange, target) &&
    !sendsAccount(target)
  );
}

function bringsKey({ arrival: { caller } }: ModelExchange, { planned, saved }: Target): boolean {
  return planned.apiKey === undefined && saved === undefined && caller.upstreamKey !== undefined;
}

/** Else each request says who is asked under the target's name. */
function namesProvider({ provider, overrideParams }: Target['planned']): boolean {
  const model = overrideParams?.model;
  return provider !== undefined || (typeof model === 'string' && model.startsWith('@'));
}

/** The admin's list, but the caller's account. */
function forwardsCredential(names: readonly string[] | undefined): boolean {
  return names?.some((name) => credentialNames.includes(name.toLowerCase())) === true;
}

/** Headers of the caller that travel on and say whose account it is, unlike versions and betas. */
function sendsAccount({ entry, settingHeaders }: Target): boolean {
  return declaredSettings(entry).some(
    ({ name, kind, header, isBare }) =>
      isBare && !isPlain(kind) && (settingHeaders[header] ?? settingHeaders[name]) !== undefined,
  );
}

function changesSettings(
  { arrival: { headers } }: ModelExchange,
  { entry, configurations, setting }: Target,
) {
  const names = entry.settings?.filter((name) => headers[prefix + name] ?? headers[name]);
  if (names === undefined || names.length === 0) return false;
  const own = readSettings(entry, configurations, {});
  return names.some((name) => setting(name) !== own(name));
}

export type Heard = 'success' | 'failure' | 'nothing';

/** What one call came to, as its usage record says it. */
export type CallOutcome = Pick<EndedAttempt, 'outcome' | 'status' | 'errorCode'>;

/**
 * What a call on the config's terms says of its target.
 * @param requestTimeoutMs how long the call may take by config and gateway, whatever the caller wants
 */
export function heardOf(
  { outcome, status, errorCode }: CallOutcome,
  requester: Requester,
  { planned }: Target,
  requestTimeoutMs: number,
): Heard {
  switch (outcome) {
    case Outcome.SUCCESS:
      return 'success';
    case Outcome.DENIED:
      // Our own checks refused what the provider said: it did answer.
      return status === 446 ? 'success' : 'nothing';
    case Outcome.PARTIAL:
      // It was ours to end it.
      return errorCode === 'gateway.draining' ? 'nothing' : 'failure';
    case Outcome.UPSTREAM_FAILURE:
      // Neither is the provider's doing: one is our bound of bytes, the other of connections.
      if (errorCode === 'upstream.response_too_large' || errorCode === 'upstream.saturated')
        return 'nothing';
      return errorCode === 'upstream.timeout' && isHurried(requester, planned, requestTimeoutMs)
        ? 'nothing'
        : 'failure';
    case Outcome.UPSTREAM_ERROR:
      return isAboutContent(status, planned) ? 'nothing' : 'failure';
    default:
      return 'nothing';
  }
}

function isHurried(
  { arrival: { caller } }: Requester,
  planned: Target['planned'],
  requestTimeoutMs: number,
): boolean {
  const { requestTimeoutMs: wanted } = caller;
  return wanted !== undefined && wanted < (planned.requestTimeoutMs ?? requestTimeoutMs);
}

/** Refusals of an account or of a load; all others below 500 are of what was sent. */
const notAboutContent: ReadonlySet<number> = new Set([401, 402, 403, 407, 408, 425, 429]);
/** Refusals of a model or a deployment that is not there. */
const aboutModel: ReadonlySet<number> = new Set([404, 410]);

function isAboutContent(status: number, planned: Target['planned']): boolean {
  if (status < 400 || status > 499 || notAboutContent.has(status)) return false;
  return !(aboutModel.has(status) && namesModel(planned));
}

function namesModel({ provider, overrideParams }: Target['planned']): boolean {
  return typeof overrideParams?.model === 'string' || provider?.includes('/') === true;
}

/** Whether the breaker takes it for a failure; its own list of statuses decides among answers. */
export function failsBreaker(rule: BreakerRule, { outcome, status }: CallOutcome): boolean {
  const isUnanswered = outcome === Outcome.UPSTREAM_FAILURE || outcome === Outcome.PARTIAL;
  return countsAsFailure(rule, status, isUnanswered);
}
