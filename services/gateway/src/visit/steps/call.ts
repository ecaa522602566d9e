import { validateHeaderName, validateHeaderValue } from 'node:http';
import { unsendable } from '@sluice/outbound';
import { foreseeAuthorised } from '../../calls/authorised-call.ts';
import { stopOf } from '../../calls/request-bounds.ts';
import { callTarget, endsRequest, type CallParts as LoopParts } from '../../calls/retry-loop.ts';
import { mayBeRepeated } from '../../calls/surely-undone.ts';
import { canResend, type PreparedCall } from '../../exchange/prepared-call.ts';
import { hedgeKeyOf, lessonOf } from '../../routing/learn.ts';
import { withoutRefused } from '../adapt-call.ts';
import { isStrict } from '../dropped-params.ts';
import type { Step } from '../step.ts';
import { callOf, type TargetVisit, targetOf } from '../target-visit.ts';

export interface CallParts extends LoopParts {
  /** Refuse what a provider cannot take, whatever config and caller say. */
  strictParams: boolean;
  metrics: LoopParts['metrics'] & { adapted(provider: string, name: string): void };
}

/** Calls the provider, as often as the target's rules say. */
export function call(parts: CallParts): Step {
  return {
    async run(visit) {
      const { exchange, planned } = visit;
      const prepared = callOf(visit);
      prepared.lesson = lessonOf(exchange, targetOf(visit));
      const { operation } = exchange.subject;
      const isHedged = operation.about !== 'object' || operation.repeat !== 'fresh';
      if (planned.hedge !== undefined && isHedged)
        prepared.hedgeKey = hedgeKeyOf(exchange, targetOf(visit));
      if (planned.recoversStreams === true) prepared.recovery = exchange.recovery;
      const first = await callTarget(prepared, parts);
      const result = (planned.adapts === true && (await askWithLess(visit, first, parts))) || first;
      const { reply, error, status } = result;
      const isOver = planned.endsOnContentFilter && result.isFiltered;
      const stops =
        isOver ||
        endsRequest(error) ||
        !canResend(prepared) ||
        !mayBeRepeated(operation, { status, error });
      return { status, stops, reply, error };
    },
    async judge({ exchange, prepared, judgedCache }) {
      if (prepared === undefined || judgedCache?.status === 'HIT') return;
      checkHeaders(prepared);
      await foreseeAuthorised(prepared, exchange.arrival.signal, parts.authoriser);
    },
  };
}

/** As the client of HTTP does when it sends them. @throws GatewayError `request.invalid_header` */
function checkHeaders({ headers }: PreparedCall): void {
  try {
    for (const [name, values] of Object.entries(headers)) {
      validateHeaderName(name);
      for (const value of [values].flat()) validateHeaderValue(name, value);
    }
  } catch (cause) {
    throw unsendable(cause);
  }
}

type Result = Awaited<ReturnType<typeof callTarget>>;

/** Once more without what was refused by name; undefined where nothing was, or nobody may. */
async function askWithLess(
  visit: TargetVisit,
  { status, reply }: Result,
  parts: CallParts,
): Promise<Result | undefined> {
  const { exchange } = visit;
  const target = targetOf(visit);
  if (status !== 400 || reply?.kind !== 'body' || isStrict(exchange, target, parts))
    return undefined;
  const { progress, arrival } = exchange;
  if (stopOf(progress, arrival.startedAt, parts.bounds) !== undefined || !progress.affords(1))
    return undefined;
  const adapted = withoutRefused(callOf(visit), reply.body);
  if (adapted === undefined) return undefined;
  visit.prepared = adapted.call;
  visit.isAdapted = true;
  parts.metrics.adapted(target.entry.id, adapted.name);
  return callTarget(adapted.call, parts);
}
