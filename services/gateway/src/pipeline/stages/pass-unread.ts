import type { ResolvedTarget } from '@sluice/engine';
import { expectModelCall, type ModelExchange } from '../../exchange/exchange.ts';
import { nitroRefused } from '../../exchange/nitro-refused.ts';
import type { Stage } from '../pipeline.ts';

/** Of which the whole body is the provider's. */
const passing: ReadonlySet<string> = new Set([
  'chatComplete',
  'embed',
  'messages',
  'createModelResponse',
]);

/**
 * In the place of reading the body: whatever would have to look at it refuses,
 * so that nothing is got round by not being read. What only a target can tell
 * is refused there (`visit/prepare-unread.ts`, `visit/steps/reserve.ts`).
 * @throws GatewayError `request.nitro_refused`
 */
export const passUnread: Stage = (exchange, next) => {
  expectModelCall(exchange);
  const { subject, bundle, arrival, config } = exchange;
  if (!passing.has(subject.operation.id))
    throw nitroRefused(
      'x-service-nitro-mode',
      'it is for chat completions, embeddings, messages and responses',
    );
  if (bundle?.enforced !== undefined)
    throw nitroRefused('x-service-nitro-mode', 'guardrails are enforced here');
  if (arrival.caller.maxCostNanoUsd !== undefined)
    throw nitroRefused('x-service-max-cost', 'what an unread request may cost is not known');
  if (arrival.caller.provider?.includes('/') === true)
    throw nitroRefused('x-service-provider', 'it names a model, which would have to be written in');
  refuseByPolicies(exchange);
  if (config !== undefined) {
    const { targets, strategyMode, keepsResponses } = config.compiled;
    const [target] = targets;
    if (targets.length > 1 || strategyMode !== 'single')
      throw nitroRefused('config.strategy', 'one provider is asked');
    if (keepsResponses) throw nitroRefused('config', 'responses are kept by the service');
    if (target !== undefined) refuseByTarget(target);
  }
  subject.isUnread = true;
  return next();
};

/** What a config asks of its target that takes a body to do. */
const needing: readonly (readonly [
  member: string,
  isAsked: (target: ResolvedTarget) => boolean,
])[] = [
  ['retry', ({ retry }) => retry !== undefined && retry.attempts > 0],
  ['hedge', ({ hedge }) => hedge !== undefined],
  ['hooks', ({ hooks }) => hooks !== undefined],
  ['override_params', ({ overrideParams }) => overrideParams !== undefined],
  ['default_params', ({ defaultParams }) => defaultParams !== undefined],
  ['drop_params', ({ dropParams }) => dropParams !== undefined],
  ['prompt_id', ({ promptId }) => promptId !== undefined],
  ['adapt', ({ adapts }) => adapts === true],
  ['recover_streams', ({ recoversStreams }) => recoversStreams === true],
  ['stream_usage', ({ asksStreamUsage }) => asksStreamUsage === true],
  ['cache_prefix', ({ cachePrefix }) => cachePrefix !== undefined],
  ['provider', ({ provider }) => provider?.includes('/') === true],
];

function refuseByTarget(target: ResolvedTarget): void {
  for (const [member, isAsked] of needing)
    if (isAsked(target)) throw nitroRefused(`${target.path}.${member}`, 'it needs the body');
}

/** The model stands in the body, and so may the end user. */
function refuseByPolicies({ bundle, metadata }: ModelExchange): void {
  for (const policies of [bundle?.requestPolicies, bundle?.targetPolicies]) {
    if (policies?.looksAt('model') === true)
      throw nitroRefused('body.model', 'a limit goes by models');
    if (metadata._user === undefined && policies?.looksAt('metadata._user') === true)
      throw nitroRefused('body.user', 'a limit goes by users: name it in x-service-metadata');
  }
}
