import type { JsonObject } from '@sluice/providers';
import type { CacheFill, JudgedLookup } from '../cache/reply-cache.ts';
import { Visit } from '../exchange/exchange.ts';
import type { LimitVerdict } from '../exchange/limits.ts';
import type { PreparedCall } from '../exchange/prepared-call.ts';
import type { Target } from '../exchange/target.ts';
import type { JudgedHook } from '../guardrails/judge-hooks.ts';
import type { TargetHooksRun } from './target-hooks-run.ts';

export interface JudgedHooks {
  readonly input: readonly JudgedHook[];
  readonly output: readonly JudgedHook[];
}

/** A visit with what its steps leave for those after them. */
export class TargetVisit extends Visit {
  /** The body as the target wants it; undefined = as it came. */
  shaped: JsonObject | undefined = undefined;
  /** What passes through in the place of the caller's bytes; undefined = those. */
  passedBody: Buffer | undefined = undefined;
  /** The body flows unread, and has said that something of it is kept. */
  saysKept = false;
  /** Undefined where nothing is checked. */
  hooks: TargetHooksRun | undefined = undefined;
  prepared: PreparedCall | undefined = undefined;
  /** Where the answer goes that others wait for; undefined where none is kept. */
  fill: CacheFill | undefined = undefined;
  /** The answer is one to less than was asked: nobody else is to have it. */
  isAdapted = false;
  /** Where it would be called: known to those who only judge. */
  base: URL | undefined = undefined;
  /** Which hooks would run: for those who only judge. */
  judgedHooks: JudgedHooks | undefined = undefined;
  /** What the cache would come to: known to those who only judge. */
  judgedCache: JudgedLookup | undefined = undefined;
  /** What limits would say: known to those who only judge; undefined = it does not get so far. */
  limitVerdict: LimitVerdict | undefined = undefined;
}

export function targetOf({ target }: TargetVisit): Target {
  if (target === undefined) throw new Error('resolveTarget is the first step');
  return target;
}

export function callOf({ prepared }: TargetVisit): PreparedCall {
  if (prepared === undefined) throw new Error('the call is not prepared yet');
  return prepared;
}
