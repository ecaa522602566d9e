import type { JsonObject, JsonValue } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { findProvider } from '../catalog.ts';
import type { CallContext, ProviderEntry, ReplyFacts, Translation } from '../contract.ts';
import { objectOf, parseJson, parseObject, stringOf } from '../json/json-access.ts';
import { bytesSaidIn } from '../translation/said-in-bytes.ts';
import { LargeRow } from './large-rows.ts';
import { openAiRows } from './openai.ts';
import { lineFault, readBatchInput, rowEndpoint, urlOfEndpoint } from './read-line.ts';
import { translationOfReply } from './reply-translation.ts';
import type { BatchLine, RowDialect, RowEndpoint, VendorResult } from './row.ts';
import { rowDialect } from './row-dialects.ts';
import { contextOf, isAnswer, type RowOptions, type UnifiedRow } from './unified-row.ts';

export type BatchRowMapper = (line: Uint8Array, lineNumber: number) => Uint8Array;

/**
 * What makes rows of a provider's batches out of lines of an OpenAI batch, e.g.
 * while they are uploaded; undefined = its rows are OpenAI's, and go as they are.
 * The mapper throws `request.invalid_field` with `line <n>…` for what cannot be said. A row has no line end.
 */
export function batchRowMapper(
  providerId: string,
  options: RowOptions = {},
): BatchRowMapper | undefined {
  const dialect = rowDialect(providerId);
  const provider = findProvider(providerId);
  if (dialect === openAiRows || provider === undefined) return undefined;
  const only = options.endpoint === undefined ? undefined : rowEndpoint(options.endpoint);
  return (bytes, number) => {
    const line = readBatchInput(bytes, number, options.model);
    if (
      !dialect.endpoints.includes(line.endpoint) ||
      (only !== undefined && only !== line.endpoint)
    )
      throw lineFault(
        number,
        'url',
        only === undefined || only !== line.endpoint
          ? 'must be that of the batch, and what its provider has batches of'
          : `is nothing that batches of ${provider.id} do`,
      );
    return Buffer.from(JSON.stringify(rowOf(line, number, dialect, provider, options)));
  };
}

function rowOf(
  line: BatchLine,
  number: number,
  dialect: RowDialect,
  provider: ProviderEntry,
  options: RowOptions,
): JsonObject {
  const context = contextOf(provider, stringOf(line.body.model) ?? '', line.body, options);
  try {
    const { body = line.body } = dialect
      .translation(line.endpoint, context)
      .encode(line.body, context);
    return dialect.write(line, body, context);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const field = (error.field ?? '').replace(/^line 0\.?/, '');
    const message = error.message.replace(/^line 0\b/, `line ${number}`);
    throw new GatewayError('request.invalid_field', {
      field: field === '' ? `line ${number}` : `line ${number}.${field}`,
      message: message.startsWith('line ') ? message : `line ${number}: ${message}`,
    });
  }
}

/** The address that a line of such an endpoint is sent to, e.g. `/v1/chat/completions`. */
export function urlOfRow(endpoint: RowEndpoint): string {
  return urlOfEndpoint(endpoint);
}

/** Reads rows of results; undefined = it is none, e.g. an empty line. */
export type BatchRowReader = (row: Uint8Array) => UnifiedRow | undefined;

/** What reads the rows that a provider's batch came to, whatever they look like there. */
export function batchRowReader(providerId: string, options: RowOptions = {}): BatchRowReader {
  const dialect = rowDialect(providerId);
  const provider = findProvider(providerId);
  if (provider === undefined) throw new GatewayError('internal');
  const wanted = options.endpoint === undefined ? undefined : rowEndpoint(options.endpoint);
  return (bytes) => {
    const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const row = parseObject(line);
    if (row === undefined) return tooMuch(line, providerId, options);
    const result = dialect.read(row);
    if (result === undefined) return undefined;
    if (dialect === openAiRows) return asItCame(bytes, result, provider, options);
    return told(result, dialect, provider, { ...options, wanted });
  };
}

/** A row that has more in it than is parsed; undefined = it is none. */
function tooMuch(line: Buffer, providerId: string, options: RowOptions): UnifiedRow | undefined {
  const large = new LargeRow(providerId, options);
  large.add(line);
  const row = large.end();
  if (row === undefined || rowDialect(providerId) !== openAiRows) return row;
  return { ...row, bytes: Buffer.from(line) };
}

/** Bytes that are OpenAI's already: read, and not changed. */
function asItCame(
  bytes: Uint8Array,
  result: VendorResult,
  provider: ProviderEntry,
  options: RowOptions,
): UnifiedRow {
  const reply = objectOf(result.reply) ?? {};
  const endpoint = openAiRows.endpointOf(reply);
  const context = contextOf(provider, stringOf(reply.model) ?? options.model ?? '', {}, options);
  const isSuccess = isAnswer(result);
  return {
    customId: result.customId,
    endpoint,
    isSuccess,
    status: result.status,
    facts: isSuccess ? factsOf(reply, openAiRows.translation(endpoint, context), context) : {},
    bytes: Buffer.from(bytes),
  };
}

function factsOf(reply: JsonValue, translation: Translation, context: CallContext): ReplyFacts {
  try {
    const bytes = Buffer.from(JSON.stringify(reply));
    return withChars(translation.decode(bytes, context, plainHead).facts, reply);
  } catch {
    return withChars(unreadFacts(context), reply);
  }
}

/** Not the format after all: nothing is told, but it was answered, and by whom is known. */
function unreadFacts({ model }: CallContext): ReplyFacts {
  return model === '' ? {} : { model };
}

/** What was counted may be what cannot be true. */
function withChars(facts: ReplyFacts, reply: JsonValue): ReplyFacts {
  return { ...facts, saidBytes: facts.saidBytes ?? bytesSaidIn(objectOf(reply) ?? {}) };
}

function told(
  result: VendorResult,
  dialect: RowDialect,
  provider: ProviderEntry,
  options: RowOptions & { wanted: RowEndpoint | undefined },
): UnifiedRow {
  const { customId, status, requestId, error } = result;
  const reply = objectOf(result.reply) ?? {};
  const isSuccess = isAnswer(result);
  const found = isSuccess ? dialect.endpointOf(reply) : 'chatComplete';
  const endpoint = found === 'chatComplete' ? (options.wanted ?? found) : found;
  const model = result.model ?? stringOf(reply.model) ?? options.model ?? '';
  const asked = contextOf(provider, model, result.asked ?? {}, options);
  const context = { ...asked, answerId: () => customId };
  const read = result.reply === undefined ? undefined : replyOf(result, endpoint, dialect, context);
  const response =
    read === undefined
      ? null
      : { status_code: read.status, request_id: requestId, body: read.body };
  const line = {
    id: `batch_req_${customId}`,
    custom_id: customId,
    response,
    error: read === undefined ? (error ?? null) : null,
  };
  return {
    customId,
    endpoint,
    isSuccess,
    status: read?.status ?? status,
    facts: isSuccess ? withChars(read?.facts ?? {}, reply) : {},
    ...(result.asked === undefined ? {} : { asked: result.asked }),
    bytes: Buffer.from(JSON.stringify(line)),
  };
}

interface ReadReply {
  readonly status: number;
  readonly body: JsonValue;
  readonly facts: ReplyFacts;
}

/** The reply in the caller's words. One that cannot be read is told as it came, as a failure of the provider's. */
function replyOf(
  { reply = null, status }: VendorResult,
  endpoint: RowEndpoint,
  dialect: RowDialect,
  context: CallContext,
): ReadReply {
  const bytes = Buffer.from(JSON.stringify(reply));
  try {
    const translation = translationOfReply(reply, endpoint, dialect, context);
    const decoded =
      status > 299
        ? translation.decodeError(status, bytes, context)
        : translation.decode(bytes, context, plainHead);
    const body = decoded.body === undefined ? reply : (parseJson(decoded.body) ?? null);
    return { status, body, facts: decoded.facts };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { status: status > 299 ? status : 502, body: reply, facts: unreadFacts(context) };
  }
}

const plainHead = { status: 200, headers: {} };
