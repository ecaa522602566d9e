import type { IncomingHttpHeaders } from 'node:http';
import { isWellFormedServiceKey, metadataValueMax } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { jsonBounds, readJsonText } from '@sluice/json';

/** The gateway's own header prefix. */
export const prefix = 'x-service-';

/** What the caller said in headers, read once. Undefined = not sent. */
export interface CallerHeaders {
  /** The service credential: `x-service-api-key`, else `Authorization`, else where vendors' own clients put their key. */
  serviceKey: string | undefined;
  /** The upstream credential: `Authorization`, `x-api-key`, `api-key` or `x-goog-api-key`, the first that did not carry the service key. */
  upstreamKey: string | undefined;
  provider: string | undefined;
  config: string | undefined;
  customHost: string | undefined;
  requestTimeoutMs: number | undefined;
  /** What a call may cost by its estimate, in nano-dollars; sent in dollars. */
  maxCostNanoUsd: number | undefined;
  strictOpenAiCompliance: boolean | undefined;
  metadata: Readonly<Record<string, string>>;
  /** The same, numbers and booleans as they were sent; the same object when all values are text. */
  metadataValues: Readonly<Record<string, string | number | boolean>>;
  traceId: string | undefined;
  spanId: string;
  parentSpanId: string;
  spanName: string;
  forwardHeaders: readonly string[] | undefined;
  /** Ways of serving that are not the default yet; those that nobody knows mean nothing. */
  betas: readonly string[] | undefined;
  /** Refuse what the provider's format cannot carry, in place of leaving it out. */
  strictParams: boolean;
  /** Ask the upstream although the cache has an answer. */
  cacheForceRefresh: boolean;
  cacheNamespace: string | undefined;
  /** The body goes to the provider unread, and nothing is asked that would need it. */
  nitro: boolean;
  /** How the provider is to be called; undefined = by HTTP. */
  transport: string | undefined;
  /** False = the caller does not want contents of this request kept. */
  debug: boolean;
}

const noEntries: Readonly<Record<string, string>> = Object.freeze({});
const noMetadata = Object.freeze({ metadata: noEntries, metadataValues: noEntries });

/** Reads identity and routing headers. Faults that need a 400 are left to `validateCallerHeaders`. */
export function readCallerHeaders(headers: IncomingHttpHeaders): CallerHeaders {
  const trace = readTraceparent(headers);
  const { serviceKey, upstreamKey } = readKeys(headers);
  const { metadata, metadataValues } = readMetadata(headers);
  // Nothing is spread: that copies name by name.
  return {
    serviceKey,
    upstreamKey,
    provider: single(headers['x-service-provider']) ?? virtualKey(headers),
    config: single(headers['x-service-config']),
    customHost: single(headers['x-service-custom-host']),
    requestTimeoutMs: readTimeout(single(headers['x-service-request-timeout'])),
    maxCostNanoUsd: readDollars(single(headers['x-service-max-cost'])),
    strictOpenAiCompliance: readStrict(headers),
    metadata,
    metadataValues,
    traceId: label(headers['x-service-trace-id']) ?? trace?.traceId,
    spanId: label(headers['x-service-span-id']) ?? '',
    parentSpanId: label(headers['x-service-parent-span-id']) ?? trace?.parentId ?? '',
    spanName: label(headers['x-service-span-name']) ?? '',
    forwardHeaders: readList(single(headers['x-service-forward-headers'])),
    betas: readList(single(headers['x-service-beta'])),
    strictParams: headers['x-service-strict-params'] === 'true',
    cacheForceRefresh: headers['x-service-cache-force-refresh'] === 'true',
    cacheNamespace: single(headers['x-service-cache-namespace']),
    nitro: single(headers['x-service-nitro-mode'])?.toLowerCase() === 'true',
    transport: single(headers['x-service-gateway-transport']),
    debug: headers['x-service-debug'] !== 'false',
  };
}

/** Who calls us and what the provider is to be told. The service key is never taken for a provider's. */
function readKeys(headers: IncomingHttpHeaders): Pick<CallerHeaders, 'serviceKey' | 'upstreamKey'> {
  const sent = single(headers['x-service-api-key']);
  const { authorization } = headers;
  const bearer = authorization === undefined ? undefined : stripBearer(authorization);
  const plain = single(headers['x-api-key']);
  const vendor = vendorKey(headers);
  const own = plain ?? vendor;
  if (sent !== undefined) {
    if (bearer !== undefined && bearer !== sent) return { serviceKey: sent, upstreamKey: bearer };
    return { serviceKey: sent, upstreamKey: otherThan(sent, own) };
  }
  if (bearer === undefined) return { serviceKey: own, upstreamKey: otherThan(own, vendor) };
  if (own === undefined || own === bearer)
    return { serviceKey: bearer, upstreamKey: otherThan(bearer, vendor) };
  // Vendors' clients put their key into headers of their own, and some a token of the provider's beside it.
  return isWellFormedServiceKey(own) && !isWellFormedServiceKey(bearer)
    ? { serviceKey: own, upstreamKey: bearer }
    : { serviceKey: bearer, upstreamKey: own };
}

/** Where Azure's and Google's own clients put theirs. */
function vendorKey(headers: IncomingHttpHeaders): string | undefined {
  return single(headers['api-key']) ?? single(headers['x-goog-api-key']);
}

function otherThan(serviceKey: string | undefined, key: string | undefined): string | undefined {
  return key === serviceKey ? undefined : key;
}

/** @throws GatewayError `request.invalid_header` naming the header. */
export function validateCallerHeaders(caller: CallerHeaders): void {
  if (Number.isNaN(caller.requestTimeoutMs))
    throw invalid('request-timeout', 'must be a positive whole number of milliseconds');
  if (Number.isNaN(caller.maxCostNanoUsd))
    throw invalid('max-cost', 'must be a number of dollars above 0, as 0.05');
  if (caller.transport !== undefined && caller.transport !== 'http')
    throw invalid(
      'gateway-transport',
      'must be http: no provider is called over gRPC, which callers may speak whatever the provider speaks',
    );
  for (const name of caller.forwardHeaders ?? []) {
    if (forwardForbidden.has(name)) throw invalid('forward-headers', `must not contain ${name}`);
    if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name))
      throw invalid('forward-headers', 'must be a list of header names');
  }
}

/** NaN = it is none. */
function readDollars(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const nanoUsd = /^\d{1,6}(?:\.\d{1,9})?$/.test(value) ? Math.round(Number(value) * 1e9) : 0;
  return nanoUsd > 0 ? nanoUsd : Number.NaN;
}

function invalid(name: string, what: string): GatewayError {
  return new GatewayError('request.invalid_header', {
    field: `${prefix}${name}`,
    message: `${prefix}${name} ${what}.`,
  });
}

/** Names that would loop in chained gateways or open a cloud's metadata service. */
const forwardForbidden = new Set([
  'x-service-forward-headers',
  'metadata-flavor',
  'x-aws-ec2-metadata-token',
  'x-google-metadata-request',
]);

function single(value: string | string[] | undefined): string | undefined {
  const first = Array.isArray(value) ? value[0] : value;
  return first === undefined || first === '' ? undefined : first;
}

/** A name the caller chose, echoed and stored: cut where it is longer than any name. */
function label(value: string | string[] | undefined): string | undefined {
  return single(value)?.slice(0, labelLengthMax);
}

const labelLengthMax = 256;

/** `Bearer ` is removed once, in any case. */
function stripBearer(value: string): string | undefined {
  const text = /^bearer /i.test(value) ? value.slice(7).trim() : value.trim();
  return text === '' ? undefined : text;
}

function virtualKey(headers: IncomingHttpHeaders): string | undefined {
  const slug = single(headers['x-service-virtual-key']);
  return slug === undefined ? undefined : `@${slug.replace(/^@/, '')}`;
}

function readTimeout(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  return /^[1-9]\d{0,8}$/.test(value.trim()) ? Number(value) : Number.NaN;
}

/** Only the exact text `false` switches it off; the header has two known spellings. */
function readStrict(headers: IncomingHttpHeaders): boolean | undefined {
  const value =
    single(headers['x-service-strict-open-ai-compliance']) ??
    single(headers['x-service-strict-openai-compliance']);
  return value === undefined ? undefined : value !== 'false';
}

/** Unparsable metadata is treated as none; values become strings of at most 128 characters. */
function readMetadata(
  headers: IncomingHttpHeaders,
): Pick<CallerHeaders, 'metadata' | 'metadataValues'> {
  const raw = single(headers['x-service-metadata']);
  const baggage = single(headers.baggage);
  if (raw === undefined && baggage === undefined) return noMetadata;
  const metadata: Record<string, string> = {};
  let typed: Record<string, number | boolean> | undefined;
  for (const pair of baggage?.split(',') ?? []) {
    const match = /^\s*([^=;\s]+)\s*=\s*([^;]*)/.exec(pair);
    if (match?.[1] !== undefined) metadata[match[1]] = clipped(safeDecode(match[2] ?? ''));
  }
  if (raw !== undefined) {
    try {
      const parsed = readJsonText(raw, jsonBounds.small);
      if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
        for (const [key, value] of Object.entries(parsed)) {
          if (value === null || typeof value === 'object') continue;
          const name = key.toWellFormed();
          metadata[name] = clipped(String(value));
          if (typeof value === 'string') continue;
          typed ??= {};
          typed[name] = value;
        }
    } catch {
      // The published behaviour: metadata that is not JSON is no metadata, not an error.
    }
  }
  return { metadata, metadataValues: typed === undefined ? metadata : { ...metadata, ...typed } };
}

/** JSON can spell half a character, and cutting can leave one: nobody behind could write it down. */
function clipped(value: string): string {
  return value.slice(0, metadataValueMax).toWellFormed();
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return text.trim();
  }
}

/** W3C trace context: the trace id, and the caller's span as our parent. */
function readTraceparent(
  headers: IncomingHttpHeaders,
): { traceId: string; parentId: string } | undefined {
  const match = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}/.exec(
    single(headers.traceparent) ?? '',
  );
  return match?.[1] === undefined || match[2] === undefined
    ? undefined
    : { traceId: match[1], parentId: match[2] };
}

/** A comma list; a bracketed, quoted list is accepted too. */
function readList(value: string | undefined): string[] | undefined {
  if (value === undefined) return undefined;
  return value
    .replace(/^\[|\]$/g, '')
    .split(',')
    .map((item) =>
      item
        .trim()
        .replace(/^["']|["']$/g, '')
        .toLowerCase(),
    )
    .filter((item) => item !== '');
}

/** Whether a header is the gateway's own, of whichever side. */
export function isOurs(name: string): boolean {
  return name.startsWith(prefix);
}
