import {
  type AskHost,
  type CheckContext,
  CheckError,
  forwardedHeaderFault,
} from '@sluice/guardrails';
import type { GuardedFetch } from '@sluice/outbound';
import type { HookContext } from './hook-context.ts';

/** How a check may ask: in whose name, and until when. */
export interface Asking {
  readonly fetch: (...question: Parameters<GuardedFetch>) => ReturnType<GuardedFetch>;
  /** Whose word the addresses in its parameters are. */
  readonly by: 'admin' | 'caller';
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** More of an answer than any verdict takes. */
const answerBytesMax = 1024 * 1024;

/** What a check asks hosts with; it knows nothing of connections. */
export function askHost(context: HookContext, asking: Asking): AskHost {
  return async ({ url, method = 'POST', headers = {}, body, forwardHeaders }) => {
    const isJson = typeof body === 'object';
    try {
      return await asking.fetch(url, {
        method,
        headers: {
          ...forwarded(context, forwardHeaders ?? []),
          ...(isJson ? { 'content-type': 'application/json' } : {}),
          ...lowerCased(headers),
        },
        ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : body }),
        timeoutMs: asking.timeoutMs,
        bytesMax: answerBytesMax,
        by: asking.by,
        signal: asking.signal,
        owner: context.workspaceId,
      });
    } catch (error) {
      // The address may hold a credential, and the cause addresses of ours: neither is told.
      throw new CheckError('HostFailed', failure(error));
    }
  };
}

function failure(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  if (code === 'host.invalid' || code === 'host.not_allowed')
    return 'The host may not be asked: its address is refused.';
  if (code === 'upstream.timeout') return 'The host did not answer in time.';
  return 'The host could not be asked, or gave no whole answer.';
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
