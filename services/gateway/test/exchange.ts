import type { Readable } from 'node:stream';
import { create, toBinary } from '@bufbuild/protobuf';
import { type Endpoint, operations } from '@sluice/contracts';
import { config } from '@sluice/proto-stubs';
import { uuidText } from '@sluice/usage';
import { type CompiledBundle, compileBundle } from '../src/compiled/compiled-bundle.ts';
import { type ResolvedKey, resolvedKey } from '../src/compiled/resolved-key.ts';
import { uncountedBytes } from '../src/exchange/arrived-request.ts';
import { type ModelExchange, openExchange } from '../src/exchange/exchange.ts';
import type { Reply } from '../src/exchange/reply.ts';
import { modelCall } from '../src/exchange/subject.ts';
import { emptyTables } from '../src/held/sections/index.ts';
import { readCallerHeaders } from '../src/http/caller-headers.ts';
import { uuidV7 } from '../src/usage/uuid.ts';

export function exampleKey(over: Partial<config.Key> = {}): ResolvedKey {
  return resolvedKey(
    'ab'.repeat(32),
    create(config.KeySchema, {
      id: 'key-1',
      name: 'A key',
      type: config.KeyType.WORKSPACE_SERVICE,
      organisationId: 'org-1',
      workspaceId: 'ws-1',
      scopes: ['completions.write'],
      allowConfigOverride: true,
      ...over,
    } as never),
  );
}

/** A control plane that knows no more than the gateway. */
export const noneNewer = { after: async () => undefined };

export function exampleBundle(
  over: Partial<config.Bundle> = {},
  saved: readonly Partial<config.Config>[] = [],
): CompiledBundle {
  const tables = emptyTables();
  for (const each of saved)
    tables.configs.add(toBinary(config.ConfigSchema, create(config.ConfigSchema, each as never)));
  const source = create(config.BundleSchema, {
    organisationId: 'org-1',
    workspaceId: 'ws-1',
    workspaceSlug: 'ws-team',
    hash: 'h1',
    ...over,
  } as never);
  return compileBundle({ source, ...tables });
}

export interface ExampleRequest {
  headers?: Record<string, string>;
  body?: string | Buffer;
  isProxy?: boolean;
  endpoint?: Endpoint;
  method?: string;
  pathname?: string;
  search?: string;
  bodyStream?: () => Readable;
  key?: ResolvedKey;
  bundle?: CompiledBundle;
}

/** A request as the stages find it, without a socket. */
export function exampleExchange(request: ExampleRequest = {}): ModelExchange {
  const headers = request.headers ?? {};
  const caller = readCallerHeaders(headers);
  const requestId = uuidV7(1_700_000_000_000);
  const pathname = request.pathname ?? '/v1/chat/completions';
  const search = request.search ?? '';
  const arrival = {
    method: request.method ?? 'POST',
    pathname,
    search,
    headers,
    caller,
    requestId,
    requestIdText: uuidText(requestId),
    traceId: 'trace',
    startedAt: performance.now(),
    startedAtMs: 1_700_000_000_000,
    signal: new AbortController().signal,
    callerAddress: () => '192.0.2.1',
    readBody: async () => Buffer.from(request.body ?? ''),
    holdBytes: () => true,
    holdApart: () => uncountedBytes,
    bodyStream:
      request.bodyStream ??
      (() => {
        throw new Error('this request has no stream');
      }),
  };
  const operation =
    operations[request.isProxy === true ? 'proxy' : (request.endpoint ?? 'chatComplete')];
  const exchange = openExchange(arrival, modelCall(operation, pathname, search));
  exchange.key = request.key;
  exchange.bundle = request.bundle;
  return exchange;
}

export const exampleReply: Reply = {
  kind: 'body',
  status: 200,
  headers: {},
  body: Buffer.from('{}'),
};

/** The code of the GatewayError that this throws, and the field it names. */
export async function refusal(work: () => unknown): Promise<{ code: string; field?: string }> {
  try {
    await work();
  } catch (error) {
    const { code, field } = error as { code: string; field?: string };
    return field === undefined ? { code } : { code, field };
  }
  return { code: 'none' };
}
