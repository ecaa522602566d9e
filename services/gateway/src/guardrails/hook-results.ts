import type { Hook } from '@sluice/engine';
import type { JsonObject } from '@sluice/providers';

/** The outcome of one check, as callers read it. Times are ms. */
export interface CheckResult {
  id: string;
  /** False also when the check could not decide: `error` then says why. */
  verdict: boolean;
  data: JsonObject | null;
  error?: { name: string; message: string };
  execution_time: number;
  transformed: boolean;
  created_at: string;
  log: JsonObject | null;
  fail_on_error: boolean;
}

/** The outcome of one hook that ran, as callers read it. */
export interface HookRanResult {
  id: string;
  type: Hook['type'];
  verdict: boolean;
  transformed: boolean;
  checks: CheckResult[];
  feedback: { value: number; weight: number; metadata: Record<string, unknown> } | null;
  execution_time: number;
  async: boolean;
  created_at: string;
  /** The hook is configured to deny, and failed. */
  deny: boolean;
  /** The denial may be told as an answer with status 200. */
  soft_deny_200?: true;
}

export interface HookSkippedResult {
  id: string;
  type: Hook['type'];
  skipped: true;
}

export type HookResult = HookRanResult | HookSkippedResult;

/** What the hooks of one event came to. */
export interface HookRun {
  /** In the order of the hooks; asynchronous ones have none. */
  readonly results: readonly HookResult[];
  /** Some hook's verdict is false. */
  readonly failed: boolean;
  readonly denied: boolean;
  /** The request, or the response, as hooks changed it; undefined when they did not. */
  readonly request: JsonObject | undefined;
  readonly response: JsonObject | undefined;
}

export function hasRun(result: HookResult): result is HookRanResult {
  return !('skipped' in result);
}
