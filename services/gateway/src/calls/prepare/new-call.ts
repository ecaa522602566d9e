import type { PreparedCall, PreparedRequest } from '../../exchange/prepared-call.ts';
import type { ModelRequester } from '../../exchange/requester.ts';
import type { Target } from '../../exchange/target.ts';
import type { VisitNotes } from '../../exchange/visit.ts';

/** A request that is ready, with nothing reserved for it yet and nobody who looks at its answers. */
export function newCall(
  request: PreparedRequest,
  requester: ModelRequester,
  target: Target,
  notes: VisitNotes,
): PreparedCall {
  return {
    requester,
    target,
    notes,
    translation: request.translation,
    passesAs: request.passesAs,
    origin: request.origin,
    addressBy: request.addressBy,
    path: request.path,
    method: request.method,
    headers: request.headers,
    body: request.body,
    work: request.work,
    claims: request.claims,
    auth: request.auth,
    sentJson: request.sentJson,
    droppedParams: request.droppedParams,
    hidesUsage: request.hidesUsage,
    context: request.context,
    reservation: undefined,
    mustInspect: false,
    isJudged: false,
    inspect: undefined,
    lesson: undefined,
    hedgeKey: undefined,
    recovery: undefined,
  };
}
