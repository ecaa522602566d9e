import { fromUnknown, GatewayError } from '@sluice/errors';
import {
  errorReply,
  type McpErrorReply,
  McpFault,
  type McpMessage,
  type McpRequest,
  type McpResponse,
  MessageEdit,
  messageBounds,
  readMessage,
  rpcCodes,
  type SseBlock,
  SseReader,
  writeSseEvent,
} from '@sluice/mcp';
import { compressedStream, isCompressed } from '../calls/unpack.ts';
import type { UpstreamCall } from '../calls/upstream-call.ts';
import type { Abortable } from '../http/caller-gone.ts';
import { type Awaited, EventReading, withMessage, withoutMessage } from './events.ts';
import { ToolDenial } from './guards/tool-denial.ts';
import type { McpCall } from './mcp-call.ts';
import type { Session } from './session.ts';
import { SignInNeeded } from './sign-in-needed.ts';
import { type CallDeadline, callServer, type UpstreamDeps } from './upstream.ts';
import { upstreamHeaders } from './upstream-headers.ts';

/** Of a reply that holds no result: a refusal, an acknowledgement. */
export const smallBodyMax = 1024 * 1024;

/**
 * Asks the call's server, with the caller's headers that go on, and waits for the head of its answer. With a token that it does not
 * take (401: nobody accepted the message) it is asked once more with another one.
 * @param path another one of the same origin
 * @throws GatewayError, McpFault
 */
export async function askServer(
  call: McpCall,
  method: 'POST' | 'GET' | 'DELETE',
  protocol: Record<string, string>,
  body: Buffer | undefined,
  signal: Abortable,
  deps: UpstreamDeps,
  path?: string,
): Promise<UpstreamCall> {
  const { server, exchange, bundle } = call;
  const owner = bundle.source.workspaceId;
  const ask = (token: string | undefined) => {
    const headers = upstreamHeaders(server, exchange.arrival.headers, call.told, token);
    Object.assign(headers, method === 'POST' ? ofPost : ofStream, protocol);
    return callServer(server, { method, headers, body, signal, owner, path }, deps);
  };
  const { tokens } = deps;
  const held = tokens.tokenFor(call);
  const token = held instanceof Promise ? await held : held;
  const upstream = ask(token);
  await upstream.head;
  if (token === undefined) return inPlain(upstream);
  const another = await tokenInstead(call, upstream, token, deps);
  if (another === undefined) return inPlain(upstream);
  const again = ask(another);
  await again.head;
  return inPlain(again);
}

/** Bodies are unpacked where they are read. @throws GatewayError of a stream that came compressed */
function inPlain(upstream: UpstreamCall): UpstreamCall {
  if (!upstream.isEventStream || !isCompressed(upstream.headers)) return upstream;
  const refused = compressedStream();
  upstream.abort(refused);
  throw refused;
}

/** A reply that is read must not be compressed on the way; without the header any server may. */
const plain = { 'accept-encoding': 'identity' } as const;
const ofPost = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  ...plain,
} as const;
const ofStream = { accept: 'text/event-stream', ...plain } as const;

/** What to ask with once more, after a server did not take a token as it is; undefined = the answer stands. @throws McpFault */
async function tokenInstead(
  call: McpCall,
  upstream: UpstreamCall,
  token: string,
  { tokens }: UpstreamDeps,
): Promise<string | undefined> {
  if (upstream.status === 401) {
    await peek(upstream);
    return tokens.tokenAfter(call, token);
  }
  const wanted = upstream.status === 403 ? wantedScope(upstream) : undefined;
  if (wanted === undefined) return undefined;
  await peek(upstream);
  return tokens.tokenWith(call, token, wanted);
}

/** Scopes that a server wants besides those of the token (RFC 6750, 3.1). */
function wantedScope({ headers }: UpstreamCall): string | undefined {
  const challenge = String(headers['www-authenticate'] ?? '');
  if (!/\berror="?insufficient_scope\b/i.test(challenge)) return undefined;
  return /\bscope="([\x21\x23-\x5b\x5d-\x7e ]{1,1000})"/i.exec(challenge)?.[1];
}

/** What comes back for a request. */
export type ServerReply = McpResponse | McpErrorReply;

/** The answer to a request, wherever it stands in the reply. @throws McpFault, GatewayError */
export async function readAnswer(upstream: UpstreamCall, asked: McpRequest): Promise<ServerReply> {
  if (upstream.status === 200 && upstream.isEventStream) {
    const events = new SseReader();
    const reading = new EventReading(asked);
    return new Promise((resolve, reject) => {
      upstream.consume({
        data(chunk) {
          try {
            for (const event of events.push(chunk)) {
              const message = reading.read(event);
              if (message?.kind !== 'response' && message?.kind !== 'error') continue;
              const answer = answerOf(asked, message);
              if (answer !== undefined) resolve(answer);
            }
          } catch (error) {
            reject(error);
          }
          return true;
        },
        end: () =>
          reject(reading.fault ?? invalidReply(asked, 'its stream ended without the answer')),
        fail: reject,
      });
    });
  }
  const body = await upstream.readAll(messageBounds.upstream.bytesMax);
  return readReply(upstream, body, asked);
}

/** The body of an answer as the message that it must be. */
export function readReply(
  upstream: UpstreamCall,
  body: Buffer,
  asked: McpRequest,
  read: (bytes: Buffer) => McpMessage = readUpstream,
): ServerReply {
  const { status } = upstream;
  const message = messageIn(body, read);
  if (message.kind === 'error') {
    // Of another status it is still what the server says of this request.
    if (message.id === asked.id) return message;
    const { code, message: text, data } = message.error;
    return readMessage(
      errorReply(asked.idText, { code, message: text, data }),
      messageBounds.upstream,
    ) as typeof message;
  }
  if (status < 200 || status > 299) throw statusFault(status);
  if (message.kind === 'unread') throw invalidReply(asked, message.why);
  if (message.kind !== 'response') throw invalidReply(asked, 'it is no JSON-RPC response');
  const answer = answerOf(asked, message);
  if (answer === undefined) throw invalidReply(asked, 'it has the id of another request');
  return answer;
}

/**
 * What a server says in the reply to a request, as the answer to it, under the id that was asked: some write a number as
 * a text, and leave it out of errors. Undefined = it is another's.
 */
export function answerOf(
  asked: Pick<McpRequest, 'id' | 'idText'>,
  said: ServerReply,
): ServerReply | undefined {
  if (said.id === asked.id) return said;
  if (said.id === undefined ? said.kind !== 'error' : String(said.id) !== String(asked.id))
    return undefined;
  const bytes = new MessageEdit(said).setId(asked.idText).bytes();
  return readMessage(bytes, messageBounds.upstream) as ServerReply;
}

/**
 * The same of an event. Undefined = it is another's, which nobody has judged: it is not told, since there are clients that
 * take ids for equal that are not (`" 5"`, `5`).
 */
export function answerIn(
  event: SseBlock,
  said: ServerReply,
  asked: McpRequest,
): { answer: ServerReply; event: SseBlock } | undefined {
  const answer = answerOf(asked, said);
  if (answer === undefined || answer === said) return answer && { answer, event };
  return { answer, event: { ...event, bytes: withMessage(event, answer.bytes) } };
}

export interface EventTakers {
  /** Whose answer the stream may tell. */
  readonly awaited: Awaited;
  /** @param message undefined = it says nothing */
  event(event: SseBlock, message: McpMessage | undefined): Buffer;
  end(): void;
  fail(error: unknown): void;
}

/** Passes events on as they come, as fast as the caller takes them. What is no message is left out, but for what may be the answer: it fails. */
export function pipeEvents(
  call: McpCall,
  upstream: UpstreamCall,
  { awaited, event, end, fail }: EventTakers,
): void {
  const { reply } = call;
  const events = new SseReader();
  const reading = new EventReading(awaited);
  reply.onDrain(() => upstream.resume());
  upstream.consume({
    data(chunk) {
      const passed: Buffer[] = [];
      const pass = () => reply.write(passed.length === 1 ? passed[0]! : Buffer.concat(passed));
      try {
        for (const each of events.push(chunk)) {
          const message = reading.read(each);
          passed.push(message === null ? withoutMessage(each) : event(each, message));
        }
        return passed.length === 0 || pass();
      } catch (error) {
        // Those before it are events as any.
        if (passed.length > 0) pass();
        // Before it is broken off, which is told as a failure too: this one says what was wrong.
        fail(error);
        upstream.abort(new GatewayError('upstream.invalid_response', { cause: error }));
        return false;
      }
    },
    end: () => (reading.fault === undefined ? end() : fail(reading.fault)),
    fail,
  });
}

/** `unread`: it is none, and why. */
function messageIn(
  body: Buffer,
  read = readUpstream,
): McpMessage | { kind: 'unread'; why: string } {
  try {
    return read(body);
  } catch (error) {
    if (error instanceof McpFault)
      return { kind: 'unread', why: `it is no JSON-RPC response: ${error.message}` };
    throw error;
  }
}

function readUpstream(bytes: Buffer): McpMessage {
  return readMessage(bytes, messageBounds.upstream);
}

/** The JSON-RPC error that a body is. */
export function errorIn(body: Buffer) {
  const message = messageIn(body);
  return message.kind === 'error' ? message.error : undefined;
}

export function invalidReply(asked: McpRequest, why: string): McpFault {
  return new McpFault({
    status: 200,
    code: rpcCodes.internalError,
    message: `The MCP server gave no usable answer: ${why}.`,
    idText: asked.idText,
  });
}

/** Of a message that has no answer. @param said the JSON-RPC error that it was refused with */
export function notTaken(status: number, said?: ReturnType<typeof errorIn>): McpFault {
  return new McpFault({
    status: status >= 400 && status < 500 ? status : 502,
    code: said?.code ?? rpcCodes.internalError,
    message: said?.message ?? 'The MCP server did not take the message.',
    data: said?.data ?? { upstream_status: status },
  });
}

export function statusFault(status: number): McpFault {
  return new McpFault({
    status: 200,
    code: rpcCodes.internalError,
    message: `The MCP server answered with the status ${status}.`,
    data: { upstream_status: status },
  });
}

/**
 * Ends a call that failed: where the head is sent, with what went wrong on the stream.
 * @throws the failure where it is not, or is one of ours, which somebody looks at
 */
export function tellFailure({ reply }: McpCall, asked: McpRequest, failure: unknown): void {
  if (!reply.isStreaming) throw failure;
  const isServers = failure instanceof McpFault;
  const bytes = isServers ? faultBytes(failure, asked) : ownFailure(fromUnknown(failure), asked);
  reply.write(writeSseEvent(bytes));
  reply.endStream();
  if (!isServers) throw failure;
}

function ownFailure({ code, message }: GatewayError, { idText }: McpRequest): Buffer {
  return errorReply(idText, { code: rpcCodes.internalError, message, data: { code } });
}

export function faultBytes(fault: McpFault, { idText }: Pick<McpRequest, 'idText'>): Buffer {
  if (fault instanceof ToolDenial) return fault.answer;
  const { code, message, data } = fault;
  return errorReply(idText, { code, message, ...(data === undefined ? {} : { data }) });
}

/** What went wrong with the upstream, in JSON-RPC's words. @param asked undefined = nobody waits for an answer of its own */
export function failureOf(
  error: unknown,
  asked: McpRequest | undefined,
  deadline: CallDeadline | undefined,
): unknown {
  if (error instanceof SignInNeeded) return asked === undefined ? error : error.of(asked);
  if (error instanceof McpFault)
    // A fault of a question of our own (a list, a session) is told whoever waits under their id.
    return asked === undefined || error.idText === asked.idText || error instanceof ToolDenial
      ? error
      : new McpFault({
          // Whoever asked has an answer: that there is none of the server's.
          status: error.status === 502 ? 200 : error.status,
          code: error.code,
          message: error.message,
          data: error.data,
          idText: asked.idText,
        });
  if (!(error instanceof GatewayError) || error.code === 'request.aborted') return error;
  if (deadline?.isOver === true || error.code === 'upstream.timeout')
    return new McpFault({
      status: asked === undefined ? 504 : 200,
      code: rpcCodes.requestTimeout,
      message: 'Request timed out: the MCP server did not answer in time.',
      ...(asked === undefined ? {} : { idText: asked.idText }),
    });
  if (!error.code.startsWith('upstream.') && !error.code.startsWith('host.')) return error;
  return new McpFault({
    status: asked === undefined ? 502 : 200,
    code: rpcCodes.internalError,
    message: error.message.replace('The provider', 'The MCP server'),
    data: { reason: error.failureCause ?? error.code },
    ...(asked === undefined ? {} : { idText: asked.idText }),
  });
}

export function sessionHeaders({
  upstreamId,
  revision,
}: Pick<Session, 'upstreamId' | 'revision'>): Record<string, string> {
  return upstreamId === ''
    ? { 'mcp-protocol-version': revision }
    : { 'mcp-session-id': upstreamId, 'mcp-protocol-version': revision };
}

/** By what it answered with alone. */
export function mayHaveForgotten({ status }: UpstreamCall): boolean {
  return status === 404 || status === 400;
}

/** Servers that keep sessions in memory say so of one they do not know: by 404, as they should, or by 400. */
export async function hasForgotten(upstream: UpstreamCall): Promise<boolean> {
  if (upstream.status === 404) {
    const said = errorIn(await peek(upstream));
    // A method that it does not know is not a session that it does not know.
    return said?.code !== rpcCodes.methodNotFound;
  }
  if (upstream.status !== 400) return false;
  const said = errorIn(await peek(upstream));
  // No server with sessions knows this code: it has none any more.
  if (said?.code === rpcCodes.unsupportedVersion) return true;
  return (
    said !== undefined &&
    said.code >= -32001 &&
    said.code <= -32000 &&
    /session|not initiali[sz]ed/i.test(said.message)
  );
}

/** The body of a refusal, which is left for whoever reads it next. */
async function peek(upstream: UpstreamCall): Promise<Buffer> {
  const body = await upstream.readAll(smallBodyMax);
  upstream.readAll = async () => body;
  return body;
}
