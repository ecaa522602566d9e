/**
 * Batches as vendors run them. One face for callers – OpenAI's paths and its
 * batch object – and here what it takes to be that face: which requests a vendor
 * wants, and what its answers mean. Nothing here opens a connection: `ask` does.
 */
import type { JsonObject, JsonValue } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { AuthRecipe, CallFacts } from '../../call-facts.ts';
import { parseObject, stringOf } from '../../json/json-access.ts';
import type { FileAnswer, FileRequest } from '../../vendor-files.ts';

/** What a vendor has of batches; absent = nothing that is known. */
export interface VendorBatches {
  /** Where its jobs are asked for, in place of the provider's own address. */
  base?(facts: CallFacts): string;
  readonly auth?: AuthRecipe;
  /** These four are absent where the vendor has them as OpenAI does: they pass through. */
  create?(asked: AskedBatch, use: BatchUse): Promise<JsonObject>;
  retrieve?(id: string, use: BatchUse): Promise<JsonObject>;
  cancel?(id: string, use: BatchUse): Promise<JsonObject>;
  list?(query: URLSearchParams, use: BatchUse): Promise<JsonObject>;
  /** Takes lines of a file that the service keeps, since the vendor reads none: they go up with the batch. */
  readonly takesLines?: true;
  /** Where the rows of a batch that has ended are, one after the other. `batch` is OpenAI's object. */
  output(
    batch: JsonObject,
    use: BatchUse,
  ): readonly OutputPlace[] | Promise<readonly OutputPlace[]>;
}

/** Rows of results, lines of JSON or a file of Avro: at an address, or in a file of the vendor's. */
export type OutputPlace =
  | { readonly kind: 'request'; readonly request: FileRequest }
  | {
      readonly kind: 'file';
      readonly id: string;
      readonly orElse?: readonly string[];
      /** It may never have been written: then there are no rows. */
      readonly mayBeAbsent?: boolean;
    };

export interface BatchUse {
  readonly facts: CallFacts;
  /** Unix ms. */
  readonly nowMs: number;
  /** As `base` said it, or the custom host in its place; without a trailing slash. */
  readonly base: string;
  /** @throws VendorRefusal for a status of 400 and more, GatewayError where there is no answer */
  ask(request: FileRequest): Promise<FileAnswer>;
}

/** A batch that is to be made, as its caller asks for it. */
export interface AskedBatch {
  readonly inputFileId: string | undefined;
  /** E.g. `/v1/chat/completions`. */
  readonly endpoint: string;
  readonly completionWindow: string | undefined;
  readonly metadata: JsonObject | undefined;
  /** Of the body, a setting or `provider_options`; of lines only where all name one. */
  readonly model: string | undefined;
  /** What else the body says, `provider_options` first. */
  readonly options: JsonObject;
  /** Lines of the service's own file, as they stand in it. */
  readonly lines: AsyncIterable<Buffer> | undefined;
  /** Makes a row of the vendor's out of one. */
  readonly row: (line: Buffer, number: number) => Uint8Array;
}

export type BatchStatus =
  | 'validating'
  | 'in_progress'
  | 'finalizing'
  | 'completed'
  | 'failed'
  | 'expired'
  | 'cancelling'
  | 'cancelled';

export interface BatchFacts {
  readonly id: string;
  readonly status: BatchStatus;
  /** In the vendor's words, where it has none in ours. */
  readonly providerStatus?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly inputFileId?: string | undefined;
  readonly outputFileId?: string | undefined;
  readonly errorFileId?: string | undefined;
  readonly completionWindow?: string | undefined;
  readonly model?: string | undefined;
  readonly metadata?: JsonValue | undefined;
  readonly total?: number | undefined;
  readonly completed?: number | undefined;
  readonly failed?: number | undefined;
  /** Why it failed as a whole. */
  readonly fault?: string | undefined;
  /** Unix seconds. */
  readonly createdAt?: number | undefined;
  readonly inProgressAt?: number | undefined;
  readonly expiresAt?: number | undefined;
  readonly endedAt?: number | undefined;
  readonly cancellingAt?: number | undefined;
}

const endMembers: Partial<Record<BatchStatus, string>> = {
  completed: 'completed_at',
  failed: 'failed_at',
  expired: 'expired_at',
  cancelled: 'cancelled_at',
};

/** OpenAI's object: https://platform.openai.com/docs/api-reference/batch/object */
export function batchObject(facts: BatchFacts): JsonObject {
  const at = (member: string) =>
    endMembers[facts.status] === member ? (facts.endedAt ?? null) : null;
  return {
    id: facts.id,
    object: 'batch',
    endpoint: facts.endpoint ?? null,
    ...(facts.model === undefined ? {} : { model: facts.model }),
    errors:
      facts.fault === undefined
        ? null
        : {
            object: 'list',
            data: [{ code: 'batch_failed', message: facts.fault, param: null, line: null }],
          },
    input_file_id: facts.inputFileId ?? null,
    completion_window: facts.completionWindow ?? '24h',
    status: facts.status,
    ...(facts.providerStatus === undefined ? {} : { provider_status: facts.providerStatus }),
    output_file_id: facts.outputFileId ?? null,
    error_file_id: facts.errorFileId ?? null,
    created_at: facts.createdAt ?? null,
    in_progress_at: facts.inProgressAt ?? null,
    expires_at: facts.expiresAt ?? null,
    finalizing_at: null,
    completed_at: at('completed_at'),
    failed_at: at('failed_at'),
    expired_at: at('expired_at'),
    cancelling_at: facts.cancellingAt ?? null,
    cancelled_at: at('cancelled_at'),
    request_counts: {
      total: facts.total ?? 0,
      completed: facts.completed ?? 0,
      failed: facts.failed ?? 0,
    },
    metadata: facts.metadata ?? null,
  };
}

export function batchPage(data: readonly JsonObject[], hasMore: boolean): JsonObject {
  return {
    object: 'list',
    data: [...data],
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}

const ended: ReadonlySet<unknown> = new Set(['completed', 'failed', 'expired', 'cancelled']);

/** Whether nothing more becomes of a batch, by OpenAI's object of it. */
export function isEndedBatch({ status }: Readonly<Record<string, unknown>>): boolean {
  return ended.has(status);
}

/** Unix seconds of a date in text, of seconds or of milliseconds; undefined = it is none. */
export function secondsOrNone(value: unknown): number | undefined {
  if (typeof value === 'number' && value > 0)
    return Math.floor(value > 1e11 ? value / 1000 : value);
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000);
}

/** @throws GatewayError `upstream.invalid_response` */
export function documentOf({ bytes }: FileAnswer): JsonObject {
  const document = parseObject(bytes);
  if (document === undefined)
    throw new GatewayError('upstream.invalid_response', {
      message: 'The provider answered with something else than a batch.',
    });
  return document;
}

/** @throws GatewayError `request.invalid_field` naming what is missing */
export function neededModel({ model }: AskedBatch): string {
  return needed(
    model,
    'model',
    'the model that runs the batch, which its provider wants with the job',
  );
}

export function neededInput({ inputFileId }: AskedBatch): string {
  return needed(inputFileId, 'input_file_id', 'the id of a file with the lines');
}

export function needed(value: unknown, field: string, what: string): string {
  const text = stringOf(value);
  if (text !== undefined && text !== '') return text;
  throw new GatewayError('request.invalid_field', {
    field: `body.${field}`,
    message: `body.${field} must be ${what}.`,
  });
}

/** An id of a job of this vendor's; any other names nothing that is there. */
export function checkedId(id: string, pattern: RegExp): string {
  if (pattern.test(id)) return id;
  throw new GatewayError('batch.not_found', {
    field: 'path.batch_id',
    message: 'The id is none of a batch of this provider.',
  });
}

export function pageSize(query: URLSearchParams): number {
  const sent = query.get('limit');
  const limit = sent === null ? 20 : /^\d{1,3}$/.test(sent) ? Number(sent) : 0;
  if (limit >= 1 && limit <= 100) return limit;
  throw new GatewayError('request.invalid_field', {
    field: 'query.limit',
    message: 'query.limit must be a whole number from 1 to 100.',
  });
}

export function jsonRequest(
  method: FileRequest['method'],
  url: string,
  body?: JsonObject,
  auth?: AuthRecipe,
): FileRequest {
  return {
    method,
    url,
    ...(auth === undefined ? {} : { auth }),
    ...(body === undefined
      ? {}
      : {
          headers: { 'content-type': 'application/json' },
          body: Buffer.from(JSON.stringify(body)),
        }),
  };
}
