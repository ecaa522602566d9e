import { GatewayError } from '@sluice/errors';
import type { Logger } from '@sluice/telemetry';
import { servedBody } from '../../calls/prepare/sent-body.ts';
import { deniedReply } from '../../guardrails/guardrail-replies.ts';
import type { Guardrails } from '../../guardrails/guardrails.ts';
import type { HookRun } from '../../guardrails/hook-results.ts';
import type { UsageRecorder } from '../../usage/usage-recorder.ts';
import type { Step, TargetAnswer } from '../step.ts';
import { TargetHooksRun } from '../target-hooks-run.ts';
import { type TargetVisit, targetOf } from '../target-visit.ts';

export interface CheckInputParts {
  guardrails: Guardrails;
  recorder: UsageRecorder;
  logger: Logger;
}

/** Hooks before the call: they may change the body, or deny the request. */
export function checkInput(parts: CheckInputParts): Step {
  return {
    isNeeded: ({ hooks }) => hooks !== undefined,
    async run(visit, next) {
      const { exchange, planned } = visit;
      const target = targetOf(visit);
      if (planned.hooks === undefined) return next(visit);
      const body = visit.shaped ?? servedBody(exchange, target);
      visit.hooks = new TargetHooksRun(visit, target, planned.hooks, body, parts);
      const running = visit.hooks.before();
      if (running === undefined) return next(visit);
      const run = await running;
      if (run.denied) return deny(visit, run, parts);
      visit.shaped = run.request ?? visit.shaped;
      return next(visit);
    },
  };
}

/** Refused before any call: an answer all the same, since checks explain themselves. */
async function deny(
  visit: TargetVisit,
  run: HookRun,
  { recorder }: CheckInputParts,
): Promise<TargetAnswer> {
  const { progress, subject, arrival } = visit.exchange;
  visit.exchange.limits?.noteAnswered();
  progress.refusals++;
  progress.tries++;
  await recorder.refuse(visit.exchange, new GatewayError('guardrail.denied'), {
    path: visit.planned.path,
    visit,
  });
  const reply = deniedReply(subject.operation.id, arrival.requestIdText, run.results, []);
  return { status: reply.status, stops: false, reply, error: undefined };
}
