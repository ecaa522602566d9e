import type { CallRules } from '../../calls/prepare/call-rules.ts';
import { addressCall } from '../../calls/prepare/prepare-unified.ts';
import { sentBody } from '../../calls/prepare/sent-body.ts';
import { inTurn } from '../../http/large-work.ts';
import type { BatchParts } from '../asking-batches.ts';
import { refuseDropped } from '../dropped-params.ts';
import { prepareCall as prepare } from '../prepare-call.ts';
import type { Step } from '../step.ts';
import { type TargetVisit, targetOf } from '../target-visit.ts';
import { checkSentModels } from '../targets/served-model.ts';

export interface PrepareCallParts extends CallRules, BatchParts {
  /** Refuse what a provider's format cannot carry, whatever config and caller say. */
  strictParams: boolean;
}

/** The HTTP request, with all that can be refused by looking at it. */
export function prepareCall(parts: PrepareCallParts): Step {
  const run = (visit: TargetVisit): void => {
    const { exchange, shaped } = visit;
    const target = targetOf(visit);
    checkSentModels(exchange, target, sentBody(exchange, target, shaped));
    const prepared = prepare(visit, target, shaped, parts);
    refuseDropped(exchange, target, prepared, parts);
    visit.prepared = prepared;
  };
  const runInTurn = (visit: TargetVisit): void | Promise<void> => {
    const { bundle, subject } = visit.exchange;
    const bytes = subject.body?.length ?? 0;
    return inTurn(bundle?.source.workspaceId ?? '', bytes, () => run(visit));
  };
  return {
    run(visit, next) {
      const turn = runInTurn(visit);
      return turn === undefined ? next(visit) : turn.then(() => next(visit));
    },
    judge(visit) {
      const { exchange, shaped } = visit;
      const target = targetOf(visit);
      checkSentModels(exchange, target, sentBody(exchange, target, shaped));
      // Told of a call that is refused by what follows, too.
      visit.base = addressCall(exchange, target, exchange.subject.json ?? {}, parts).base;
      return runInTurn(visit);
    },
  };
}
