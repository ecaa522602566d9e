import { isObject } from '@sluice/mcp';
import type { JsonObject, JsonValue } from '@sluice/providers';

const kinds: ReadonlySet<unknown> = new Set(['mcp_call', 'mcp_approval_request', 'mcp_list_tools']);

/** OpenAI's own: `mcp_68a6102d8948819c9b1490d36d5ffa4a0679e572a900e618`, as its reference of responses shows them. */
const vendorsId = /^mcp[rl]?_[0-9a-f]{40,}$/;

/** An item of `/v1/responses` that tells of a tool which the gateway ran, and no provider. */
export function isOwnToolItem(item: JsonValue): item is JsonObject {
  if (!isObject(item) || !kinds.has(item.type)) return false;
  const { id, server_label: label } = item;
  return typeof id === 'string' && typeof label === 'string' && !vendorsId.test(id);
}
