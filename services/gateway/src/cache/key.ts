import { hash } from 'node:crypto';
import type { JsonObject, JsonValue } from '@sluice/providers';
import type { CacheRequest } from './request.ts';
import type { Question } from './semantic/question.ts';

export type KeyParts = Omit<
  CacheRequest,
  'rule' | 'wantsStream' | 'forceRefresh' | 'signal' | 'semantic'
>;

/**
 * SHA-256 over everything that decides an answer. Whether a stream is wanted
 * decides the form of the answer only, and is left out.
 */
export function cacheKey(parts: KeyParts): string {
  return hash('sha256', `${identityOf(parts)}\n${bodyText(parts.sentJson)}`, 'hex');
}

/**
 * The same over all that decides an answer but the words of one question:
 * requests with the same key differ in nothing else. What is sent counts as
 * well, so that no translation adds anything that is not compared.
 */
export function partitionKey(parts: KeyParts, { text, rest }: Question, embedder: string): string {
  const around = bodyText(rest);
  const sent = bodyText(parts.sentJson, text);
  return hash(
    'sha256',
    `${identityOf(parts)}\n${JSON.stringify(embedder)}\n${around}\n${sent}`,
    'hex',
  );
}

function bodyText({ stream: _, stream_options: __, ...body }: JsonObject, cut?: string): string {
  return canonicalJson(body, cut);
}

/** As one JSON array, so that no two lists of parts have the same text. */
function identityOf(parts: KeyParts): string {
  return JSON.stringify([
    'v3',
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
    parts.generation,
  ]);
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

/**
 * JSON whose keys are sorted at every level. Depth is bounded where bodies are parsed.
 * @param cut a text that leaves a gap wherever it stands as a whole
 */
export function canonicalJson(value: JsonValue, cut?: string): string {
  if (typeof value !== 'object' || value === null)
    // No JSON value looks like it.
    return cut !== undefined && value === cut ? '?' : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, cut)).join(',')}]`;
  const object: JsonObject = value;
  const members: string[] = [];
  for (const key of Object.keys(object).sort()) {
    const member = object[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member, cut)}`);
  }
  return `{${members.join(',')}}`;
}
