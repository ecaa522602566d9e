import type { McpCapabilityType } from '@sluice/contracts/admin';
import type { GuardedFetch } from '@sluice/outbound';
import { refuseUnstorableText } from '../../kernel/http/json-body.ts';
import { isObject } from '../../kernel/http/json-object.ts';
import type { Configurations } from '../registry/configurations.ts';
import type { Offer } from '../registry/offers-store.ts';
import { createMcpClient, type McpClient, McpFault } from './mcp-client.ts';

/** What a server says of itself. */
export interface Discovery {
  serverName: string | null;
  serverVersion: string | null;
  protocolVersion: string;
  capabilityFlags: Record<string, unknown>;
  offers: Offer[];
}

const timeoutMs = 20_000;
const bytesMax = 4 * 1024 * 1024;
const pagesMax = 50;
/** Of each type; nobody's model has use for more. */
const offersMax = 1_000;
const detailCharsMax = 64 * 1024;

const lists: readonly {
  type: McpCapabilityType;
  flag: string;
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

/**
 * Asks an MCP server what it is and what it offers.
 * @throws McpFault
 */
export async function discover(
  fetch: GuardedFetch,
  server: { url: string; transport: string; configurations: Configurations },
): Promise<Discovery> {
  if (server.transport === 'sse')
    throw new McpFault('Only servers that speak streamable HTTP can be asked from here.');
  const headers = {
    ...headersOf(server.configurations.custom_headers),
    ...headersOf(server.configurations.passthrough_header),
  };
  const client = createMcpClient({ fetch, url: server.url, headers, timeoutMs, bytesMax });
  try {
    const hello = await client.initialize();
    const flags = isObject(hello.capabilities) ? hello.capabilities : {};
    const info = isObject(hello.serverInfo) ? hello.serverInfo : {};
    const offers: Offer[] = [];
    for (const list of lists)
      if (flags[list.flag] !== undefined) offers.push(...(await listAll(client, list)));
    const found = {
      serverName: shortText(info.title) ?? shortText(info.name),
      serverVersion: shortText(info.version),
      protocolVersion: String(hello.protocolVersion).slice(0, 64),
      capabilityFlags: storable(flags),
      offers,
    };
    requireStorable(found);
    return found;
  } finally {
    await client.close();
  }
}

function headersOf(value: unknown): Record<string, string> {
  return isObject(value) ? (value as Record<string, string>) : {};
}

async function listAll(client: McpClient, list: (typeof lists)[number]): Promise<Offer[]> {
  const offers = new Map<string, Offer>();
  let cursor: unknown;
  for (let page = 0; page < pagesMax && offers.size < offersMax; page += 1) {
    const result = await client
      .request(list.method, cursor === undefined ? {} : { cursor })
      .catch((fault: unknown): Record<string, unknown> => {
        if (list.optional && fault instanceof McpFault && fault.status === undefined) return {};
        throw fault;
      });
    const items: unknown = result[list.field];
    for (const item of Array.isArray(items) ? items : [])
      if (isObject(item)) addOffer(offers, list.type, item);
    cursor = result.nextCursor;
    if (typeof cursor !== 'string' || cursor === '') break;
  }
  return [...offers.values()].slice(0, offersMax);
}

/** Names are not unique among resources: the second one of a name goes by its address. */
function addOffer(
  offers: Map<string, Offer>,
  type: McpCapabilityType,
  item: Record<string, unknown>,
): void {
  const name = [item.name, item.uri, item.uriTemplate].find(
    (text): text is string =>
      typeof text === 'string' && text !== '' && text.length <= 1024 && !offers.has(text),
  );
  if (name === undefined) return;
  const detail = {
    title: item.title,
    description: item.description,
    icons: item.icons,
    input_schema: item.inputSchema,
    output_schema: item.outputSchema,
    execution: item.execution,
    annotations: item.annotations,
    arguments: item.arguments,
    uri: item.uri,
    uri_template: item.uriTemplate,
    mime_type: item.mimeType,
    size: item.size,
  };
  offers.set(name, { type, name, detail: storable(detail) });
}

/** As it will be read again: JSON drops what is undefined. What is too large is not kept. */
function storable(value: Record<string, unknown>): Record<string, unknown> {
  const text = JSON.stringify(value);
  return text.length > detailCharsMax ? {} : JSON.parse(text);
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
