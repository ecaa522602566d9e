import type { Lab, RecordView, Trial } from '../lab.ts';

/**
 * One way in which an upstream fails. `run` asks through the gateway and
 * asserts what the caller sees, which upstreams were called, and what the
 * ledger holds; what it asked stays in the trial and becomes rows of the table.
 */
export interface Fault {
  name: string;
  run(trial: Trial, lab: Lab): Promise<void>;
}

/** Of one usage record, all that routing decides. */
export function record(
  path: string,
  outcome: RecordView['outcome'],
  status: number,
  code: string,
  over: Partial<RecordView> = {},
): RecordView {
  const usage = { tokens: null, costNanoUsd: null };
  return { path, outcome, status, code, attempt: 0, retries: 0, ...usage, ...over };
}

/** The record of an upstream's own error, which costs nothing. */
export function refused(path: string, status: number, over: Partial<RecordView> = {}): RecordView {
  return record(path, 'UPSTREAM_ERROR', status, 'upstream.error', { costNanoUsd: 0, ...over });
}

/** The record of an answer with the 1000 + 500 tokens that all our upstreams report. */
export function answered(path: string, over: Partial<RecordView> = {}): RecordView {
  return record(path, 'SUCCESS', 200, '', {
    tokens: [1000, 500],
    costNanoUsd: 450_000,
    ...over,
  });
}

export function fallback(targets: readonly object[], strategy: object = {}): object {
  return { strategy: { mode: 'fallback', ...strategy }, targets };
}
