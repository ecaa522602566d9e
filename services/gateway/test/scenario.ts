import { setTimeout as delay } from 'node:timers/promises';
import {
  eventually,
  startStack,
  startUpstream,
  type TestStack,
  type TestStackOptions,
  type Upstream,
} from '@sluice/testkit';

/** A running Sluice, an upstream of the test's own, and the few calls that most tests make. */
export interface Scenario {
  stack: TestStack;
  upstream: Upstream;
  /** `POST /v1/chat/completions` at our upstream, with the workspace key. */
  chat(options?: CallOptions): Promise<Response>;
  call(path: string, options?: CallOptions): Promise<Response>;
  /** The admin API, with the admin key. Fails on anything but 200. */
  admin<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T>;
  /** Requests in the ledger since the scenario began. */
  ledgerTotal(): Promise<number>;
  /** More than a quiet ledger gathers records for before it stores them. */
  readonly gatheredMs: number;
  stop(): Promise<void>;
}

export interface CallOptions {
  method?: string;
  gateway?: number;
  key?: string;
  body?: unknown;
  rawBody?: RequestInit['body'];
  headers?: Record<string, string>;
  /** Where the request is sent to; null = leave provider selection to the test. */
  host?: string | null;
  signal?: AbortSignal;
}

/** On a busy machine Redis, too, may be silent for a while. */
const patience = { LIMIT_STORE_TIMEOUT: '5000' };
export const patientStore = { gateway: patience, 'gateway-2': patience, 'gateway-3': patience };

/** Each mode of running that the same suite must pass in. */
export const modes: [string, TestStackOptions][] = [
  ['embedded', {}],
  ['NATS and Redis', { nats: true, redis: true, environment: patientStore }],
];

export const chatBody = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };

export const chatReply = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'gpt-4o-mini-2024-07-18',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'Hi there' }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 },
};

export async function startScenario(options: TestStackOptions = {}): Promise<Scenario> {
  const startedAt = new Date(Date.now() - 1000).toISOString();
  const [stack, upstream] = await Promise.all([startStack(options), startUpstream()]);
  const { credentials } = stack;
  const insertIntervalMs = Number(options.environment?.['data-service']?.INSERT_INTERVAL ?? 0);

  const call: Scenario['call'] = (path, over = {}) => {
    const host = over.host === undefined ? `${upstream.url}/v1` : over.host;
    const { method = 'POST' } = over;
    return fetch(`${stack.gatewayUrls[over.gateway ?? 0]}${path}`, {
      method,
      signal: over.signal,
      redirect: 'manual',
      headers: {
        'x-service-api-key': over.key ?? credentials.workspace_key,
        ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
        ...(host === null
          ? {}
          : {
              'x-service-provider': 'openai',
              'x-service-custom-host': host,
              authorization: 'Bearer sk-upstream',
            }),
        ...over.headers,
      },
      body: over.rawBody ?? (method === 'GET' ? undefined : JSON.stringify(over.body ?? chatBody)),
    });
  };

  const admin: Scenario['admin'] = async <T>(method: string, path: string, body?: unknown) => {
    const response = await fetch(`${stack.gatewayUrls[0]}/v1${path}`, {
      method,
      headers: { 'x-service-api-key': credentials.admin_key, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (response.status !== 200)
      throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };

  return {
    stack,
    upstream,
    call,
    chat: (over) => call('/v1/chat/completions', over),
    admin,
    gatheredMs: Math.max(insertIntervalMs, options.promptLedger === true ? 500 : 1_000) + 500,
    async ledgerTotal() {
      const query = new URLSearchParams({
        time_of_generation_min: startedAt,
        time_of_generation_max: new Date(Date.now() + 60_000).toISOString(),
        workspace_slug: credentials.workspace_slug,
      });
      return (
        await admin<{ summary: { total: number } }>('GET', `/analytics/graphs/requests?${query}`)
      ).summary.total;
    },
    async stop() {
      await stack.stop();
      await upstream.close();
    },
  };
}

/** Waits until the ledger holds so many requests: more than that, too, is an error in the end. */
export async function ledgerHolds(
  scenario: Scenario,
  total: number,
  timeoutMs?: number,
): Promise<void> {
  await eventually(
    async () => {
      const found = await scenario.ledgerTotal();
      if (found !== total) throw new Error(`the ledger holds ${found} of ${total}`);
    },
    { timeoutMs, intervalMs: 200 },
  );
}

interface ToldError {
  code: string | number;
  param?: string | null;
  message: string;
  /** As Google has them. */
  details?: { metadata?: { code: string }; fieldViolations?: { field: string }[] }[];
}

/** The code of a gateway error, in whose words it is told. */
export async function errorOf(
  response: Response,
): Promise<{ status: number; code: string; param: string | null; message: string }> {
  const { error } = (await response.json()) as { error?: ToldError };
  const [info, ...further] = error?.details ?? [];
  const field = further.flatMap(({ fieldViolations = [] }) => fieldViolations)[0]?.field;
  return {
    status: response.status,
    code: info?.metadata?.code ?? String(error?.code ?? ''),
    param: field ?? error?.param ?? null,
    message: error?.message ?? '',
  };
}

/**
 * The ledger’s total once it stops moving: the gateway has handed over all that it has, and what was handed over
 * has had the time that a quiet ledger gathers records for before it writes them.
 */
export async function settledTotal(scenario: Scenario): Promise<number> {
  let last = -1;
  for (;;) {
    await eventually(async () => (await unsentSeconds(scenario)) === 0);
    const total = await scenario.ledgerTotal();
    if (total === last) return total;
    last = total;
    await delay(scenario.gatheredMs);
  }
}

async function unsentSeconds({ stack }: Scenario): Promise<number> {
  const metrics = await (await fetch(stack.gatewayMetricsUrl)).text();
  return Number(/^sluice_outbox_oldest_seconds\{[^}]*\} (.*)$/m.exec(metrics)?.[1]);
}
