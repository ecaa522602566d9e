import { create, toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import { type CompiledBundle, compileBundle } from '../src/compiled/compiled-bundle.ts';
import { type ResolvedKey, resolvedKey } from '../src/compiled/resolved-key.ts';
import type { Exchange, Reply } from '../src/exchange/exchange.ts';
import { emptyTables } from '../src/held/bundle-tables.ts';
import { readCallerHeaders } from '../src/http/caller-headers.ts';
import { uuidText, uuidV7 } from '../src/usage/uuid.ts';

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
  endpoint?: Exchange['route']['endpoint'];
  method?: string;
  pathname?: string;
  key?: ResolvedKey;
  bundle?: CompiledBundle;
}

/** A request as the stages find it, without a socket. */
export function exampleExchange(request: ExampleRequest = {}): Exchange {
  const headers = request.headers ?? {};
  const caller = readCallerHeaders(headers);
  const requestId = uuidV7(1_700_000_000_000);
  return {
    route: { endpoint: request.endpoint ?? 'chatComplete', isProxy: request.isProxy ?? false },
    method: request.method ?? 'POST',
    pathname: request.pathname ?? '/v1/chat/completions',
    search: '',
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
    bodyStream: () => {
      throw new Error('this request has no stream');
    },
    key: request.key,
    bundle: request.bundle,
    metadata: caller.metadata,
    isSavedOnly: false,
    config: undefined,
    prompt: undefined,
    limits: undefined,
    limitStates: [],
    body: undefined,
    json: undefined,
    form: undefined,
    model: '',
    wantsStream: false,
    isRouting: false,
    target: undefined,
    attempts: 0,
    refusals: 0,
    tries: 0,
    stoppedBy: undefined,
    waitedMs: 0,
    retryCount: 0,
    cacheStatus: 'DISABLED',
    decisionJson: '',
    hookVerdicts: [],
    summary: undefined,
  };
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
