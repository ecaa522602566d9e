import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Pool } from 'undici';
import type { EncodedExport, OtlpProtocol } from './export-request.ts';

/** One address, and how it is spoken to. As data: it is handed to threads. */
export interface OtlpTarget {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: OtlpProtocol;
  readonly isCompressed: boolean;
  readonly timeoutMs: number;
  readonly tls: {
    readonly ca?: string | undefined;
    readonly cert?: string | undefined;
    readonly key?: string | undefined;
  };
}

/** What became of one export. */
export type Delivery =
  /** What the receiver says of those that it did not take is in `answer`. */
  | { readonly outcome: 'taken'; readonly answer: Buffer }
  /** It will never be taken; `isOfAll`: nor is anything else, until somebody mends what the receiver is asked with. */
  | { readonly outcome: 'refused'; readonly isOfAll: boolean; readonly reason: string }
  /** The receiver was away for too long. */
  | { readonly outcome: 'given-up'; readonly reason: string };

export interface ExporterOptions {
  /** So long one export is tried; those behind it wait, or are dropped. 0 = once. */
  readonly triedForMs?: number;
}

const zip = promisify(gzip);

/**
 * Posts exports to one address and no other: a redirect is a refusal, so that
 * no header follows it. Each post has a deadline; what may pass by is tried
 * again, with growing pauses or those that the receiver asks for.
 */
export class OtlpExporter {
  /** Of the last post. */
  isAway = false;
  readonly #target: OtlpTarget;
  readonly #triedForMs: number;
  readonly #pool: Pool;
  readonly #stopped = new AbortController();

  constructor(target: OtlpTarget, { triedForMs = minute }: ExporterOptions = {}) {
    this.#target = target;
    this.#triedForMs = triedForMs;
    const { ca, cert, key } = target.tls;
    this.#pool = new Pool(target.origin, {
      connections: 2,
      connect: { timeout: target.timeoutMs, ca, cert, key },
    });
  }

  /** Never rejects. */
  async send({ contentType, body }: EncodedExport): Promise<Delivery> {
    const { isCompressed } = this.#target;
    const content = isCompressed ? await zip(body) : body;
    const headers: Record<string, string> = {
      ...this.#target.headers,
      'content-type': contentType,
      ...(isCompressed && { 'content-encoding': 'gzip' }),
    };
    const until = performance.now() + this.#triedForMs;
    for (let tries = 1; ; tries++) {
      const { status, answer, isPage, reason, retryAfterMs } = await this.#post(headers, content);
      this.isAway = status === 0 || passing.has(status);
      const isTaken = status >= 200 && status < 300;
      if (isTaken && !isPage) return { outcome: 'taken', answer };
      const isOfAll = isTaken || (status >= 300 && status < 400) || ofAll.has(status);
      if (!this.isAway) return { outcome: 'refused', isOfAll, reason };
      const growing = Math.min(pauseMsMax, pauseMsMin * 2 ** Math.min(tries - 1, 8));
      const waitMs = retryAfterMs ?? growing * (0.5 + Math.random() / 2);
      if (this.#stopped.signal.aborted || performance.now() + waitMs > until)
        return { outcome: 'given-up', reason };
      try {
        await pause(waitMs, undefined, { signal: this.#stopped.signal, ref: false });
      } catch {
        // Told to stop: once more, and no further.
      }
    }
  }

  /** Begins no further try of what failed. */
  stopRetrying(): void {
    this.#stopped.abort();
  }

  async close(): Promise<void> {
    this.stopRetrying();
    await this.#pool.destroy();
  }

  async #post(headers: Record<string, string>, body: Uint8Array): Promise<Posted> {
    const { path, timeoutMs } = this.#target;
    try {
      const reply = await this.#pool.request({
        method: 'POST',
        path,
        headers,
        body,
        signal: AbortSignal.timeout(timeoutMs),
      });
      const { statusCode } = reply;
      const answer = await firstBytes(reply.body);
      // One with nothing in it says that it was taken, whatever a server calls that.
      const isPage =
        answer.length > 0 && /^text\/html\b/i.test(String(reply.headers['content-type'] ?? ''));
      return {
        status: statusCode,
        answer,
        isPage,
        reason: `it answers ${statusCode}${isPage ? ' and a page of HTML' : ''}`,
        retryAfterMs: passing.has(statusCode)
          ? readRetryAfter(reply.headers['retry-after'], Date.now())
          : undefined,
      };
    } catch (error) {
      const reason = causeOf(error);
      return { status: 0, answer: nothing, isPage: false, reason, retryAfterMs: undefined };
    }
  }
}

interface Posted {
  /** 0 = there was no answer. */
  readonly status: number;
  readonly answer: Buffer;
  /** For a person: what stands before the receiver answered, as one who is to log in. */
  readonly isPage: boolean;
  /** What it answered, or why it did not, for the log. */
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
}

/** An answer is short; of a long one the beginning is no message, and says nothing. */
async function firstBytes(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of body) {
    length += piece.length;
    if (length > answerBytesMax) {
      body.destroy();
      return nothing;
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function readRetryAfter(value: string | string[] | undefined, nowMs: number): number | undefined {
  const text = Array.isArray(value) ? value[0] : value;
  if (text === undefined) return undefined;
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : undefined;
}

const nothing: Buffer = Buffer.alloc(0);
const answerBytesMax = 64 * 1024;
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'it does not answer in time';
  // Of several addresses that were tried the error itself says nothing.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error && first.message !== '' ? first.message : error.name;
}

/** Who asks, or where, is not what the receiver expects: what was sent is not looked at. */
const ofAll: ReadonlySet<number> = new Set([401, 403, 404, 405, 407]);
/** Which answers may be others later, by OTLP. */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const pauseMsMin = 200;
const pauseMsMax = 10_000;
const minute = 60_000;
