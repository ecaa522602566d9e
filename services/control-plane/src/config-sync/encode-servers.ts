import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import type { SentToolPolicy, ToolPolicy } from '@sluice/contracts';
import { config } from '@sluice/proto-stubs';
import type { IntegrationPolicy } from '../tools/mcp-integrations/policy.ts';
import type { ShownAs } from '../tools/mcp-servers/shown-as.ts';
import type { AgentServerRow, McpServerRow } from './server-rows.ts';

type CapabilityMessage = MessageInitShape<typeof config.McpCapabilitySchema> & {
  type: string;
  name: string;
};

/**
 * A server as gateways hold it. Pure, like the rest of the bundle.
 * @param configurations of the integration, JSON with secrets in clear
 */
export function encodeMcpServer(row: McpServerRow, configurations: string): Uint8Array {
  const { integration } = row;
  const message = create(config.McpServerSchema, {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description ?? '',
    ...(integration === null
      ? {}
      : {
          integrationId: integration.id,
          integrationSlug: integration.slug,
          url: integration.url,
          transport: integration.transport,
          authType: integration.authType,
        }),
    configurationsJson: configurations,
    enabled: isOpen(row),
    usersAllowed: row.defaultUserAccess === 'allow',
    userAccess: accessOf(row),
    capabilities: capabilitiesOf(row),
    // What a merged server has is what its members let through.
    newCapabilities: integration?.newCapabilities ?? 'enabled',
    onDrift: integration?.onDrift ?? 'alert',
    members: membersOf(row),
    prefix: row.prefix,
    exposure: row.exposure,
    policyJson: policyOf(row),
  });
  return toBinary(config.McpServerSchema, message);
}

export function encodeAgentServer(row: AgentServerRow, configurations: string): Uint8Array {
  const { integration } = row;
  const off = new Map(row.skills.map(({ name, enabled }) => [name, enabled]));
  const open = new Map(integration.skills.map(({ name, enabled }) => [name, enabled]));
  const message = create(config.AgentServerSchema, {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description ?? '',
    integrationId: integration.id,
    integrationSlug: integration.slug,
    url: integration.url,
    protocol: integration.protocol,
    configurationsJson: configurations,
    enabled: isOpen(row),
    usersAllowed: row.defaultUserAccess === 'allow',
    userAccess: accessOf(row),
    skills: [...new Set([...open.keys(), ...off.keys()])].sort().map((id) => ({
      id,
      enabled: (open.get(id) ?? true) && (off.get(id) ?? true),
    })),
    cardJson: integration.agentCard === null ? '' : JSON.stringify(integration.agentCard),
  });
  return toBinary(config.AgentServerSchema, message);
}

/** An organisation's integration serves a workspace while it is open to it. */
function isOpen({ status, workspaceId, integration }: McpServerRow | AgentServerRow): boolean {
  if (status !== 'active') return false;
  if (integration === null) return true;
  if (integration.status !== 'active') return false;
  return integration.workspaceId === null
    ? integration.grants.some(({ enabled }) => enabled)
    : integration.workspaceId === workspaceId;
}

function accessOf({ userAccess }: McpServerRow | AgentServerRow): Record<string, boolean> {
  return Object.fromEntries(userAccess.map(({ userId, enabled }) => [userId, enabled]));
}

const bounds = ['request_timeout', 'request_timeout_max', 'max_result_bytes'] as const;

const checked = ['input_guardrails', 'output_guardrails'] as const;

/** Both levels of access and of guardrails hold, and the lower of two bounds; of all else what the server says counts. */
function policyOf({ policy, integration }: McpServerRow): string {
  const { access: wide, ...ofIntegration } = (integration?.policy ?? {}) as IntegrationPolicy;
  const { access: narrow, ...ofServer } = policy as ToolPolicy;
  const access = [wide, narrow].filter((each) => each !== undefined);
  const merged: SentToolPolicy = {
    ...ofIntegration,
    ...ofServer,
    ...Object.fromEntries(
      bounds.flatMap((name) => {
        const set = [ofIntegration[name], ofServer[name]].filter((each) => each !== undefined);
        return set.length === 0 ? [] : [[name, Math.min(...set)]];
      }),
    ),
    ...Object.fromEntries(
      checked.flatMap((name) => {
        const all = new Set([...(ofIntegration[name] ?? []), ...(ofServer[name] ?? [])]);
        return all.size === 0 ? [] : [[name, [...all]]];
      }),
    ),
    ...(access.length === 0 ? {} : { access }),
  };
  return Object.keys(merged).length === 0 ? '' : JSON.stringify(merged);
}

function membersOf({ members }: McpServerRow): { serverId: string; tools: string[] }[] {
  return (members as { server_id: string; tools?: string[] }[]).map(({ server_id, tools }) => ({
    serverId: server_id,
    tools: tools ?? [],
  }));
}

/** All that something was said of: offers of the integration, switches of the server, pins. */
function capabilitiesOf(row: McpServerRow): CapabilityMessage[] {
  const { integration } = row;
  const byDefault = integration === null || integration.newCapabilities === 'enabled';
  const named = new Map<string, CapabilityMessage>();
  const keyOf = (type: string, name: string) => `${type} ${name}`;
  const switches = new Map(row.capabilities.map((each) => [keyOf(each.type, each.name), each]));
  const add = (type: string, name: string, enabled: boolean, shown: ShownAs) => {
    const before = named.get(keyOf(type, name));
    named.set(keyOf(type, name), {
      ...before,
      type,
      name,
      // Two resources of one address are one: what is off under either name is off.
      enabled: enabled && before?.enabled !== false,
      ...(shown.renamed_to === undefined ? {} : { renamedTo: shown.renamed_to }),
      ...(shown.described_as === undefined ? {} : { description: shown.described_as }),
      ...(shown.fixed_arguments === undefined
        ? {}
        : { fixedArgumentsJson: JSON.stringify(shown.fixed_arguments) }),
      ...(shown.hidden_arguments === undefined ? {} : { hiddenArguments: shown.hidden_arguments }),
    });
  };
  for (const { type, name, address, enabled } of row.offered) {
    const own = switches.get(keyOf(type, name));
    switches.delete(keyOf(type, name));
    add(type, address ?? name, enabled && (own?.enabled ?? true), (own?.shown ?? {}) as ShownAs);
  }
  // Of what nobody has seen there yet.
  for (const { type, name, enabled, shown } of switches.values())
    add(type, name, enabled && byDefault, shown as ShownAs);
  for (const { type, name, pinnedHash, seenHash } of integration?.pins ?? []) {
    const known = named.get(keyOf(type, name)) ?? { type, name, enabled: byDefault };
    // One gateway saw it change: with block it waits for approval at all of them, whatever they saw before.
    const isHeld = integration?.onDrift === 'block' && seenHash !== null && seenHash !== pinnedHash;
    named.set(keyOf(type, name), { ...known, pin: isHeld ? '' : (pinnedHash ?? '') });
  }
  return [...named.values()].sort((a, b) => compare(a.type, b.type) || compare(a.name, b.name));
}

/** By code unit, so that the order is the same everywhere. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
