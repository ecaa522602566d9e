import type { JsonObject } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { GrowingBytes, ShortTexts, SkimmedJson } from '@sluice/json';
import { findProvider } from '../catalog.ts';
import type { ReplyFacts } from '../contract.ts';
import { objectOf, stringOf } from '../json/json-access.ts';
import { translationOfReply } from './reply-translation.ts';
import type { RowDialect, RowEndpoint, VendorResult } from './row.ts';
import { rowDialect } from './row-dialects.ts';
import { contextOf, isAnswer, type RowOptions, type UnifiedRow } from './unified-row.ts';

/** A row, its answer, the answer's body, and what that has. */
const levels = 3;

/**
 * A row of results that is too large to be held, or to be parsed, read while it passes. Whose it is and what it
 * used stand beside what is large in it; the answer itself is not told.
 */
export class LargeRow {
  /** Lists of pictures are short without them, and are told whole. */
  readonly #texts = new ShortTexts();
  readonly #skim = new SkimmedJson(levels);
  readonly #providerId: string;
  readonly #options: RowOptions;

  constructor(providerId: string, options: RowOptions) {
    this.#providerId = providerId;
    this.#options = options;
  }

  add(piece: Buffer): void {
    const short = new GrowingBytes();
    this.#texts.add(piece, short);
    this.#skim.add(short.take());
  }

  /** Undefined = nobody can tell of which line it is. */
  end(): UnifiedRow | undefined {
    const dialect = rowDialect(this.#providerId);
    const result = dialect.read((this.#skim.object() ?? {}) as JsonObject);
    if (result === undefined) return undefined;
    const { customId, status, asked } = result;
    const isSuccess = isAnswer(result);
    const endpoint = isSuccess ? dialect.endpointOf(objectOf(result.reply) ?? {}) : 'chatComplete';
    return {
      customId,
      endpoint,
      isSuccess,
      status,
      facts: isSuccess ? this.#factsOf(result, endpoint, dialect) : {},
      ...(asked === undefined ? {} : { asked }),
      bytes: tooLargeLine(result),
    };
  }

  #factsOf(result: VendorResult, endpoint: RowEndpoint, dialect: RowDialect): ReplyFacts {
    const provider = findProvider(this.#providerId);
    if (provider === undefined) throw new GatewayError('internal');
    const reply = objectOf(result.reply) ?? {};
    const model = result.model ?? stringOf(reply.model) ?? this.#options.model ?? '';
    const context = contextOf(provider, model, result.asked ?? {}, this.#options);
    const translation = translationOfReply(reply, endpoint, dialect, context);
    try {
      if (translation.skim !== undefined) return translation.skim(reply) ?? {};
      const head = { status: 200, headers: {} };
      return translation.decode(Buffer.from(JSON.stringify(reply)), context, head).facts;
    } catch {
      // Lists of numbers stand in the place of what was large: that may be no answer any more.
      return {};
    }
  }
}

/** As batches that gateways run tell it; of nobody knows which line without arguments. */
export function tooLargeLine({ customId, requestId }: Partial<VendorResult> = {}): Buffer {
  return Buffer.from(
    JSON.stringify({
      id: `batch_req_${customId ?? ''}`,
      custom_id: customId ?? null,
      response: {
        status_code: 502,
        request_id: requestId ?? '',
        body: { error: { code: 'batch.answer_too_large', type: 'api_error', message: tooLarge } },
      },
      error: null,
    }),
  );
}

/** The same as Anthropic's own results tell what failed. */
export function tooLargeResult(customId = ''): Buffer {
  const error = { type: 'error', error: { type: 'api_error', message: tooLarge } };
  return Buffer.from(JSON.stringify({ custom_id: customId, result: { type: 'errored', error } }));
}

const tooLarge =
  'The row of this line is too large to be told here. It stands whole in the results that the provider keeps.';
