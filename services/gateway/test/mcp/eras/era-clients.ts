import {
  Client as NewerClient,
  StreamableHTTPClientTransport as NewerTransport,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ResultSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

export type Json = Record<string, unknown>;

export interface CallOptions {
  readonly onprogress?: (progress: { progress: number; total?: number }) => void;
  readonly signal?: AbortSignal;
}

/** A client of any era, as a host uses it. */
export interface EraClient {
  /** What it heard without asking: `log …`, `tools changed`, `updated …`; and what it was asked. */
  readonly heard: string[];
  identity(): Json;
  request(method: string, params: Json, options?: CallOptions): Promise<Json>;
  /** Wants to be told of changes of tools and of one resource. */
  subscribe(uri: string): Promise<void>;
  close(): Promise<void>;
}

export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** In place of fetch: to ask gateways in turn. */
  readonly fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>;
}

const info = { name: 'stranger', version: '1' };
const roots = [{ uri: 'file:///work', name: 'work' }];

const logLevel = 'io.modelcontextprotocol/logLevel';

export const eraClients = {
  'SDK 1.32': connectOlder,
  'client 2.4': (target: Target) => connectNewer(target, undefined),
  'client 2.4, auto': (target: Target) => connectNewer(target, 'auto'),
  'client 2.4, pinned': (target: Target) => connectNewer(target, { pin: '2026-07-28' }),
};

export type ClientName = keyof typeof eraClients;

async function connectOlder({ url, headers, fetch }: Target): Promise<EraClient> {
  const heard: string[] = [];
  const client = new Client(info, {
    capabilities: { sampling: {}, elicitation: {}, roots: { listChanged: true } },
  });
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => sampled(params, heard));
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => elicited(params, heard));
  client.setRequestHandler(ListRootsRequestSchema, () => listed(heard));
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    heard.push(`log ${params.level} ${String(params.data)}`);
  });
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    heard.push('tools changed');
  });
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    heard.push(`updated ${params.uri}`);
  });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch,
    requestInit: { headers },
  });
  await client.connect(transport);
  if (client.getServerCapabilities()?.logging !== undefined) await client.setLoggingLevel('info');
  return {
    heard,
    identity: () => identityOf(client),
    request: (method, params, options) =>
      client.request({ method, params }, ResultSchema, options as object),
    async subscribe(uri) {
      await client.subscribeResource({ uri });
    },
    async close() {
      await transport.terminateSession();
      await client.close();
    },
  };
}

async function connectNewer(
  { url, headers, fetch }: Target,
  mode: 'auto' | { pin: string } | undefined,
): Promise<EraClient> {
  const heard: string[] = [];
  const client = new NewerClient(info, {
    capabilities: { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } },
    ...(mode === undefined ? {} : { versionNegotiation: { mode } }),
  });
  client.setRequestHandler('sampling/createMessage', ({ params }) => sampled(params, heard));
  client.setRequestHandler('elicitation/create', ({ params }) => elicited(params, heard));
  client.setRequestHandler('roots/list', () => listed(heard));
  client.setNotificationHandler('notifications/message', ({ params }) => {
    heard.push(`log ${params.level} ${String(params.data)}`);
  });
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    heard.push('tools changed');
  });
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    heard.push(`updated ${params.uri}`);
  });
  const transport = new NewerTransport(new URL(url), { fetch, requestInit: { headers } });
  await client.connect(transport);
  const isNewer = client.getProtocolEra() === 'modern';
  if (!isNewer && client.getServerCapabilities()?.logging !== undefined)
    await client.setLoggingLevel('info');
  return {
    heard,
    identity: () => identityOf(client),
    // The newer era has the level of logs with each request.
    request: (method, params, options) =>
      client.request(
        {
          method,
          params: isNewer ? { ...params, _meta: { [logLevel]: 'info' } } : params,
        } as never,
        options as object,
      ) as Promise<Json>,
    async subscribe(uri) {
      if (isNewer) await client.listen({ toolsListChanged: true, resourceSubscriptions: [uri] });
      else await client.subscribeResource({ uri });
    },
    async close() {
      if (!isNewer) await transport.terminateSession();
      await client.close();
    },
  };
}

function identityOf(client: Client | NewerClient): Json {
  return {
    server: client.getServerVersion(),
    instructions: client.getInstructions(),
    capabilities: client.getServerCapabilities(),
  };
}

function sampled({ messages }: { messages: readonly unknown[] }, heard: string[]) {
  const [message] = messages as { content: { text: string } }[];
  heard.push(`asked to sample ${message?.content.text}`);
  const content = { type: 'text' as const, text: `sampled ${message?.content.text}` };
  return { role: 'assistant' as const, model: 'm', content };
}

function elicited({ message }: { message: string }, heard: string[]) {
  heard.push(`asked ${message}`);
  return { action: 'accept' as const, content: { name: 'Ada' } };
}

function listed(heard: string[]) {
  heard.push('asked for roots');
  return { roots };
}
