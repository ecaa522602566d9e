import { type Logger, Outage } from '@sluice/telemetry';
import type { Asking } from './asking.ts';

/** A host that failed so often in a row that it is left alone for a while. */
export class HostResting extends Error {
  constructor() {
    super('The host has failed several times in a row, and is not asked for a while.');
    this.name = 'HostResting';
  }
}

/** What is known of one host, as one workspace asks it. */
interface HostState {
  failures: number;
  /** Until when it rests; a single question is let through after it. */
  restsUntilMs: number;
  readonly outage: Outage;
}

const failuresMax = 5;
const restMs = 10_000;
const hostsMax = 10_000;
/** Whoever had less to answer is not blamed for it. */
const fairMs = 250;

/**
 * The same way to ask, but for hosts that are down: requests must not wait for
 * the deadline of a check each, and hold connections meanwhile, to learn what
 * the last five have learned. Workspaces learn apart: nobody can silence the
 * partner of somebody else.
 */
export function restingHosts(
  ask: Asking['fetch'],
  now: () => number,
  logger: Pick<Logger, 'info' | 'warn'>,
): Asking['fetch'] {
  const hosts = new Map<string, HostState>();

  return async (url, request) => {
    const key = `${request.owner} ${originOf(url)}`;
    const state = hosts.get(key);
    if (state !== undefined && state.failures >= failuresMax) {
      if (now() < state.restsUntilMs) throw new HostResting();
      // Whoever comes while this one finds out is turned away.
      state.restsUntilMs = now() + restMs;
    }
    const askedAtMs = now();
    try {
      const answer = await ask(url, request);
      if (answer.status >= 500) note(key, request.owner, url, `it answers ${answer.status}`);
      else {
        hosts.get(key)?.outage.ends();
        hosts.delete(key);
      }
      return answer;
    } catch (error) {
      if (isOfHost(error, request.signal, now() - askedAtMs))
        note(key, request.owner, url, whyOf(error, request.signal));
      throw error;
    }
  };

  function note(key: string, owner: string | undefined, url: string, reason: string): void {
    let state = hosts.get(key);
    if (state === undefined) {
      if (hosts.size >= hostsMax) return;
      state = { failures: 0, restsUntilMs: 0, outage: outageOf(owner, url) };
      hosts.set(key, state);
    }
    state.failures += 1;
    state.restsUntilMs = now() + restMs;
    if (state.failures >= failuresMax) state.outage.begins(reason);
  }

  function outageOf(owner: string | undefined, url: string): Outage {
    return new Outage({
      logger,
      away: 'a host that checks of guardrails ask is away: they cannot decide',
      back: 'a host that checks of guardrails ask is back',
      facts: { workspace_id: owner ?? '', host: URL.canParse(url) ? new URL(url).host : '' },
    });
  }
}

/** A caller who left says nothing of the host, nor do our own rules for addresses. */
function isOfHost(error: unknown, signal: AbortSignal | undefined, hadMs: number): boolean {
  if (error instanceof Error && 'code' in error && /^host\./.test(String(error.code))) return false;
  if (signal?.aborted !== true) return true;
  const ended = signal.reason instanceof Error ? signal.reason.name : '';
  // Of its guardrail's time a check has what others before it left.
  return ended === 'DeadlineExceeded' || (ended === 'HookDeadlineExceeded' && hadMs >= fairMs);
}

/** Without its causes, which have addresses. */
function whyOf(error: unknown, signal: AbortSignal | undefined): string {
  if (signal?.aborted === true) return 'it does not answer in time';
  const said = error instanceof Error ? error.message : String(error);
  return said.replaceAll('The provider', 'The host');
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '';
}
