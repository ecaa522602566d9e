import { modelSegment, requiredSetting } from '../../address.ts';
import type { CallFacts, JsonObject, ProviderEntry } from '../../contract.ts';

/** `deployment:adapter`: the deployment stands in the path, the adapter in the body, empty for none. */
function split(model: string): { deployment: string; adapter: string } {
  const colon = model.indexOf(':');
  if (colon === -1) return { deployment: model, adapter: '' };
  return { deployment: model.slice(0, colon), adapter: model.slice(colon + 1) };
}

function path({ model, setting }: CallFacts): string {
  const tenant = requiredSetting(setting, 'predibase-tenant-id');
  const deployment = modelSegment(split(model).deployment);
  return `/${tenant}/deployments/v2/llms/${deployment}/v1/chat/completions`;
}

function nameAdapter(body: JsonObject): JsonObject {
  return { ...body, model: split(String(body.model ?? '')).adapter };
}

/** OpenAI's format, at an address of the tenant's deployment. */
export const predibase: ProviderEntry = {
  id: 'predibase',
  name: 'Predibase',
  baseUrl: 'https://serving.app.predibase.com',
  auth: { type: 'bearer' },
  endpoints: {
    chatComplete: { format: 'openai-chat', path, envelope: { wrap: nameAdapter } },
  },
  settings: ['predibase-tenant-id'],
  quirks: { developerAsSystem: true },
  source: 'https://docs.predibase.com/user-guide/inference/migrate-openai, November 2026',
};
