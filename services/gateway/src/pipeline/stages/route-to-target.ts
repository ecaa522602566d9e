import { describeDecision, directConfig, walkPlan } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import { stopOf } from '../../calls/request-bounds.ts';
import {
  type Exchange,
  expectModelCall,
  lastVisit,
  limitStatesOf,
  type ModelExchange,
} from '../../exchange/exchange.ts';
import { discard, type Reply } from '../../exchange/reply.ts';
import { addLimitHeaders } from '../../limits/refusal.ts';
import type { OwnerNotes } from '../../owners/owner-notes.ts';
import { planForOwner } from '../../owners/route-to-owner.ts';
import { type PlanDeps, planRequest } from '../../routing/plan-request.ts';
import { type RecoverParts, RecoverStream } from '../../visit/recover-stream.ts';
import type { TargetAnswer } from '../../visit/step.ts';
import { resolveTarget } from '../../visit/targets/resolve-target.ts';
import { visitTarget } from '../../visit/visit-target.ts';
import type { Stage } from '../pipeline.ts';

export interface RouteParts extends RecoverParts {
  plan: PlanDeps;
  owners: OwnerNotes;
  /** Files and jobs may be made by configs of several targets. */
  skipsTargetCheck: boolean;
  metrics: RecoverParts['metrics'] & {
    /** Another target was asked after this one. */
    fellBack(): void;
  };
}

/** Innermost: plans all choices, then asks the plan's targets one after the other. */
export function routeToTarget(parts: RouteParts): Stage {
  return async (exchange) => {
    expectModelCall(exchange);
    if (!parts.skipsTargetCheck) refuseSeveralTargets(exchange);
    exchange.isRouting = true;
    exchange.contentFormat = parts.content?.formatFor(exchange) ?? '';
    const owned = planForOwner(exchange, parts.owners, resolveTarget);
    const ofOwner = owned instanceof Promise ? await owned : owned;
    const planning = ofOwner ?? planRequest(exchange, parts.plan);
    const plan = planning instanceof Promise ? await planning : planning;
    const decision = describeDecision(exchange.config?.compiled ?? directConfig, plan);
    exchange.decisionJson =
      exchange.subject.isUnread === true ? `{"nitro":true,${decision.slice(1)}` : decision;
    const { progress } = exchange;
    const walk = walkPlan<TargetAnswer>(plan.root);
    let step = walk.next();
    while (step.done !== true) {
      if (step.value.recoversStreams === true && exchange.subject.wantsStream)
        exchange.recovery ??= new RecoverStream(exchange, plan.root, parts);
      const visit = await visitTarget(exchange, step.value, parts);
      step = walk.next(visit);
      if (step.done === true) break;
      progress.stoppedBy = stopOf(progress, exchange.arrival.startedAt, parts.bounds);
      if (progress.stoppedBy !== undefined) {
        await noteStop(exchange, step.value.path, parts);
        return answer(exchange, visit);
      }
      discard(visit.reply);
      parts.metrics.fellBack();
    }
    if (progress.stoppedBy !== undefined) await noteStop(exchange, lastPath(exchange), parts);
    return answer(exchange, step.value);
  };
}

/** What is made of one another – a file, a batch over it – is of use at one provider alone. */
const madeAtOne: ReadonlySet<string | undefined> = new Set([
  'files',
  'uploads',
  'batches',
  'message batches',
  'fine-tuning jobs',
]);

/** @throws GatewayError `request.invalid_field` */
function refuseSeveralTargets({ subject: { operation }, config }: ModelExchange): void {
  if (operation.about !== 'object' || operation.objects.makes === undefined) return;
  if (!madeAtOne.has(operation.of) || operation.repeat !== 'fresh') return;
  if ((config?.compiled.targets.length ?? 0) <= 1) return;
  throw new GatewayError('request.invalid_field', {
    field: 'x-service-config',
    message:
      'Maximum one target is allowed for batch, file and fine-tuning requests: name a provider, or a config of one.',
  });
}

/** The bounds ended the request: a record says so at the target that would have come next. */
async function noteStop(exchange: Exchange, path: string, parts: RouteParts): Promise<void> {
  exchange.progress.refusals++;
  const { attemptsMax, routingTimeoutMs } = parts.bounds;
  const error = new GatewayError('gateway.attempts_spent', {
    detail: { stopped_by: exchange.progress.stoppedBy, attemptsMax, routingTimeoutMs },
  });
  await parts.recorder.refuse(exchange, error, { path, visit: undefined }).catch(() => {
    // The disk refuses; what was tried is recorded, and the header says the rest.
  });
}

function lastPath(exchange: Exchange): string {
  return lastVisit(exchange)?.planned.path ?? '';
}

const stoppedHeader = 'x-service-routing-stopped';

function answer(exchange: Exchange, { reply, error }: TargetAnswer): Reply {
  if (reply === undefined) throw withStop(exchange, error);
  if (exchange.progress.stoppedBy !== undefined)
    reply.headers[stoppedHeader] = exchange.progress.stoppedBy;
  const states = limitStatesOf(exchange);
  if (states.length > 0) addLimitHeaders(reply.headers, states, exchange.arrival.startedAtMs);
  return reply;
}

/** The last error, which also says that no more was tried. */
function withStop({ progress: { stoppedBy } }: Exchange, error: GatewayError | undefined): Error {
  if (error === undefined) return new Error('a visit ends in a reply or an error');
  if (stoppedBy === undefined) return error;
  return new GatewayError(error.code, {
    ...error,
    message: error.message,
    cause: error.cause,
    headers: { ...error.headers, [stoppedHeader]: stoppedBy },
  });
}
