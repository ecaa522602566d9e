import { type BodyOf, besideAdvice } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import { readKeySet } from '@sluice/jwt';
import { isObject } from '../../kernel/http/json-object.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import {
  changeIntegration,
  changeReached,
  createIntegration,
  deleteIntegration,
  reachIntegration,
} from '../registry/integrations.ts';
import { updateIntegration } from '../registry/integrations-store.ts';
import { replaceOffers } from '../registry/offers-store.ts';
import type { Registry, RegistryParts } from '../registry/registry.ts';
import { type Asked, askServer } from './ask-server.ts';
import { mcpKind } from './kind.ts';
import type { McpTypes } from './mcp-types.ts';
import { recordSeen } from './pins/record-seen.ts';
import { type IntegrationPolicy, integrationPolicy, requirePolicyGuardrails } from './policy.ts';

export type McpRegistry = Registry<McpTypes>;

export function mcpRegistry(parts: RegistryParts): McpRegistry {
  return { ...parts, kind: mcpKind };
}

export function createMcpIntegration(
  call: AdminRequest,
  registry: McpRegistry,
  body: BodyOf<'mcp-integrations.create'>,
) {
  refuseCommands(call);
  warnOfKeys(call.notes, body.configurations);
  return createIntegration(
    call,
    registry,
    body,
    {
      transport: body.transport,
      newCapabilities: body.new_capabilities,
      onDrift: body.on_drift,
      policy: integrationPolicy({}, body),
    },
    ({ db }, row) => requirePolicyGuardrails(db, row, body.policy),
  );
}

/** What was found at another address says nothing of this one. */
export function changeMcpIntegration(
  call: AdminRequest,
  registry: McpRegistry,
  reference: string,
  body: BodyOf<'mcp-integrations.update'>,
): Promise<void> {
  refuseCommands(call);
  warnOfKeys(call.notes, body.configurations);
  const changed = {
    transport: body.transport,
    newCapabilities: body.new_capabilities,
    onDrift: body.on_drift,
    ...(body.url === undefined ? {} : { syncStatus: 'pending', syncError: null }),
  };
  return changeIntegration(
    call,
    registry,
    reference,
    body,
    (row) => ({ ...changed, policy: integrationPolicy(row.policy as IntegrationPolicy, body) }),
    ({ db }, row) => requirePolicyGuardrails(db, row, body.policy),
  );
}

/** What starts a process, among settings of any name. */
const commandFields = ['command', 'args', 'env'] as const;

function refuseCommands({ body }: AdminRequest): void {
  const settings = isObject(body) ? body.configurations : undefined;
  const field = isObject(settings) && commandFields.find((name) => settings[name] !== undefined);
  if (field) throw invalidField(`body.configurations.${field}`, besideAdvice);
}

/** Tokens of users are verified by keys that gateways can read; without one nobody is let in. */
function warnOfKeys(
  { warnings }: AdminRequest['notes'],
  configurations: BodyOf<'mcp-integrations.update'>['configurations'],
): void {
  const jwks = configurations?.jwt_validation?.jwks;
  if (jwks == null) return;
  const field = 'body.configurations.jwt_validation.jwks';
  const { keys, faults } = readKeySet(jwks) ?? { keys: [], faults: [] };
  const [first] = faults;
  if (keys.length > 0)
    for (const { index, reason } of faults.slice(0, faultsTold))
      warnings.push(`${field}.keys[${index}]: does nothing: ${reason}`);
  else
    warnings.push(
      `${field}: no call is let in: it has no key that can be used${first === undefined ? '' : `; keys[${first.index}] ${first.reason}`}`,
    );
}

const faultsTold = 20;

/** Asks the server, and keeps what it says: who it is, what it offers, or why it did not answer. */
/** With its servers; what users signed in with there is revoked at the server that gave it. */
export async function deleteMcpIntegration(
  call: AdminRequest,
  registry: McpRegistry,
  reference: string,
): Promise<void> {
  let revoke = async () => {};
  await deleteIntegration(call, registry, reference, async (row) => {
    revoke = await registry.connections.revocableOfAll(row);
  });
  await revoke();
}

export async function testIntegration(
  call: AdminRequest,
  registry: McpRegistry,
  reference: string,
): Promise<Asked['answer']> {
  const asked = await reachIntegration(call, call.db, mcpKind, reference);
  const { answer, found } = await askServer(registry, asked);
  await changeReached(call, registry, asked.id, async (change, row) => {
    const { db, describe } = change;
    describe({ detail: { slug: row.slug, success: answer.success } });
    // Somebody gave it another address meanwhile: the answer is about the old one.
    if (row.url !== asked.url) return row;
    if (found === undefined)
      return updateIntegration(db, mcpKind, row.id, {
        syncStatus: 'failed',
        syncError: answer.error,
      });
    const { offers, seen, completeTypes, capabilityFlags, ...server } = found;
    const enabled = row.newCapabilities === 'enabled';
    await replaceOffers(db, mcpKind, row.id, offers, { now: call.now, enabled });
    await recordSeen(change, row, seen, { completeTypes, seenAt: call.now, now: call.now });
    return updateIntegration(db, mcpKind, row.id, {
      ...server,
      capabilityFlags: capabilityFlags as Record<string, never>,
      syncStatus: 'synced',
      syncError: null,
      lastSyncedAt: call.now,
    });
  });
  return answer;
}
