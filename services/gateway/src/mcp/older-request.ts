import { type McpRequest, MessageEdit, metaKeys } from '@sluice/mcp';

const modernMeta = [
  metaKeys.protocolVersion,
  metaKeys.clientCapabilities,
  metaKeys.clientInfo,
  metaKeys.logLevel,
];

/** The request under an id of ours, without what only the newer era has. */
export function asOlder(asked: McpRequest, id: string): Buffer {
  const edit = new MessageEdit(asked).setId(JSON.stringify(id));
  for (const name of modernMeta)
    if (asked.meta?.[name] !== undefined) edit.setMeta(name, undefined);
  // Callers of one session may have chosen the same.
  if (asked.progressToken !== undefined) edit.setMeta('progressToken', id);
  return edit.bytes();
}
