import { errorsOf } from '@sluice/contracts';
import { keptAnswers } from '@sluice/providers';
import type { Visit } from '../exchange/exchange.ts';
import type { DeniedRequest } from '../guardrails/soft-denial.ts';

/** What a denial of this visit's request is told by. */
export function deniedRequest({ exchange, target }: Visit): DeniedRequest {
  const { subject, arrival } = exchange;
  const { operation } = subject;
  return {
    endpoint: operation.id,
    errors: errorsOf(operation, subject.pathname),
    requestId: arrival.requestIdText,
    model: subject.model,
    wantsStream: subject.wantsStream,
    asksForUsage: keptAnswers(operation.format).asksForUsage(subject.json ?? {}),
    isStrict: target?.strictOpenAiCompliance !== false,
    nowMs: Date.now(),
  };
}
