import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '@sluice/errors';
import {
  type AddressAuthor,
  type ConnectGuard,
  type TlsIdentity,
  upstreamFailure,
} from '@sluice/outbound';
import { objectOf } from '@sluice/providers';
import type { buildConnector } from 'undici';
import { type ClientOptions, WebSocket } from 'ws';
import { abortReason } from '../http/caller-gone.ts';
import { jsonObjectIn } from '../http/json-body.ts';

export interface UpstreamAddress {
  /** `https://api.openai.com`. */
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly protocols: readonly string[];
  readonly tls: TlsIdentity | undefined;
  readonly by: AddressAuthor;
  /** On whose account it is looked up and connected to. */
  readonly owner: string;
}

export interface ConnectOptions {
  readonly guard: ConnectGuard;
  /** From the look-up of the name to the answer. */
  readonly timeoutMs: number;
  readonly frameBytesMax: number;
  readonly signal: AbortSignal;
}

/** Of a refusal; it is looked at for its message. */
const refusalBytesMax = 16 * 1024;
const refusalTimeoutMs = 1000;

/**
 * Opens a WebSocket at a provider, through the same checks, proxies and identities as any call. It is
 * paused: nothing that it says is lost until somebody listens and resumes it.
 * @throws GatewayError `upstream.…`, `host.invalid`, `request.aborted`; `upstream.error` with the status of a refusal
 */
export function connectUpstream(to: UpstreamAddress, options: ConnectOptions): Promise<WebSocket> {
  const { guard, timeoutMs, frameBytesMax, signal } = options;
  const connect = guard.connector({ tls: to.tls, by: to.by, owner: () => to.owner });
  const url = new URL(to.origin);
  const clientOptions: ClientOptions = {
    headers: plainHeaders(to.headers),
    perMessageDeflate: false,
    maxPayload: frameBytesMax,
    followRedirects: false,
    // What is passed on is the reader's to judge.
    skipUTF8Validation: true,
    createConnection: connectWith(connect, url),
  };
  return new Promise((resolve, reject) => {
    let socket: WebSocket;
    const address = `${url.protocol === 'https:' ? 'wss' : 'ws'}://${url.host}${to.path}`;
    try {
      socket = new WebSocket(address, [...to.protocols], clientOptions);
    } catch (error) {
      reject(upstreamFailure(invalidArgument(error), false));
      return;
    }
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    const fail = (error: GatewayError) => {
      settle();
      reject(error);
      socket.on('error', () => {});
      socket.terminate();
    };
    const onAbort = () => fail(abortReason(signal));
    const timer = setTimeout(() => fail(timedOut(timeoutMs)), timeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('open', () => {
      // Before what came with the answer is read.
      socket.pause();
      settle();
      resolve(socket);
    });
    socket.once('error', (error) => fail(failureOf(error)));
    socket.once('unexpected-response', (_request, response) => {
      refusalOf(response).then(fail, fail);
    });
    if (signal.aborted) onAbort();
  });
}

/** `http` waits for the connection that this calls back with. */
function connectWith(
  connect: buildConnector.connector,
  { protocol, hostname, host, port }: URL,
): ClientOptions['createConnection'] {
  const open = (_options: unknown, done: (error: Error | null, socket?: Socket) => void) => {
    connect({ protocol, hostname, host, port }, (...[error, socket]) =>
      error === null ? done(null, socket) : done(error),
    );
  };
  return open as unknown as ClientOptions['createConnection'];
}

/** What `http` and `ws` throw before anything is sent: a header or a path that HTTP forbids. */
function invalidArgument(error: unknown): Error {
  return Object.assign(new Error('nothing was sent', { cause: error }), {
    code: 'UND_ERR_INVALID_ARG',
  });
}

/** `ws` has no codes for what is not WebSocket. */
function failureOf(error: Error & { code?: string }): GatewayError {
  const isOfHandshake =
    error.code?.startsWith('WS_ERR_') === true ||
    /^(?:Invalid Sec-WebSocket|Invalid Upgrade|Server sent|Invalid subprotocol)/.test(
      error.message,
    );
  return isOfHandshake
    ? new GatewayError('upstream.invalid_response', {
        cause: error,
        failureCause: 'invalid_response',
        message: 'The provider answered with something that is no WebSocket.',
      })
    : upstreamFailure(error, false);
}

function timedOut(timeoutMs: number): GatewayError {
  return new GatewayError('upstream.timeout', {
    message: `The provider did not open a session within ${timeoutMs} ms.`,
    failureCause: 'timeout',
  });
}

/** An answer of HTTP in the place of a session: its status, and what it says of itself. */
async function refusalOf(response: IncomingMessage): Promise<GatewayError> {
  const status = response.statusCode ?? 502;
  const retryAfter = response.headers['retry-after'];
  const message = messageIn(await beginningOf(response));
  return new GatewayError('upstream.error', {
    // A redirect is not followed, and a plain answer is none to a handshake.
    status: status >= 400 ? status : 502,
    message: `The provider refused the session with ${status}${message === '' ? '' : `: ${message}`}`,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  });
}

function beginningOf(response: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const end = () => {
      clearTimeout(timer);
      resolve(Buffer.concat(pieces).toString());
      response.destroy();
    };
    const timer = setTimeout(end, refusalTimeoutMs);
    response.on('data', (piece: Buffer) => {
      pieces.push(piece);
      length += piece.length;
      if (length >= refusalBytesMax) end();
    });
    response.on('error', end);
    response.on('close', end);
    response.on('end', end);
  });
}

const messageLengthMax = 300;

function messageIn(text: string): string {
  const body = jsonObjectIn(Buffer.from(text));
  const { error } = body ?? {};
  const said = (typeof error === 'string' ? error : objectOf(error)?.message) ?? body?.message;
  return typeof said === 'string' ? said.slice(0, messageLengthMax).toWellFormed() : '';
}

function plainHeaders(headers: UpstreamAddress['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]),
  );
}
