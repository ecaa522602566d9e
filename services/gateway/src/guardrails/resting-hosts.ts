import type { Asking } from './ask-host.ts';

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
}

const failuresMax = 5;
const restMs = 10_000;
const hostsMax = 10_000;

/**
 * The same way to ask, but for hosts that are down: requests must not wait for
 * the deadline of a check each, and hold connections meanwhile, to learn what
 * the last five have learned. Workspaces learn apart: nobody can silence the
 * partner of somebody else.
 */
export function restingHosts(ask: Asking['fetch'], now: () => number): Asking['fetch'] {
  const hosts = new Map<string, HostState>();

  return async (url, request) => {
    const key = `${request.owner} ${originOf(url)}`;
    const state = hosts.get(key);
    if (state !== undefined && state.failures >= failuresMax) {
      if (now() < state.restsUntilMs) throw new HostResting();
      // Whoever comes while this one finds out is turned away.
      state.restsUntilMs = now() + restMs;
    }
    try {
      const answer = await ask(url, request);
      if (answer.status >= 500) note(key);
      else hosts.delete(key);
      return answer;
    } catch (error) {
      if (isOfHost(error, request.signal)) note(key);
      throw error;
    }
  };

  function note(key: string): void {
    const { failures } = hosts.get(key) ?? { failures: 0 };
    if (failures === 0 && hosts.size >= hostsMax) return;
    hosts.set(key, { failures: failures + 1, restsUntilMs: now() + restMs });
  }
}

/** A caller who left says nothing of the host, nor do our own rules for addresses. */
function isOfHost(error: unknown, signal: AbortSignal | undefined): boolean {
  if (error instanceof Error && 'code' in error && /^host\./.test(String(error.code))) return false;
  if (signal?.aborted !== true) return true;
  return signal.reason instanceof Error && signal.reason.name === 'DeadlineExceeded';
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '';
}
