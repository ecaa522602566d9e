import { type CallContext, type JsonObject, travellingHeader } from '@sluice/providers';
import { uuidText } from '@sluice/usage';
import type { ModelRequester } from '../../exchange/requester.ts';
import type { Target } from '../../exchange/target.ts';
import type { CallRules } from './call-rules.ts';

/** What translations look at beside the body. */
export function contextOf(
  requester: ModelRequester,
  target: Target,
  request: JsonObject,
  { modelOverrides, keptSignatures }: CallRules,
): CallContext {
  return {
    provider: target.entry,
    hasCustomHost: target.customHost !== undefined,
    strictOpenAiCompliance: target.strictOpenAiCompliance,
    nowMs: requester.arrival.startedAtMs,
    // Written out for the answers alone that have none. An accessor would make each context a dictionary.
    answerId: () => uuidText(requester.arrival.requestId),
    model: target.model,
    stream: request.stream === true,
    setting: target.setting,
    sentHeader: (name) =>
      target.customHeaders[name] ?? travellingHeader(target.entry, target.setting, name),
    betas: requester.arrival.caller.betas,
    accountIsSettled: target.credentialBy === 'admin',
    request,
    modelOverrides,
    keptSignatures,
    owner: requester.bundle?.source.workspaceId,
    cachePrefix: target.planned.cachePrefix,
    ...(requester.subject.form === undefined ? {} : { form: requester.subject.form }),
  };
}
