import type { AnswerOf, BodyOf, QueryOf } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import type { McpPin, Prisma } from '../../../generated/prisma/client.ts';
import { actorOf } from '../../../kernel/access/caller.ts';
import type { Database } from '../../../kernel/database/client.ts';
import { noJson } from '../../../kernel/database/no-json.ts';
import type { AdminRequest } from '../../../kernel/http/operation.ts';
import { instant, optionalInstant, paged, withMore } from '../../../kernel/http/shapes.ts';
import { changeReached, reachIntegration } from '../../registry/integrations.ts';
import { mcpKind } from '../kind.ts';
import type { McpRegistry } from '../operations.ts';
import { differences } from './difference.ts';

type Shown = AnswerOf<'mcp-integrations.pins.list'>['data'][number];

/** What was approved of a server's definitions beside what it lists now. */
export async function listPins(
  call: AdminRequest,
  reference: string,
  query: QueryOf<'mcp-integrations.pins.list'>,
): Promise<AnswerOf<'mcp-integrations.pins.list'>> {
  const { id: integrationId } = await reachIntegration(call, call.db, mcpKind, reference);
  const where: Prisma.McpPinWhereInput = {
    integrationId,
    type: query.type,
    ...inState(call.db, query.state),
  };
  const [rows, total] = await Promise.all([
    call.db.mcpPin.findMany({
      where,
      orderBy: [{ type: 'asc' }, { name: 'asc' }],
      ...paged(query),
    }),
    call.db.mcpPin.count({ where }),
  ]);
  return withMore(rows.map(presentPin), total, query);
}

function inState(db: Database, state: Shown['state'] | undefined): Prisma.McpPinWhereInput {
  // Null is neither the same as a hash nor another.
  const isAsSeen = { pinnedHash: { equals: db.mcpPin.fields.seenHash } };
  switch (state) {
    case 'approved':
      return isAsSeen;
    case 'drifted':
      return { NOT: isAsSeen, pinnedHash: { not: null }, seenHash: { not: null } };
    case 'new':
      return { pinnedHash: null };
    case 'gone':
      return { pinnedHash: { not: null }, seenHash: null };
    default:
      return {};
  }
}

function stateOf({ pinnedHash, seenHash }: McpPin): Shown['state'] {
  if (pinnedHash === null) return 'new';
  if (seenHash === null) return 'gone';
  return pinnedHash === seenHash ? 'approved' : 'drifted';
}

function presentPin(row: McpPin): Shown {
  const state = stateOf(row);
  return {
    type: row.type as Shown['type'],
    name: row.name,
    state,
    pinned_hash: row.pinnedHash,
    seen_hash: row.seenHash,
    pinned_definition: row.pinnedDefinition as Shown['pinned_definition'],
    seen_definition: row.seenDefinition as Shown['seen_definition'],
    difference: state === 'drifted' ? differences(row.pinnedDefinition, row.seenDefinition) : [],
    findings: row.findings as unknown as Shown['findings'],
    pinned_by: row.pinnedBy,
    pinned_at: optionalInstant(row.pinnedAt),
    last_seen_at: instant(row.seenAt),
  };
}

/**
 * Approves definitions as they were seen: whoever approves names the hash, so
 * that nothing is approved that came after it was looked at.
 */
export function approvePins(
  call: AdminRequest,
  registry: McpRegistry,
  reference: string,
  { pins }: BodyOf<'mcp-integrations.pins.update'>,
): Promise<void> {
  return changeReached(call, registry, reference, async ({ db, describe }, row) => {
    const approved: object[] = [];
    for (const [index, { type, name, hash }] of pins.entries()) {
      const field = `body.pins[${index}]`;
      const where = { integrationId_type_name: { integrationId: row.id, type, name } };
      const pin = await db.mcpPin.findUnique({ where });
      if (pin === null) throw invalidField(`${field}.name`, `is no ${type} that was seen there`);
      if (pin.seenHash !== hash)
        throw new GatewayError('admin.refused', {
          field: `${field}.hash`,
          message: `${type} ${name.slice(0, 100)} is not as it was when its hash was ${hash.slice(0, 12)}….`,
        });
      await db.mcpPin.update({
        where,
        data: {
          pinnedHash: hash,
          pinnedDefinition:
            pin.seenDefinition === null ? noJson : (pin.seenDefinition as Prisma.InputJsonObject),
          pinnedBy: actorOf(call.caller),
          pinnedAt: call.now,
        },
      });
      approved.push({ type, name, hash, before: pin.pinnedHash });
    }
    describe({ detail: { slug: row.slug, approved } });
    return row;
  });
}
