import { createHash } from 'node:crypto';
import { toBinary } from '@bufbuild/protobuf';
import type { SentToolPolicy } from '@sluice/contracts';
import { compileToolRules } from '@sluice/engine';
import { config } from '@sluice/proto-stubs';
import type { JsonObject } from '@sluice/providers';
import { readObject } from './read-object.ts';
import type { Table } from './tables.ts';

/** An MCP server of a workspace made ready for requests. What is not said here is as it is in `source`. */
export interface CompiledMcpServer {
  readonly source: config.McpServer;
  /** As in the admin API, with secrets in clear. */
  readonly configurations: JsonObject;
  /** By `capabilityKey`. */
  readonly capabilities: ReadonlyMap<string, CompiledCapability>;
  /** Whether what is not in `capabilities` may be used. */
  readonly allowsNew: boolean;
  readonly isMerged: boolean;
  readonly policy: SentToolPolicy;
  /** The policy cannot be read by this release: nothing may be used. */
  readonly policyIsUnread: boolean;
  /** Tells one set of pins of its integration from another. */
  readonly pins: string;
  /** Tells one state of the server from another: what is held of it is held of that state. */
  readonly version: string;
  /** Tells what callers are shown of it: the same as long as nothing of that is another. */
  readonly shown: string;
}

export interface CompiledCapability {
  readonly source: config.McpCapability;
  /** Undefined = none are fixed. */
  readonly fixedArguments: JsonObject | undefined;
}

/** @param name of a resource its URI, of a template its URI template */
export function capabilityKey(type: string, name: string): string {
  return `${type} ${name}`;
}

/** Messages of a table stay the same objects while they are in use. */
const compiled = new WeakMap<config.McpServer, CompiledMcpServer>();

/** By slug or id; undefined = the workspace has no such server. */
export function findMcpServer(
  table: Table<config.McpServer>,
  reference: string,
): CompiledMcpServer | undefined {
  const source = table.get(reference);
  if (source === undefined) return undefined;
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const made = compileMcpServer(source);
  compiled.set(source, made);
  return made;
}

type Policy = Pick<CompiledMcpServer, 'policy' | 'policyIsUnread'>;

function readPolicy(text: string): Policy {
  const read = readObject(text);
  const policy: SentToolPolicy = read ?? {};
  try {
    for (const { rules } of policy.access ?? [])
      compileToolRules(rules ?? [], 'policy.access.rules');
    return { policy, policyIsUnread: text !== '' && read === undefined };
  } catch {
    // A control plane of the next release may know fields that this one does not.
    return { policy, policyIsUnread: true };
  }
}

function pinsOf({ capabilities }: config.McpServer): string {
  const pins = createHash('sha256');
  for (const { type, name, pin } of capabilities)
    if (pin !== '') pins.update(`${type} ${name} ${pin}\n`);
  return pins.digest('base64url').slice(0, 16);
}

function compileMcpServer(source: config.McpServer): CompiledMcpServer {
  return {
    source,
    configurations: readObject(source.configurationsJson) ?? {},
    capabilities: new Map(
      source.capabilities.map((capability) => [
        capabilityKey(capability.type, capability.name),
        { source: capability, fixedArguments: readObject(capability.fixedArgumentsJson) },
      ]),
    ),
    // A word that this release does not know allows nothing.
    allowsNew: source.newCapabilities === 'enabled',
    isMerged: source.integrationId === '',
    ...readPolicy(source.policyJson),
    pins: pinsOf(source),
    version: digestOf(source),
    shown: digestOf({ ...source, capabilities: source.capabilities.flatMap(shownOf(source)) }),
  };
}

function digestOf(source: config.McpServer): string {
  return createHash('sha256').update(toBinary(config.McpServerSchema, source)).digest('base64url');
}

/** Of a row of a server's capabilities what callers see; nothing where it only notes what was seen. */
function shownOf({ onDrift, newCapabilities }: config.McpServer) {
  const isShown = newCapabilities === 'enabled';
  return (row: config.McpCapability): config.McpCapability[] => {
    // Nothing is held back for a pin.
    const shown = onDrift === 'alert' ? { ...row, pin: '' } : row;
    const { pin, enabled, renamedTo, description, fixedArgumentsJson, hiddenArguments } = shown;
    const says = pin + renamedTo + description + fixedArgumentsJson;
    return enabled === isShown && says === '' && hiddenArguments.length === 0 ? [] : [shown];
  };
}
