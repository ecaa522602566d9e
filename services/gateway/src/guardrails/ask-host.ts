import { setTimeout as pause } from 'node:timers/promises';
import { signRequest } from '@sluice/aws-signature';
import {
  type AskHost,
  type AwsSigning,
  type CheckContext,
  CheckError,
  forwardedHeaderFault,
  type HostAnswer,
  type HostQuestion,
} from '@sluice/guardrails';
import type { Asking } from './asking.ts';
import type { HookContext } from './hook-context.ts';
import { HostResting } from './resting-hosts.ts';
import { writeInTurns } from './write-in-turns.ts';

/** More of an answer than any verdict takes. */
const answerBytesMax = 1024 * 1024;

/** Nothing came of the host: `resting-hosts.ts` says which ones are away. */
export class HostAway extends CheckError {
  constructor(message: string) {
    super('HostFailed', message);
  }
}

/** What a check asks hosts with; it knows nothing of connections. */
export function askHost(context: HookContext, asking: Asking): AskHost {
  return async (question) => {
    const { retriesMax = 0 } = question;
    for (let tries = 0; ; tries += 1) {
      const isLast = tries >= retriesMax;
      try {
        const answer = await askOnce(context, asking, question);
        if (isLast || !isOutOfOrder(answer)) return answer;
      } catch (error) {
        // The address may hold a credential, and the cause addresses of ours: neither is told.
        if (isLast || !passing.has(codeOf(error)) || asking.signal.aborted)
          throw failure(error, asking.signal);
      }
      await pause(pauseMs, undefined, { signal: asking.signal }).catch(() => {});
    }
  };
}

/** Before it is asked again: what has just broken off is seldom whole at once. */
const pauseMs = 50;

async function askOnce(
  context: HookContext,
  asking: Asking,
  {
    url,
    method = 'POST',
    headers = {},
    body,
    forwardHeaders,
    signing,
    by,
    bytesMax = answerBytesMax,
    isHeld,
    lookUpOnly,
  }: HostQuestion,
): Promise<HostAnswer> {
  const isJson = typeof body === 'object';
  const own = {
    ...forwarded(context, forwardHeaders ?? []),
    ...(isJson ? { 'content-type': 'application/json' } : {}),
    ...lowerCased(headers),
  };
  // What a check tells of a large request is as large.
  const isLarge = context.largeOwner !== undefined && signing === undefined;
  const text = isJson ? (isLarge ? await writeInTurns(body) : JSON.stringify(body)) : body;
  return asking.fetch(url, {
    method,
    headers: signing === undefined ? own : await signed(url, method, own, text, signing),
    ...(text === undefined ? {} : { body: text }),
    timeoutMs: asking.timeoutMs,
    bytesMax,
    ...(isHeld && context.holdBytes !== undefined ? { hold: context.holdBytes } : {}),
    // A vendor's address in a caller's own config is no admin's to trust.
    by: asking.by === 'caller' ? 'caller' : (by ?? asking.by),
    ...(lookUpOnly === true ? { lookUpOnly } : {}),
    signal: asking.signal,
    owner: context.workspaceId,
  });
}

async function signed(
  url: string,
  method: string,
  headers: Record<string, string>,
  body: string | Buffer | undefined,
  { service, region, accessKeyId, secretAccessKey, sessionToken }: AwsSigning,
): Promise<Record<string, string>> {
  const { origin, pathname, search } = new URL(url);
  const credentials = {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
  };
  const result = await signRequest(
    {
      method,
      origin,
      path: `${pathname}${search}`,
      headers,
      body: body === undefined ? undefined : Buffer.from(body),
    },
    { service, region, credentials, atMs: Date.now() },
  );
  return Object.fromEntries(Object.entries(result).map(([name, value]) => [name, String(value)]));
}

/** The same way to ask, with what became of it. */
export class WatchedAsk {
  #isOfHost = false;
  #isOfAnother = false;

  /** Whether the host answered, and what a check could not make use of is that. */
  get isAnswered(): boolean {
    return this.#isOfHost && !this.#isOfAnother;
  }

  readonly ask: AskHost;

  constructor(ask: AskHost) {
    this.ask = async (question) => {
      try {
        const answer = await ask(question);
        this.#note(question, answer.status >= 500);
        return answer;
      } catch (error) {
        this.#note(question, error instanceof HostAway);
        throw error;
      }
    };
  }

  /** Hosts that the request names are its caller's business. */
  #note({ by }: HostQuestion, isAway: boolean): void {
    if (isAway || by === 'caller') this.#isOfAnother = true;
    else this.#isOfHost = true;
  }
}

/** Statuses of what stands before a service that is away. */
function isOutOfOrder({ status }: HostAnswer): boolean {
  return status === 502 || status === 503 || status === 504;
}

/** Failures of connections, which another try may not meet. */
const passing: ReadonlySet<unknown> = new Set([
  'upstream.unreachable',
  'upstream.connect_timeout',
  'upstream.reset',
]);

function failure(error: unknown, { aborted, reason }: AbortSignal): CheckError {
  // The check's own time and the host's are the same, and end in either order.
  if (aborted && reason instanceof CheckError) return reason;
  if (error instanceof HostResting) return new HostAway(error.message);
  const code = codeOf(error);
  if (code === 'upstream.timeout')
    return new CheckError('DeadlineExceeded', 'The check took too long: the host did not answer.');
  if (code === 'host.air_gapped') return new CheckError('AirGapped', (error as Error).message);
  if (code === 'host.invalid' || code === 'host.not_allowed')
    return new CheckError('HostFailed', 'The host may not be asked: its address is refused.');
  if (code === 'overloaded')
    return new HostAway('What the host sends has no room now: come again.');
  return new HostAway('The host could not be asked, or gave no whole answer.');
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
}

/** The caller's headers that the check names, but for those that speak for somebody. */
export function forwarded(
  { headers, traceId }: Pick<CheckContext, 'headers'> & { traceId: string },
  names: readonly string[],
): Record<string, string> {
  const result: Record<string, string> = {};
  for (const name of names) {
    if (forwardedHeaderFault(name) !== undefined) continue;
    const value = headers[name];
    if (value !== undefined) result[name] = Array.isArray(value) ? value.join(', ') : value;
    else if (name === 'traceparent' && /^[0-9a-f]{32}$/i.test(traceId))
      result[name] = `00-${traceId.toLowerCase()}-${traceId.slice(16).toLowerCase()}-01`;
  }
  return result;
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
