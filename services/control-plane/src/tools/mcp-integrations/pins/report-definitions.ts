import type { McpCapabilityType } from '@sluice/contracts/admin';
import { jsonBounds, readJsonText } from '@sluice/json';
import type { config } from '@sluice/proto-stubs';
import { systemEntry } from '../../../kernel/audit/system-entry.ts';
import { commitChange } from '../../../kernel/database/change.ts';
import type { DatabaseClient } from '../../../kernel/database/client.ts';
import { refuseUnstorableText } from '../../../kernel/http/json-body.ts';
import { isObject } from '../../../kernel/http/json-object.ts';
import { isUuid } from '../../../kernel/names/ids.ts';
import { definitionCharsMax } from '../offer-of.ts';
import type { Seen } from './findings.ts';
import { recordSeen, saysSomethingNew } from './record-seen.ts';

/** In one report. */
const seenMax = 500;
/** Nothing waits longer at a gateway. */
const ageMsMax = 3_600_000;
const types: ReadonlySet<string> = new Set(['tool', 'prompt', 'resource', 'resource_template']);

/** Keeps what a gateway saw in a server's lists. What is unusable of it is left out: there is nobody to tell. */
export async function reportDefinitions(
  { client, now }: { client: DatabaseClient; now: Date },
  request: config.ReportDefinitionsRequest,
): Promise<void> {
  const { organisationId, integrationId } = request;
  if (!isUuid(organisationId) || !isUuid(integrationId)) return;
  const where = { organisationId, id: integrationId };
  const integration = await client.mcpIntegration.findFirst({ where });
  if (integration === null) return;
  const seen = request.seen.slice(0, seenMax).flatMap(readSeen);
  const named = request.completeTypes.length > 0 ? request.completeTypes : seen.map((s) => s.type);
  const completeTypes = request.isComplete ? [...new Set(named)].filter(isType) : [];
  const seenAt = new Date(now.getTime() - Math.min(request.ageMs, ageMsMax));
  const told = { completeTypes, seenAt };
  if (!(await saysSomethingNew(client, integration, seen, told))) return;
  // Nobody's change: it happened at the server.
  const entry = systemEntry({
    organisationId,
    timestamp: now,
    method: 'PUT',
    uri: 'definitions that a server listed',
    resourceType: 'mcp_integrations',
    action: 'discover',
  });
  await commitChange(client, entry, async (change) => {
    // Another gateway may have said the same meanwhile.
    const present = await change.db.mcpIntegration.findFirst({ where });
    if (present !== null) await recordSeen(change, present, seen, { ...told, now });
  });
}

function isType(type: string): type is McpCapabilityType {
  return types.has(type);
}

function readSeen({ type, name, hash, definitionJson }: config.SeenDefinition): Seen[] {
  if (!isType(type) || name === '' || name.length > 1024 || !/^[0-9a-f]{64}$/.test(hash)) return [];
  try {
    refuseUnstorableText(name);
  } catch {
    return [];
  }
  return [{ type, name, hash, definition: readDefinition(definitionJson) }];
}

function readDefinition(text: string): Record<string, unknown> | undefined {
  if (text === '' || text.length > definitionCharsMax) return undefined;
  try {
    const definition = readJsonText(text, jsonBounds.small);
    refuseUnstorableText(definition);
    return isObject(definition) ? definition : undefined;
  } catch {
    return undefined;
  }
}
