import { hash } from 'node:crypto';
import type { JsonObject, JsonValue } from '@sluice/providers';
import type { CacheRequest } from './request.ts';

export type KeyParts = Omit<CacheRequest, 'rule' | 'wantsStream' | 'forceRefresh' | 'signal'>;

/**
 * SHA-256 over everything that decides an answer, as one JSON array, so that
 * no two lists of parts have the same text. Whether a stream is wanted decides
 * the form of the answer only, and is left out.
 */
export function cacheKey(parts: KeyParts): string {
  const identity = JSON.stringify([
    'v2',
    parts.organisationId,
    parts.workspaceId,
    parts.credential,
    parts.provider,
    parts.method,
    parts.origin,
    parts.path,
    parts.endpoint,
    parts.model,
    parts.strictOpenAiCompliance,
    sortedEntries(parts.metadata),
    partition(parts),
    parts.checkedBy,
  ]);
  const { stream: _, stream_options: __, ...body } = parts.sentJson;
  return hash('sha256', `${identity}\n${canonicalJson(body)}`, 'hex');
}

/**
 * A namespace parts the cache in place of the headers that the upstream sees,
 * but not of those that a caller had forwarded: they may have made the answer.
 */
function partition(parts: KeyParts): JsonValue {
  if (parts.namespace !== undefined && !parts.forwardsCallersHeaders)
    return ['namespace', parts.namespace];
  const headers = Object.entries(parts.upstreamHeaders)
    .map(([name, value]) => [name.toLowerCase(), value] as [string, string | string[]])
    .filter(([name]) => !isLeftOut(name));
  headers.sort(byName);
  return parts.namespace === undefined
    ? ['headers', headers]
    : ['namespace and headers', parts.namespace, headers];
}

/** Credentials are told apart by `credential`; the others are different in every request. */
const leftOut = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'cookie',
  'traceparent',
  'tracestate',
  'baggage',
  'b3',
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-client-request-id',
  'x-amzn-trace-id',
  'x-cloud-trace-context',
  'idempotency-key',
  'content-length',
  'date',
]);

function isLeftOut(name: string): boolean {
  return leftOut.has(name) || name.startsWith('x-b3-') || name.startsWith('x-stainless-');
}

function sortedEntries(values: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(values).sort(byName);
}

function byName(a: [string, unknown], b: [string, unknown]): number {
  return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0;
}

/** JSON whose keys are sorted at every level. Depth is bounded where bodies are parsed. */
export function canonicalJson(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const object: JsonObject = value;
  const members: string[] = [];
  for (const key of Object.keys(object).sort()) {
    const member = object[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`);
  }
  return `{${members.join(',')}}`;
}
