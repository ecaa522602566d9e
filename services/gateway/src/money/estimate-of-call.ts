import type { PreparedCall } from '../exchange/prepared-call.ts';
import type { UseEstimates } from './estimate-use.ts';
import type { EstimatedUse } from './estimated-use.ts';

/** Of what is sent, as its limits hold it: with the parameters of its config. */
export function estimateOfCall(
  { requester: { subject }, target, context }: PreparedCall,
  estimates: UseEstimates,
): EstimatedUse {
  // What flows through unread is not read here either.
  return estimates.of(subject, target, subject.json === undefined ? undefined : context.request);
}
