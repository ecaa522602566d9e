import { GatewayError } from '@sluice/errors';
import { McpFault, type McpMessage, type McpRequest, rpcCodes } from '@sluice/mcp';
import { checkUpstreamUrl } from '@sluice/outbound';
import type { UpstreamCall } from '../calls/upstream-call.ts';
import { type Abortable, abortReason } from '../http/caller-gone.ts';
import type { McpCall } from './mcp-call.ts';
import {
  askServer,
  invalidReply,
  mayHaveForgotten,
  type ServerReply,
  smallBodyMax,
} from './server-reply.ts';
import { readLink, SseLink } from './sse-link.ts';
import type { UpstreamDeps } from './upstream.ts';

/** Whoever has a link. */
export interface LinkOwner {
  /** Of what nobody waits for; false = it is kept for a listener to come. */
  stray(message: McpMessage): boolean;
  /** It has ended, whoever ended it. */
  closed(link: SseLink): void;
}

/** Opens a link, and waits for the address that it names. @throws GatewayError, McpFault */
export async function openLink(
  call: McpCall,
  signal: Abortable,
  deps: UpstreamDeps,
  owner: LinkOwner,
): Promise<SseLink> {
  const link = new SseLink((message) => owner.stray(message));
  const { url } = checkUpstreamUrl(call.server.source.url, deps.hostRules, 'url', 'admin');
  const onAbort = () => link.close(signal.reason as GatewayError);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const upstream = await askServer(call, 'GET', {}, undefined, link.signal, deps);
    if (upstream.status !== 200 || !upstream.isEventStream)
      throw new McpFault({
        status: 200,
        code: rpcCodes.internalError,
        message: `The MCP server opened no stream: it answered with the status ${upstream.status}.`,
        data: { upstream_status: upstream.status },
      });
    link.resume = () => upstream.resume();
    await new Promise<void>((resolve, reject) => {
      readLink(upstream, url as URL, {
        endpoint(path) {
          link.endpoint = path;
          resolve();
        },
        message: (message) => link.take(message),
        closed: (error) => {
          link.close(error);
          owner.closed(link);
          reject(error ?? new GatewayError('upstream.stream_cut'));
        },
      });
    });
    return link;
  } catch (error) {
    link.close();
    // The call knows of its link alone: who ended that, and why, is said here.
    throw signal.aborted ? abortReason(signal) : error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** The server does not know the session of a link any more: the message was not accepted. */
export class SessionForgotten extends McpFault {
  constructor(asked: McpRequest, status: number) {
    const { message, code, idText } = refused(asked, status);
    super({ status: 200, code, message, idText });
  }
}

function refused(asked: McpRequest, status: number): McpFault {
  return invalidReply(asked, `it answered with the status ${status}`);
}

/** How one request is asked on a link. */
export interface LinkAsk {
  readonly call: McpCall;
  readonly signal: Abortable;
  /** Anything but its answer that belongs to it. False = its caller reads too slowly. */
  readonly told?: ((message: McpMessage) => boolean) | undefined;
}

/** Sends a request, and waits for its answer on the link. @throws SessionForgotten, McpFault, GatewayError, the reason of the signal */
export function askOn(
  link: SseLink,
  asked: McpRequest,
  { call, signal, told = () => true }: LinkAsk,
  deps: UpstreamDeps,
): Promise<ServerReply> {
  // It may have ended as soon as it had begun.
  if (link.isClosed) return Promise.reject(new GatewayError('upstream.stream_cut'));
  return new Promise((resolve, reject) => {
    const done = link.wait(asked.id, {
      progressToken: asked.progressToken,
      told,
      answered(message) {
        stop();
        resolve(message as ServerReply);
      },
      failed(error) {
        stop();
        reject(error);
      },
    });
    const onAbort = () => {
      stop();
      reject(signal.reason);
    };
    const stop = () => {
      done();
      signal.removeEventListener('abort', onAbort);
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    postTo(call, link.endpoint, asked.bytes, signal, deps).then(
      (upstream) => {
        const { status } = upstream;
        if (status <= 299) return;
        stop();
        const isForgotten = mayHaveForgotten(upstream);
        reject(isForgotten ? new SessionForgotten(asked, status) : refused(asked, status));
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
  });
}

/** Messages are only acknowledged: what they come to is told on the link. */
export async function postTo(
  call: McpCall,
  path: string,
  bytes: Buffer,
  signal: Abortable,
  deps: UpstreamDeps,
): Promise<UpstreamCall> {
  const upstream = await askServer(call, 'POST', {}, bytes, signal, deps, path);
  await upstream.readAll(smallBodyMax);
  return upstream;
}
