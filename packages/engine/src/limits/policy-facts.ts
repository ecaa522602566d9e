import type { RequestFacts, TargetFacts } from '../facts.ts';

/** Conditions and groups that depend on the chosen target. */
export const targetKeys: ReadonlySet<string> = new Set(['provider', 'virtual_key', 'model']);

/** Case and surrounding spaces do not make another counter. */
export function fold(value: string): string {
  return value.trim().toLowerCase();
}

/**
 * All that a request says to a key, as it stands: to a policy that looks at
 * nothing else, requests that say the same are the same.
 */
export function saidTo(
  key: string,
  request: RequestFacts,
  target: TargetFacts | undefined,
): string {
  switch (key) {
    case 'workspace_id':
      return part(request.workspaceId) + part(request.workspaceSlug);
    case 'organisation_id':
      return part(request.organisationId);
    case 'api_key':
      return part(request.apiKeyId) + part(request.apiKeySlug);
    case 'endpoint_type':
      return part(request.endpoint) + (request.passesThrough === true ? '+' : '');
    case 'config':
      return part(request.configSlug);
    case 'prompt':
      return part(request.promptSlug);
    case 'mcp_server':
      return parts(request.mcpServers);
    case 'mcp_tool':
      return parts(request.mcpTools);
    case 'provider':
    case 'virtual_key':
    case 'model':
      return part(target?.provider) + part(target?.providerSlug) + part(target?.model);
    default:
      return key.startsWith('metadata.')
        ? part(request.metadata[key.slice('metadata.'.length)])
        : '';
  }
}

function parts(values: readonly string[] = none): string {
  return `${values.length}=${values.map(part).join('')}`;
}

/** With its length before it, so that no text can be taken for two. */
function part(value: string | undefined): string {
  return value === undefined ? '-' : `${value.length}:${value}`;
}

/** The spellings under which a policy may name a value, folded. Empty = the request has none. */
export function candidatesOf(
  key: string,
  request: RequestFacts,
  target: TargetFacts | undefined,
): readonly string[] {
  switch (key) {
    case 'workspace_id':
      return [fold(request.workspaceId), fold(request.workspaceSlug)];
    case 'organisation_id':
      return [fold(request.organisationId)];
    case 'api_key':
      return [fold(request.apiKeyId), fold(request.apiKeySlug)];
    case 'endpoint_type':
      return request.passesThrough === true
        ? [fold(request.endpoint), 'proxy']
        : [fold(request.endpoint)];
    case 'config':
      return present(request.configSlug);
    case 'prompt':
      return present(request.promptSlug);
    case 'mcp_server':
      return request.mcpServers?.map(fold) ?? none;
    case 'mcp_tool':
      return request.mcpTools?.map(fold) ?? none;
    case 'provider':
      return present(target?.provider);
    case 'virtual_key':
      return present(target?.providerSlug);
    case 'model':
      return modelSpellings(target);
    default:
      return key.startsWith('metadata.')
        ? present(request.metadata[key.slice('metadata.'.length)])
        : none;
  }
}

const none: readonly string[] = [];

function present(value: string | undefined): readonly string[] {
  return value === undefined || value === '' ? none : [fold(value)];
}

/** `@saved-slug/model`, `@provider/model` and the bare name. */
function modelSpellings(target: TargetFacts | undefined): readonly string[] {
  if (target?.model === undefined) return none;
  const model = fold(target.model);
  const spellings = [`@${fold(target.provider)}/${model}`, model];
  if (target.providerSlug !== undefined)
    spellings.unshift(`@${fold(target.providerSlug)}/${model}`);
  return spellings;
}
