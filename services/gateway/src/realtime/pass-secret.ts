import { GatewayError } from '@sluice/errors';
import { type JsonObject, objectOf } from '@sluice/providers';
import type { CallRules } from '../calls/prepare/call-rules.ts';
import type { SessionKind } from '../exchange/asked-session.ts';
import { RequestLimits } from '../limits/request-limits.ts';
import type { Step } from '../visit/step.ts';
import { targetOf } from '../visit/target-visit.ts';
import { isOfBeta } from './read-secret-request.ts';
import { preparePost } from './session-call.ts';
import { writeSession } from './session-document.ts';

/**
 * In the place of `mintSecret`, where an operator wants that: the request for a secret of the provider's own. What is said
 * with one is seen by nobody here, so whoever has a limit gets none, and its record says so.
 */
export function prepareVendorSecret(rules: CallRules): Step {
  return {
    run(visit, next) {
      const { exchange } = visit;
      const target = targetOf(visit);
      if (!RequestLimits.areNone(exchange) || (target.saved?.counters.length ?? 0) > 0)
        throw new GatewayError('limit.unmetered');
      exchange.metadata = { ...exchange.metadata, _category: 'realtime', _unmetered: 'true' };
      const { asked, secret, operation } = exchange.subject;
      if (asked === undefined || secret === undefined) throw new Error('the request is read first');
      const { model } = target;
      const body = isOfBeta(exchange)
        ? withModel(secret.body, asked.kind, model)
        : { ...secret.body, session: writeSession({ ...asked, model }) };
      const content = { type: 'application/json', body: Buffer.from(JSON.stringify(body)) };
      const path = operation.at.slice(operation.at.indexOf('/v1/') + 3);
      visit.prepared = preparePost(exchange, target, visit, { path, content }, rules);
      return next(visit);
    },
  };
}

/** In the words of the beta, as they came. */
function withModel(flat: JsonObject, kind: SessionKind, model: string): JsonObject {
  if (model === '') return flat;
  if (kind !== 'transcription') return { ...flat, model };
  const transcription = objectOf(flat.input_audio_transcription);
  return { ...flat, input_audio_transcription: { ...transcription, model } };
}
