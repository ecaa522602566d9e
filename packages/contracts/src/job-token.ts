import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a token of a job lets in. */
export type JobStatement = BatchStatement | LookStatement;

/** One look at work that goes on at a provider (docs/decisions/0109): `GET` of that path, from that provider, for that key. */
export interface LookStatement {
  readonly workId: string;
  readonly apiKeyId: string;
  /** `@slug` of a saved provider. */
  readonly provider: string;
  /** As `/v1/responses/resp_1`, without a query. */
  readonly path: string;
  /** Of the request that began the work. */
  readonly traceId: string;
}

/**
 * How the runner of a batch speaks for the key that made it, without any secret of that key: a statement of the control plane, signed
 * with the token that only the services share. It opens one batch's endpoint for a few minutes, and names no key: which key a batch
 * is of, gateways ask the control plane, as they do for a key's secret (docs/decisions/0105).
 */
export interface BatchStatement {
  readonly batchId: string;
  /** The one path that lines are sent to, as `/v1/chat/completions`. */
  readonly endpoint: string;
}

/** Beside a job's token: for which line it is, and what is said for it. From anybody else it means nothing. */
export const batchLineHeader = 'x-sluice-batch-line';

export interface BatchLine {
  readonly batchId: string;
  readonly customId: string;
  /** Headers of the line, by the names that they have inside. */
  readonly headers: Readonly<Record<string, string>>;
  /** It is no line, but a response in the background: what is asked is in what is kept of it. */
  readonly isResponse?: boolean;
}

export function writeBatchLine(line: BatchLine): string {
  return Buffer.from(JSON.stringify(line)).toString('base64url');
}

/** Of a request whose token was read: what it says was said by us. */
export function readBatchLine(value: string | string[] | undefined): BatchLine | undefined {
  if (typeof value !== 'string') return undefined;
  return JSON.parse(Buffer.from(value, 'base64url').toString()) as BatchLine;
}

/** What all of them begin with. No key and no JWT has a colon. */
const prefix = 'job:';
const lengthMax = 4096;
/** Long enough for a run that cannot reach the control plane for a moment. */
export const jobTokenLifeMs = 180_000;

export interface JobTokenSeal {
  sign(statement: JobStatement, nowMs: number): string;
  /** Undefined unless it was signed with the same token, and still holds. */
  read(token: string, nowMs: number): JobStatement | undefined;
}

export function isJobToken(secret: string): boolean {
  return secret.startsWith(prefix);
}

/** @param tokensAlso  with which others may read it, while the token of the services is rotated: it is signed with each */
export function jobTokenSeal(
  serviceToken: string,
  tokensAlso: readonly string[] = [],
): JobTokenSeal {
  // The token itself signs nothing, and is not to be found out by what is signed.
  const keys = [serviceToken, ...tokensAlso].map((token) =>
    createHmac('sha256', token).update('sluice job token 1').digest(),
  );
  const macOf = (text: string, key: Buffer) => createHmac('sha256', key).update(text).digest();
  const known = new KnownTokens();
  return {
    sign(said, nowMs) {
      const { batchId, workId, ...rest } = { batchId: undefined, workId: undefined, ...said };
      const of = workId === undefined ? { batch: batchId } : { follow: workId };
      const statement = { ...of, ...rest, until: nowMs + jobTokenLifeMs };
      const text = Buffer.from(JSON.stringify(statement)).toString('base64url');
      const macs = keys.map((key) => macOf(text, key).toString('base64url'));
      return `${prefix}${[text, ...macs].join('.')}`;
    },
    read(token, nowMs) {
      if (!isJobToken(token) || token.length > lengthMax) return undefined;
      const before = known.find(token);
      if (before !== undefined) return nowMs < before.until ? before.statement : undefined;
      const [text = '', ...macs] = token.slice(prefix.length).split('.');
      const isOurs = keys.some((key) => {
        const expected = macOf(text, key);
        return macs.some((mac) => {
          const sent = Buffer.from(mac, 'base64url');
          return sent.length === expected.length && timingSafeEqual(sent, expected);
        });
      });
      if (!isOurs) return undefined;
      const { batch, follow, until, ...rest } = JSON.parse(
        Buffer.from(text, 'base64url').toString(),
      ) as { batch?: string; follow?: string; until: number };
      if (nowMs >= until) return undefined;
      const of = follow === undefined ? { batchId: batch } : { workId: follow };
      const statement = { ...of, ...rest } as JobStatement;
      known.add(token, { statement, until });
      return statement;
    },
  };
}

interface KnownToken {
  readonly statement: JobStatement;
  /** ms since 1970 */
  readonly until: number;
}

const knownMax = 256;

/** Tokens whose signatures were found right, as the lines of a batch bring the same one thousands of times: two generations, the older goes. */
class KnownTokens {
  #young = new Map<string, KnownToken>();
  #old = new Map<string, KnownToken>();

  find(token: string): KnownToken | undefined {
    return this.#young.get(token) ?? this.#old.get(token);
  }

  add(token: string, known: KnownToken): void {
    if (this.#young.size >= knownMax) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(token, known);
  }
}

/** What a batch is hashed as, in place of a secret of its key. It is no well-formed key, so nobody can send it as one. */
export function batchKeySecret(batchId: string): string {
  return `batch:${batchId.toLowerCase()}`;
}
