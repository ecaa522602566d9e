import { createHash, type Hash, hash } from 'node:crypto';
import { writeCanonicalJson } from '@sluice/json';
import type { JsonObject, JsonValue } from '@sluice/providers';
import type { CacheRequest } from './request.ts';
import type { Question } from './semantic/question.ts';

export type KeyParts = Omit<
  CacheRequest,
  'rule' | 'maxAgeCapS' | 'wantsStream' | 'forceRefresh' | 'signal' | 'semantic'
>;

/**
 * SHA-256 over everything that decides an answer. Whether a stream is wanted
 * decides the form of the answer only, and is left out.
 */
export function cacheKey(parts: KeyParts): string {
  return new KeyHash()
    .text(`${identityOf(parts)}\n`)
    .body(parts.sentJson)
    .digest();
}

/**
 * The same over all that decides an answer but the words of one question:
 * requests with the same key differ in nothing else. What is sent counts as
 * well, so that no translation adds anything that is not compared.
 */
export function partitionKey(parts: KeyParts, { text, rest }: Question, embedder: string): string {
  return new KeyHash()
    .text(`${identityOf(parts)}\n${JSON.stringify(embedder)}\n`)
    .body(rest)
    .text('\n')
    .body(parts.sentJson, text)
    .digest();
}

/** SHA-256 of a text that may have some MB, and is not written as a whole then. */
class KeyHash {
  #text = '';
  #hash: Hash | undefined;

  text(piece: string): this {
    this.#text += piece;
    if (this.#text.length > textAtOnce) {
      this.#hash ??= createHash('sha256');
      this.#hash.update(this.#text);
      this.#text = '';
    }
    return this;
  }

  body({ stream: _, stream_options: __, ...body }: JsonObject, cut?: string): this {
    writeCanonicalJson(body, (piece) => this.text(piece), cut);
    return this;
  }

  digest(): string {
    // In one call for the usual request: an object of the hash costs more than the hash.
    return this.#hash === undefined
      ? hash('sha256', this.#text, 'hex')
      : this.#hash.update(this.#text).digest('hex');
  }
}

const textAtOnce = 16 * 1024;

/** The parts of a key as far as they may be shown: secrets are told as being there. */
export interface ShownKey {
  readonly sha256: string;
  readonly organisation_id: string;
  readonly workspace_id: string;
  /** `@slug` of a saved provider; null = it has parts of the request's or the config's. */
  readonly credential: string | null;
  readonly provider: string;
  readonly method: string;
  readonly origin: string;
  readonly path: string;
  readonly endpoint: string;
  readonly model: string;
  readonly strict_open_ai_compliance: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  readonly namespace: string | null;
  /** Names of headers that count; null = none does, for the namespace. */
  readonly headers: readonly string[] | null;
  /** A hash; null = nothing checks the answer. */
  readonly output_checks: string | null;
  readonly body_sha256: string;
}

export function showKey(parts: KeyParts): ShownKey {
  return {
    sha256: cacheKey(parts),
    organisation_id: parts.organisationId,
    workspace_id: parts.workspaceId,
    credential: parts.credential.startsWith('@') ? parts.credential : null,
    provider: parts.provider,
    method: parts.method,
    origin: parts.origin,
    path: parts.path,
    endpoint: parts.endpoint,
    model: parts.model,
    strict_open_ai_compliance: parts.strictOpenAiCompliance,
    metadata: parts.metadata,
    namespace: parts.namespace ?? null,
    headers: countsHeaders(parts) ? headersOf(parts).map(([name]) => name) : null,
    output_checks: parts.checkedBy === '' ? null : parts.checkedBy,
    body_sha256: new KeyHash().body(parts.sentJson).digest(),
  };
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
  if (!countsHeaders(parts)) return ['namespace', parts.namespace ?? ''];
  const headers = headersOf(parts);
  return parts.namespace === undefined
    ? ['headers', headers]
    : ['namespace and headers', parts.namespace, headers];
}

function countsHeaders({ namespace, forwardsCallersHeaders }: KeyParts): boolean {
  return namespace === undefined || forwardsCallersHeaders;
}

function headersOf({ upstreamHeaders }: KeyParts): [string, string | string[]][] {
  const headers = Object.entries(upstreamHeaders)
    .map(([name, value]) => [name.toLowerCase(), value] as [string, string | string[]])
    .filter(([name]) => !isLeftOut(name));
  return headers.sort(byName);
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
