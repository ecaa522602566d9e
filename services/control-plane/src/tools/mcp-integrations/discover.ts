import { Client, type Implementation } from '@modelcontextprotocol/client';
import type { JsonValue } from '@sluice/contracts';
import type { McpCapabilityType } from '@sluice/contracts/admin';
import { pinOf } from '@sluice/mcp';
import type { GuardedFetch } from '@sluice/outbound';
import { z } from 'zod';
import { refuseUnstorableText } from '../../kernel/http/json-body.ts';
import { isObject } from '../../kernel/http/json-object.ts';
import type { Offer } from '../registry/offers-store.ts';
import type { Configurations } from '../registry/tables.ts';
import { type GuardedTransport, guardedTransport, statusFault } from './guarded-transport.ts';
import { faultOf, McpFault } from './mcp-fault.ts';
import { definitionCharsMax, detailOf, keyOf, offerNameOf, storable } from './offer-of.ts';
import type { Seen } from './pins/findings.ts';

/** What a server says of itself. */
export interface Discovery {
  serverName: string | null;
  serverVersion: string | null;
  protocolVersion: string;
  capabilityFlags: Record<string, unknown>;
  offers: Offer[];
  /** The same as definitions, for pins. */
  seen: Seen[];
  /** Types of which it is all there is. */
  completeTypes: McpCapabilityType[];
}

const timeoutMs = 20_000;
const bytesMax = 4 * 1024 * 1024;
const pagesMax = 50;
/** Of each type; nobody's model has use for more. */
const offersMax = 1_000;

const lists: readonly {
  type: McpCapabilityType;
  flag: 'tools' | 'prompts' | 'resources';
  method: string;
  field: string;
  /** Servers that announce the flag need not know this one. */
  optional?: true;
}[] = [
  { type: 'tool', flag: 'tools', method: 'tools/list', field: 'tools' },
  { type: 'prompt', flag: 'prompts', method: 'prompts/list', field: 'prompts' },
  { type: 'resource', flag: 'resources', method: 'resources/list', field: 'resources' },
  {
    type: 'resource_template',
    flag: 'resources',
    method: 'resources/templates/list',
    field: 'resourceTemplates',
    optional: true,
  },
];

/** As it comes: what the SDK's own shapes do not know would be missing from the hash. */
const anyResult = z.looseObject({});

/**
 * Asks an MCP server what it is and what it offers, in whichever era it lives.
 * @throws McpFault
 */
export async function discover(
  fetch: GuardedFetch,
  server: {
    url: string;
    transport: string;
    configurations: Configurations;
    token?: string | undefined;
  },
): Promise<Discovery> {
  const { url, transport, configurations, token } = server;
  const deadline = AbortSignal.timeout(timeoutMs);
  const headers = {
    ...(token === undefined
      ? headersOf(configurations.custom_headers)
      : { authorization: `Bearer ${token}` }),
    ...headersOf(configurations.passthrough_header),
  };
  const guarded = guardedTransport({ fetch, url, transport, headers, bytesMax, signal: deadline });
  const { signal } = guarded;
  const client = new Client(
    { name: 'sluice', version: '1' },
    // The transport of 2024-11-05 is older than the question.
    transport === 'sse' ? {} : { versionNegotiation: { mode: 'auto' } },
  );
  try {
    const asking = async () => {
      await client.connect(guarded.transport, { timeout: timeoutMs, signal });
      return ask(client, signal);
    };
    const found = await unlessEnded(asking(), signal);
    requireStorable(found);
    return found;
  } catch (error) {
    throw toldOf(error, guarded, deadline);
  } finally {
    await end(client, guarded);
  }
}

/** Not every wait of the SDK's ends with the signal. */
function unlessEnded<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  return Promise.race([work, ended]).finally(() => signal.removeEventListener('abort', onAbort));
}

async function ask(client: Client, signal: AbortSignal): Promise<Discovery> {
  const flags = client.getServerCapabilities() ?? {};
  const info: Partial<Implementation> = client.getServerVersion() ?? {};
  const found: Discovery = {
    serverName: shortText(info.title) ?? shortText(info.name),
    serverVersion: shortText(info.version),
    protocolVersion: String(client.getNegotiatedProtocolVersion() ?? '').slice(0, 64),
    capabilityFlags: storable(flags as Record<string, unknown>),
    offers: [],
    seen: [],
    completeTypes: [],
  };
  for (const list of lists)
    if (flags[list.flag] !== undefined) await listAll(client, list, found, signal);
  return found;
}

async function listAll(
  client: Client,
  { type, method, field, optional }: (typeof lists)[number],
  { offers, seen, completeTypes }: Discovery,
  signal: AbortSignal,
): Promise<void> {
  const names = new Set<string>();
  const keys = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax && names.size < offersMax; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const result: Record<string, unknown> = await client
      .request({ method, params }, anyResult, { timeout: timeoutMs, signal })
      .catch((error: unknown) => {
        if (optional && rpcCodeOf(error) !== undefined) return {};
        throw error;
      });
    const items: unknown = result[field];
    for (const item of Array.isArray(items) ? items : []) {
      if (!isObject(item) || names.size >= offersMax) continue;
      const name = offerNameOf(item, (each) => names.has(each));
      if (name === undefined) continue;
      names.add(name);
      offers.push({ type, name, detail: detailOf(item) });
      const key = keyOf(type, item);
      if (key === undefined || keys.has(key)) continue;
      keys.add(key);
      seen.push(seenOf(type, key, item));
    }
    const next = result.nextCursor;
    if (typeof next !== 'string' || next === '') {
      completeTypes.push(type);
      return;
    }
    cursor = next;
  }
}

function seenOf(type: McpCapabilityType, name: string, item: Record<string, unknown>): Seen {
  const isLarge = JSON.stringify(item).length > definitionCharsMax;
  return { type, name, hash: pinOf(item as JsonValue), definition: isLarge ? undefined : item };
}

/** Ends the session; a server that minds is not listened to. */
async function end(client: Client, { transport }: GuardedTransport): Promise<void> {
  try {
    if ('terminateSession' in transport && transport.sessionId !== undefined)
      await transport.terminateSession();
  } catch {
    // Servers may refuse to end sessions, and forget them by themselves.
  }
  await client.close().catch(() => undefined);
}

/** Nothing that the server said is repeated: whoever asks may not be allowed to read it. */
function toldOf(error: unknown, { fault }: GuardedTransport, deadline: AbortSignal): McpFault {
  if (error instanceof McpFault) return error;
  if (deadline.aborted) return new McpFault('The server did not answer in time.', undefined, error);
  const known = fault();
  if (known !== undefined) return known;
  const code = rpcCodeOf(error);
  if (code !== undefined) return new McpFault(`The server refused with the error ${code}.`);
  const status = statusOf(error);
  if (status !== undefined) return statusFault(status);
  if (error instanceof SyntaxError)
    return new McpFault('The server answered with something that is no JSON.', undefined, error);
  return faultOf(error);
}

/** Of an error that the server answered with. */
function rpcCodeOf(error: unknown): number | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'number' && Number.isInteger(code) ? code : undefined;
}

function statusOf(error: unknown): number | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { status, data } = each as { status?: unknown; data?: unknown };
    if (typeof status === 'number') return status;
    if (isObject(data) && typeof data.status === 'number') return data.status;
  }
  return undefined;
}

function headersOf(value: unknown): Record<string, string> {
  return isObject(value) ? (value as Record<string, string>) : {};
}

function shortText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, 255) : null;
}

function requireStorable(found: Discovery): void {
  try {
    refuseUnstorableText(found);
  } catch (error) {
    throw new McpFault('The server sent text that cannot be stored.', undefined, error);
  }
}
