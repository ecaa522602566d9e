import type { AnswerOf } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import { jsonBounds, readJson } from '@sluice/json';
import type { GuardedFetch, GuardedReply } from '@sluice/outbound';
import {
  authHeaders,
  baseUrlOf,
  type CallFacts,
  type EndpointEntry,
  findProvider,
  type ProviderEntry,
  pathOf,
  readSettings,
} from '@sluice/providers';
import type { Credentials } from './configurations.ts';

type Tested = AnswerOf<'integrations.test'>;
type Cause = string;

const timeoutMs = 10_000;
const bytesMax = 4_000_000;
const modelsShown = 100;
const causeCharsMax = 200;

/**
 * Asks a provider for its models, as the stored credential would. Where it has no such list, or its authorisation is made
 * by gateways (clouds), only its host is asked, and nothing of the credential is sent. @throws nothing that the provider did
 */
export async function testIntegration(
  { aiProviderId, slug }: { aiProviderId: string; slug: string },
  { key, configurations }: Credentials,
  fetch: GuardedFetch,
  signal: AbortSignal,
): Promise<Tested> {
  const startedAt = performance.now();
  const asked = (said: Omit<Tested, 'object' | 'slug' | 'latency_ms'>): Tested => ({
    object: 'integration-test',
    slug,
    latency_ms: Math.round(performance.now() - startedAt),
    ...said,
  });
  const provider = findProvider(aiProviderId);
  if (provider === undefined)
    return asked({ reachable: false, tested: 'host', cause: 'not_configured' });
  const entry = modelList(provider);
  const tested = entry === undefined ? 'host' : 'models';
  try {
    const url = addressOf(provider, entry, configurations);
    const custom = configurations.custom_headers as Record<string, string> | undefined;
    const credential = { apiKey: key ?? '', configurations };
    const headers =
      entry === undefined ? {} : { ...authHeaders(provider, credential, {}, entry), ...custom };
    const reply = await fetch(url, {
      timeoutMs,
      bytesMax,
      headers,
      signal,
      field: 'configurations.custom_host',
    });
    return asked({ ...judge(reply, tested), tested });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const message = error.message.slice(0, causeCharsMax);
    return asked({ reachable: false, tested, cause: causeOf(error), message });
  }
}

/** Where a provider lists its models to whoever has a key that is sent as it is. */
function modelList(provider: ProviderEntry): EndpointEntry | undefined {
  const entry = provider.endpoints.listModels;
  if (entry === undefined || 'choose' in entry || (entry.method ?? 'GET') !== 'GET')
    return undefined;
  return madeByGateways.has((entry.auth ?? provider.auth).type) ? undefined : entry;
}

/** They need clocks, keys and tokens. */
const madeByGateways: ReadonlySet<string> = new Set(['aws', 'google', 'azure', 'oci']);

function addressOf(
  provider: ProviderEntry,
  entry: EndpointEntry | undefined,
  configurations: Credentials['configurations'],
): string {
  const facts: CallFacts = {
    model: '',
    stream: false,
    setting: readSettings(provider, configurations, {}),
  };
  const { custom_host: customHost } = configurations;
  const base =
    typeof customHost === 'string' && customHost !== ''
      ? customHost.replace(/\/+$/, '')
      : baseUrlOf(provider, entry, facts);
  return entry === undefined ? new URL(base).origin : base + pathOf(entry, facts);
}

/** Of what came nothing is told but the names of models. */
function judge(
  { status, body }: GuardedReply,
  tested: Tested['tested'],
): Pick<Tested, 'reachable' | 'cause' | 'status' | 'models' | 'models_total'> {
  // Any word of HTTP will do where only the host was asked.
  if (tested === 'host') return { reachable: true, status };
  const cause = causeOfStatus(status);
  if (cause !== undefined) return { reachable: false, status, cause };
  const models = modelsIn(body);
  if (models === undefined) return { reachable: false, status, cause: 'unreadable' };
  return {
    reachable: true,
    status,
    models: models.slice(0, modelsShown),
    models_total: models.length,
  };
}

function causeOfStatus(status: number): Cause | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status < 400) return 'redirected';
  return byStatus[status] ?? (status < 500 ? 'rejected' : 'failed');
}

const byStatus: Readonly<Record<number, Cause>> = {
  401: 'unauthorised',
  403: 'unauthorised',
  404: 'not_found',
  429: 'rate_limited',
};

function causeOf({ code, failureCause }: GatewayError): Cause {
  if (code.startsWith('host.')) return 'blocked';
  if (code.startsWith('provider.')) return 'not_configured';
  if (failureCause !== undefined) return failureCause;
  return code === 'upstream.response_too_large' ? 'unreadable' : 'unreachable';
}

/** Ids of the list, as most providers spell it; of Gemini `models[].name`. */
function modelsIn(body: Buffer): string[] | undefined {
  let parsed: unknown;
  try {
    parsed = readJson(body, jsonBounds.reply);
  } catch {
    return undefined;
  }
  const { data, models } = (typeof parsed === 'object' && parsed !== null ? parsed : {}) as Record<
    string,
    unknown
  >;
  const list = Array.isArray(parsed) ? parsed : (data ?? models);
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((each: unknown) => {
    const { id, name } = (typeof each === 'object' && each !== null ? each : {}) as Record<
      string,
      unknown
    >;
    const named = id ?? name;
    return typeof named === 'string' ? [named.slice(0, 256)] : [];
  });
}
