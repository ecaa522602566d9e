import { checkedSetting, modelSegment, requiredSetting } from '../../address.ts';
import type { CallFacts } from '../../call-facts.ts';
import type { JsonObject, ProviderEntry } from '../../contract.ts';
import { stringOf } from '../../json/json-access.ts';

/**
 * The tenant and the deployment stand in the path; the body's model is the
 * adapter on top of it, or empty. Models are named `deployment[:adapter]`.
 */
export const predibase: ProviderEntry = {
  id: 'predibase',
  name: 'Predibase',
  baseUrl: 'https://serving.app.predibase.com',
  auth: { type: 'bearer' },
  endpoints: {
    chatComplete: {
      format: 'openai-chat',
      path: (facts) =>
        `/${tenantOf(facts)}/deployments/v2/llms/${deploymentOf(facts.model)}/v1/chat/completions`,
      envelope: { wrap: nameAdapter },
    },
  },
  settings: ['predibase-tenant-id'],
  quirks: { clamp: { temperature: [0, 1], n: [1, 1] }, developerAsSystem: true },
  source: 'https://docs.predibase.com/user-guide/inference/migrate-openai, November 2026',
  note: 'The tenant is the setting predibase-tenant-id, or, with a key of the caller’s own, the user of the request.',
};

function nameAdapter(body: JsonObject): JsonObject {
  const model = String(body.model ?? '');
  return { ...body, model: model.slice(`${baseOf(model)}:`.length) };
}

function tenantOf({ setting, request, accountIsSettled }: CallFacts): string {
  const user = accountIsSettled === true ? undefined : stringOf(request?.user);
  return setting('predibase-tenant-id') === undefined && user !== undefined
    ? checkedSetting('predibase-tenant-id', user)
    : requiredSetting(setting, 'predibase-tenant-id');
}

function deploymentOf(model: string): string {
  return modelSegment(baseOf(model));
}

function baseOf(model: string): string {
  const colon = model.indexOf(':');
  return colon === -1 ? model : model.slice(0, colon);
}
