import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type AwsCredentials, presignUrl, signRequest } from '@sluice/aws-signature';
import { Pool } from 'undici';
import { type ListOptions, type ObjectPage, type ObjectStore, StoreError } from './object-store.ts';
import { deletionBody, isWhole, readDeletion, readListing } from './s3-xml.ts';

export interface S3Options {
  /** Scheme, host and port: the only ones that are ever asked. */
  readonly origin: string;
  /** What stands before keys: empty, or `/bucket`. */
  readonly basePath: string;
  readonly region: string;
  readonly credentials: AwsCredentials;
  readonly timeoutMs: number;
  /** Sent with each object: what encrypts it. */
  readonly putHeaders: Readonly<Record<string, string>>;
  /** Buckets with Object Lock ask for a checksum. */
  readonly sendsChecksum: boolean;
  readonly connectionsMax: number;
  readonly nowMs: () => number;
}

/**
 * S3 and what speaks like it. Each request is signed for one address and sent to
 * that one: a redirect is an error, so that no credential follows it.
 */
export class S3Store implements ObjectStore {
  readonly name: string;
  readonly #options: S3Options;
  readonly #pool: Pool;

  constructor(options: S3Options) {
    this.#options = options;
    this.name = `${options.origin}${options.basePath}`;
    this.#pool = new Pool(options.origin, {
      connections: options.connectionsMax,
      headersTimeout: options.timeoutMs,
      bodyTimeout: options.timeoutMs,
      connect: { timeout: options.timeoutMs },
    });
  }

  async put(key: string, content: Uint8Array, contentType: string): Promise<void> {
    const { putHeaders, sendsChecksum } = this.#options;
    const headers: Record<string, string> = { ...putHeaders, 'content-type': contentType };
    if (sendsChecksum) headers['x-amz-checksum-sha256'] = digestOf('sha256', content);
    await this.#ask('PUT', this.#pathOf(key), { headers, body: content, isAnswer: hasTag });
  }

  async get(key: string): Promise<Buffer | undefined> {
    return this.#ask('GET', this.#pathOf(key), { mayBeAbsent: true, isAnswer: hasTag });
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += deletedMax) {
      const body = Buffer.from(deletionBody(keys.slice(at, at + deletedMax)));
      const headers = { 'content-type': 'application/xml', 'content-md5': digestOf('md5', body) };
      const answer = await this.#ask('POST', `${this.#options.basePath || '/'}?delete=`, {
        headers,
        body,
        isAnswer: ({ body }) => isWhole(body.toString('utf8'), 'DeleteResult'),
      });
      const refused = readDeletion(answer?.toString('utf8') ?? '');
      if (refused !== undefined) throw new StoreError(`the store refused: ${refused}`, false);
    }
  }

  async list(prefix: string, { after, max = 1000 }: ListOptions = {}): Promise<ObjectPage> {
    const query = new URLSearchParams({
      'list-type': '2',
      'encoding-type': 'url',
      'max-keys': String(max),
      prefix,
      ...(after !== undefined && { 'start-after': after }),
    });
    // A `+` is a plus where this is signed.
    const search = query.toString().replaceAll('+', '%20');
    const answer = await this.#ask('GET', `${this.#options.basePath || '/'}?${search}`, {
      isAnswer: ({ body }) => isWhole(body.toString('utf8'), 'ListBucketResult'),
    });
    return readListing(answer?.toString('utf8') ?? '');
  }

  addressOf(key: string, expiresInS: number): Promise<string> {
    return presignUrl(this.#options.origin, this.#pathOf(key), this.#scope(), expiresInS);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  #pathOf(key: string): string {
    const encoded = key
      .split('/')
      .map((part) =>
        encodeURIComponent(part).replace(
          /[!'()*]/g,
          (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
        ),
      );
    return `${this.#options.basePath}/${encoded.join('/')}`;
  }

  #scope() {
    const { region, credentials, nowMs } = this.#options;
    return { service: 's3', region, credentials, atMs: nowMs() };
  }

  /** The body of the answer; undefined = there is nothing, where that may be. */
  async #ask(
    method: 'GET' | 'PUT' | 'POST',
    path: string,
    { headers = {}, body, mayBeAbsent = false, isAnswer }: Asked,
  ): Promise<Buffer | undefined> {
    const { origin, timeoutMs } = this.#options;
    const signed = await signRequest(
      { method, origin, path, headers, body: body ?? undefined },
      this.#scope(),
    );
    let status: number;
    let answered: Answered;
    try {
      const reply = await this.#pool.request({
        method,
        path,
        headers: signed,
        body: body ?? null,
        signal: AbortSignal.timeout(timeoutMs),
      });
      answered = {
        headers: reply.headers,
        body: Buffer.from(await reply.body.arrayBuffer()),
      };
      status = reply.statusCode;
    } catch (error) {
      throw new StoreError('the store does not answer', true, error);
    }
    const isTaken = status >= 200 && status < 300;
    if (isTaken && isAnswer(answered)) return answered.body;
    const code = codeOf(answered.body);
    if (status === 404 && mayBeAbsent && (code === 'NoSuchKey' || answered.body.length === 0))
      return undefined;
    throw refusal(status, code, answered);
  }
}

interface Asked {
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array;
  readonly mayBeAbsent?: boolean;
  /** Whether a 2xx is the store's own: a proxy's page, as one to log in, is none. */
  readonly isAnswer: (answered: Answered) => boolean;
}

interface Answered {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** S3 has one for every object that it takes or gives. */
function hasTag({ headers }: Answered): boolean {
  return headers.etag !== undefined;
}

function codeOf(body: Buffer): string | undefined {
  return /<Code>(\w{1,64})<\/Code>/.exec(body.toString('utf8', 0, 4096))?.[1];
}

/** Who does not answer as S3 does is not the store: what it is asked for may be done when that is back. */
function refusal(status: number, code: string | undefined, { headers }: Answered): StoreError {
  if (code !== undefined)
    return new StoreError(
      `the store answered ${status} ${code}`,
      isPassing(status) || (status >= 300 && status < 400) || awayCodes.has(code),
    );
  const type = /^[\w.+/-]{1,64}/.exec(String(headers['content-type'] ?? ''))?.[0] ?? 'no content';
  return new StoreError(
    `the store answered ${status}, but not as S3 does (${type})`,
    !ofOneObject.has(status),
  );
}

function isPassing(status: number): boolean {
  return status >= 500 || status === 429 || status === 408;
}

/** Said by proxies, too, of what one object is. */
const ofOneObject: ReadonlySet<number> = new Set([400, 411, 413, 414]);

/** As the API bounds it. */
const deletedMax = 1000;

/** What an operator can mend without the object changing: kept until then. */
const awayCodes: ReadonlySet<string> = new Set([
  'AccessDenied',
  'AuthorizationHeaderMalformed',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'NoSuchBucket',
  'RequestTimeTooSkewed',
  'RequestTimeout',
  'SignatureDoesNotMatch',
  'SlowDown',
]);

function digestOf(algorithm: 'sha256' | 'md5', content: Uint8Array): string {
  return createHash(algorithm).update(content).digest('base64');
}
