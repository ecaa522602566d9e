import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '@sluice/errors';
import type { Dispatcher } from 'undici';
import { type ConnectGuardOptions, createConnectGuard } from './guarded-connect.ts';
import { type AddressAuthor, checkUpstreamUrl } from './host-rules.ts';
import { createUpstreamPools } from './pools.ts';
import { upstreamFailure } from './upstream-failure.ts';

export interface GuardedRequest {
  method?: Dispatcher.HttpMethod;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** For the whole exchange, from the look-up of the name to the last byte. */
  timeoutMs: number;
  /** A larger body is refused while it is read. */
  bytesMax: number;
  /** Counts the bytes of the body as they come; false = there is no room for them, and it is given up. */
  hold?: (bytes: number) => boolean;
  /** Where the address was written, for the error. */
  field?: string;
  /** Who named the address; default: an administrator. */
  by?: AddressAuthor;
  /** Nothing is sent: `status` 0 says that the host has addresses, all of which may be called. */
  lookUpOnly?: boolean;
  /** Ends it before its time. */
  signal?: AbortSignal;
  /** On whose account look-ups and connections are; default: the origin's own. */
  owner?: string;
}

export interface GuardedReply {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/**
 * One small request and its whole reply. Redirects are not followed: the caller
 * sees them. @throws GatewayError `host.invalid` or one of `upstream.*`
 */
export interface GuardedFetch {
  (url: string, request: GuardedRequest): Promise<GuardedReply>;
  /**
   * The same, with the body as it comes: for streams that may have no end of
   * their own. Faults of the body are thrown where it is read.
   */
  stream(url: string, request: StreamedRequest): Promise<StreamedReply>;
  /** Ends its connections. */
  close(): Promise<void>;
}

export interface StreamedRequest
  extends Pick<
    GuardedRequest,
    'method' | 'headers' | 'body' | 'bytesMax' | 'field' | 'by' | 'owner'
  > {
  /** Ends it, whatever is still to come. */
  signal: AbortSignal;
}

export interface StreamedReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: AsyncIterable<Buffer>;
  /** Of who does not read the body. */
  close(): void;
}

export interface GuardedFetchOptions extends ConnectGuardOptions {
  /** To one origin, on one account; more wait for one to be free. */
  readonly connectionsMax?: number;
}

/**
 * For requests to hosts that an administrator named, of which there are few:
 * key sets, token introspection, hooks. Calls that callers pay for go through
 * the pools themselves.
 */
export function createGuardedFetch({
  connectionsMax = 16,
  ...guard
}: GuardedFetchOptions): GuardedFetch {
  const connectGuard = createConnectGuard(guard);
  const pools = createUpstreamPools({
    guard: connectGuard,
    poolsMax: 200,
    connectionsMax,
    keepAliveMs: 5_000,
  });

  async function fetch(address: string, request: GuardedRequest): Promise<GuardedReply> {
    const { by = 'admin' } = request;
    const { url } = checkUpstreamUrl(address, guard.rules, request.field ?? 'url', by);
    const { owner = url.origin } = request;
    if (request.lookUpOnly === true) {
      await connectGuard.lookUp(url, by, owner).catch((error: unknown) => {
        throw upstreamFailure(error, false);
      });
      return { status: 0, headers: {}, body: Buffer.alloc(0) };
    }
    const deadline = AbortSignal.timeout(request.timeoutMs);
    let headKnown = false;
    try {
      const reply = await pools.pool(url.origin, { by, owner }).request({
        method: request.method ?? 'GET',
        path: `${url.pathname}${url.search}`,
        headers: { ...asItIs, ...request.headers },
        body: request.body ?? null,
        signal:
          request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal]),
      });
      headKnown = true;
      const body = await readAtMost(reply.body, request);
      return { status: reply.statusCode, headers: reply.headers, body };
    } catch (error) {
      if (deadline.aborted)
        throw new GatewayError('upstream.timeout', {
          message: `The host did not answer within ${request.timeoutMs} ms.`,
          cause: error,
          failureCause: 'timeout',
        });
      throw upstreamFailure(error, headKnown);
    }
  }

  async function stream(address: string, request: StreamedRequest): Promise<StreamedReply> {
    const { by = 'admin', signal } = request;
    const { url } = checkUpstreamUrl(address, guard.rules, request.field ?? 'url', by);
    const { owner = url.origin } = request;
    try {
      const { statusCode, headers, body } = await pools.pool(url.origin, { by, owner }).request({
        method: request.method ?? 'GET',
        path: `${url.pathname}${url.search}`,
        headers: { ...asItIs, ...request.headers },
        body: request.body ?? null,
        signal,
      });
      // Whoever does not read it does not hear of its end.
      body.on('error', () => {});
      const close = () => void body.destroy();
      return { status: statusCode, headers, body: readCounted(body, request.bytesMax), close };
    } catch (error) {
      throw upstreamFailure(error, false);
    }
  }

  return Object.assign(fetch, { stream, close: () => pools.close(0) });
}

/** Nothing is unpacked here, and without this a host may compress. */
const asItIs = { 'accept-encoding': 'identity' } as const;

async function* readCounted(
  body: AsyncIterable<Buffer>,
  bytesMax: number,
): AsyncGenerator<Buffer, undefined> {
  let total = 0;
  try {
    for await (const chunk of body) {
      total += chunk.length;
      if (total > bytesMax) throw new GatewayError('upstream.response_too_large');
      yield chunk;
    }
  } catch (error) {
    throw error instanceof GatewayError ? error : upstreamFailure(error, true);
  }
  return undefined;
}

async function readAtMost(
  body: AsyncIterable<Buffer>,
  { bytesMax, hold }: GuardedRequest,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of body) {
    total += chunk.length;
    if (total > bytesMax) throw new GatewayError('upstream.response_too_large');
    if (hold?.(chunk.length) === false) throw new GatewayError('overloaded');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, total);
}
