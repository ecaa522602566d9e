import type { JsonObject, JsonValue } from '@sluice/contracts';
import { McpFault, type McpRequest, type McpResponse, rpcCodes } from '@sluice/mcp';
import { type CompiledMcpServer, capabilityKey } from '../compiled/mcp-servers.ts';
import type { McpCall } from './mcp-call.ts';

/** What a method is about, as capabilities have it. */
const typeOfMethod: Readonly<Record<string, string>> = {
  'tools/call': 'tool',
  'prompts/get': 'prompt',
  'resources/read': 'resource',
  'resources/subscribe': 'resource',
  'resources/unsubscribe': 'resource',
};

const listed = [
  ['tools', 'tool', 'name'],
  ['prompts', 'prompt', 'name'],
  ['resources', 'resource', 'uri'],
  ['resourceTemplates', 'resource_template', 'uriTemplate'],
] as const;

function isEnabled(server: CompiledMcpServer, type: string, name: string): boolean {
  return server.capabilities.get(capabilityKey(type, name))?.source.enabled ?? server.allowsNew;
}

/** @throws McpFault when the caller may not ask this */
export function expectAllowed({ server }: Omit<McpCall, 'reply'>, asked: McpRequest): void {
  const { method, subject } = asked;
  const type = typeOfMethod[method];
  if (type === undefined || subject === undefined || isEnabled(server, type, subject)) return;
  throw new McpFault({
    status: 200,
    code: rpcCodes.invalidParams,
    message: `${type[0]?.toUpperCase()}${type.slice(1)} '${subject}' is disabled`,
    idText: asked.idText,
  });
}

/** A list without what the caller may not use; undefined = it has all that came. */
export function withoutDenied({ server }: McpCall, reply: McpResponse): Buffer | undefined {
  const result: Record<string, JsonValue> = { ...reply.result } as Record<string, JsonValue>;
  let isChanged = false;
  for (const [member, type, field] of listed) {
    const items = result[member];
    if (!Array.isArray(items)) continue;
    const kept = items.filter((item) => {
      const name = (item as JsonObject | null)?.[field];
      return typeof name === 'string' && isEnabled(server, type, name);
    });
    if (kept.length === items.length) continue;
    result[member] = kept;
    isChanged = true;
  }
  if (!isChanged) return undefined;
  return Buffer.from(JSON.stringify({ ...reply.document, result }));
}
