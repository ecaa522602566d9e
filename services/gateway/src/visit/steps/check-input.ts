import { GatewayError } from '@sluice/errors';
import { servedBody } from '../../calls/prepare/sent-body.ts';
import { hooksOf } from '../../compiled/enforced-guardrails.ts';
import { sessionHooks } from '../../compiled/session-hooks.ts';
import { deniedReply } from '../../guardrails/guardrail-replies.ts';
import type { HookRun } from '../../guardrails/hook-results.ts';
import { softAnswer } from '../../guardrails/soft-denial.ts';
import type { UsageRecorder } from '../../usage/usage-recorder.ts';
import { type CheckedRequest, checkedRequest } from '../checked-request.ts';
import { deniedRequest } from '../denied-request.ts';
import type { Step, TargetAnswer } from '../step.ts';
import { type TargetHooksParts, TargetHooksRun } from '../target-hooks-run.ts';
import { type TargetVisit, targetOf } from '../target-visit.ts';

export interface CheckInputParts extends TargetHooksParts {
  recorder: UsageRecorder;
}

/** Hooks before the call: they may change the body, or deny the request. */
export function checkInput(parts: CheckInputParts): Step {
  return {
    isNeeded: ({ hooks }, isEnforced) => hooks !== undefined || isEnforced,
    async run(visit, next) {
      const { exchange, planned } = visit;
      const target = targetOf(visit);
      const all = hooksOf(planned, exchange.bundle?.enforced);
      if (all === undefined) return next(visit);
      refuseMissing(visit);
      const asked = readRequest(visit);
      // What is said in it is judged when it is said.
      const isOpened = exchange.subject.operation.reply === 'session';
      const hooks = isOpened && asked.unreadable === undefined ? sessionHooks(all).opening : all;
      visit.hooks = new TargetHooksRun(visit, target, hooks, asked, parts);
      const running = visit.hooks.before();
      if (running === undefined) return next(visit);
      const run = await running;
      if (run.request !== undefined && visit.hooks.restores)
        visit.loggedRequest = Buffer.from(JSON.stringify(run.request));
      if (run.denied) return deny(visit, run, parts);
      if (run.request === undefined) return next(visit);
      if (exchange.subject.operation.body !== 'raw') visit.shaped = run.request;
      else {
        const rebuilt = asked.rebuild?.(run.request);
        // What was taken out cannot be taken out of this body: nothing of it may go.
        if (rebuilt === undefined) return deny(visit, run, parts);
        visit.passedBody = rebuilt;
      }
      return next(visit);
    },
    async judge(visit) {
      refuseMissing(visit);
      const hooks = hooksOf(visit.planned, visit.exchange.bundle?.enforced);
      if (hooks === undefined) return;
      const run = new TargetHooksRun(visit, targetOf(visit), hooks, readRequest(visit), parts);
      const { request, ...judged } = await run.judge();
      visit.judgedHooks = judged;
      // What follows is judged by what would be sent.
      if (request !== undefined && visit.exchange.subject.operation.body !== 'raw')
        visit.shaped = request;
      const denying = judged.input.filter(
        ({ verdict, deny, async }) => verdict === false && deny && !async,
      );
      if (denying.length === 0) return;
      const error = new GatewayError('guardrail.denied');
      const isSoft = denying.every((hook) => hook.soft_deny_200 === true);
      throw isSoft && softAnswer(deniedRequest(visit), error.message) !== undefined
        ? new GatewayError('guardrail.denied', { status: 200 })
        : error;
    },
  };
}

/** @throws GatewayError where a guardrail is enforced that cannot be run */
function refuseMissing({ exchange }: TargetVisit): void {
  const [missing] = exchange.bundle?.enforced?.missing ?? [];
  if (missing !== undefined)
    throw new GatewayError('guardrail.not_in_force', {
      message: `A guardrail that every request must pass cannot be run: ${missing}.`,
    });
}

/** Only what is enforced looks at more than a config's own checks were ever given. */
function readRequest({ exchange, shaped, target }: TargetVisit): CheckedRequest {
  if (target === undefined) throw new Error('resolveTarget is the first step');
  if (exchange.bundle?.enforced !== undefined) return checkedRequest(exchange, target, shaped);
  const document = shaped ?? servedBody(exchange, target);
  return { document, unreadable: undefined, rebuild: undefined };
}

/** Refused before any call: an answer all the same, since checks explain themselves. */
async function deny(
  visit: TargetVisit,
  run: HookRun,
  { recorder }: CheckInputParts,
): Promise<TargetAnswer> {
  const { progress } = visit.exchange;
  const reply = deniedReply(deniedRequest(visit), run.results, []);
  visit.exchange.limits?.noteAnswered();
  progress.refusals++;
  progress.tries++;
  await recorder.refuse(
    visit.exchange,
    new GatewayError('guardrail.denied', { status: reply.status }),
    {
      path: visit.planned.path,
      visit,
    },
  );
  return { status: reply.status, stops: false, reply, error: undefined };
}
