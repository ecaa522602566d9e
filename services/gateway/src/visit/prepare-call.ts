import type { JsonObject } from '@sluice/providers';
import type { CallRules } from '../calls/prepare/call-rules.ts';
import { newCall } from '../calls/prepare/new-call.ts';
import { prepareUnified } from '../calls/prepare/prepare-unified.ts';
import type { Visit } from '../exchange/exchange.ts';
import type { PreparedCall } from '../exchange/prepared-call.ts';
import type { Target } from '../exchange/target.ts';
import type { BatchParts } from './asking-batches.ts';
import { prepareProxy } from './prepare-proxy.ts';
import { prepareUnread } from './prepare-unread.ts';
import { TargetVisit } from './target-visit.ts';

/**
 * Turns a request and its target into one HTTP request. `shaped` is the body
 * after the config's parameters and transforming checks; undefined when none of
 * them changed it.
 * @throws GatewayError for hosts that may not be called and endpoints the provider lacks
 */
export function prepareCall(
  visit: Visit & { passedBody?: Buffer | undefined },
  target: Target,
  shaped: JsonObject | undefined,
  rules: CallRules & Partial<BatchParts>,
): PreparedCall {
  const { exchange } = visit;
  const { subject } = exchange;
  const request =
    subject.operation.body === 'raw'
      ? prepareProxy(exchange, target, rules, visit.passedBody, targetVisitIn(visit))
      : subject.isUnread === true
        ? prepareUnread(exchange, target, rules)
        : prepareUnified(exchange, target, shaped, rules);
  return newCall(request, exchange, target, visit);
}

function targetVisitIn(visit: Visit): TargetVisit | undefined {
  return visit instanceof TargetVisit ? visit : undefined;
}
