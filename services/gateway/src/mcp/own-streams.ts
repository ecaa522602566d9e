import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '@sluice/errors';
import {
  declares,
  type McpMessage,
  type McpRequest,
  mayBeAsked,
  metaKeys,
  rpcCodes,
} from '@sluice/mcp';
import type { McpCall } from './mcp-call.ts';
import { type OwnSession, type OwnSessions, sideHeaders } from './own-sessions.ts';
import { ServerMessages } from './server-messages.ts';
import { askServer } from './server-reply.ts';
import type { UpstreamDeps } from './upstream.ts';

/** Servers answer this at once; of one that does not, what it tells first may be missed. */
const openMs = 1_000;

/** A call that goes on at the server. */
export interface OngoingCall {
  readonly asked: McpRequest;
  /** Under which its server tells of its progress. */
  readonly token: string;
  readonly messages: ServerMessages;
}

interface OwnStream {
  readonly calls: Set<OngoingCall>;
  readonly opened: Promise<void>;
}

/** What may be answered by a question. */
const askingBack: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** Whether the answer to this may ask its caller that. */
export function mayAsk({ method, meta }: McpRequest, question: McpRequest): boolean {
  return askingBack.has(method) && mayBeAsked(meta?.[metaKeys.clientCapabilities], question);
}

/** What a server is told that asks what no caller is shown. */
export function ownAnswer({ id, method }: McpRequest): object {
  if (method === 'ping') return { id, result: {} };
  const message = `Method not found: the client has not said that it may be asked ${method}.`;
  return { id, error: { code: rpcCodes.methodNotFound, message } };
}

/**
 * The streams of sessions that the gateway has by itself. Many servers ask there, and not on the stream of the call that they ask
 * for: it is the caller of the session in any case, and of two calls at a time the one that began first.
 */
export class OwnStreams {
  readonly #deps: UpstreamDeps & { readonly sessions: OwnSessions };
  readonly #streams = new WeakMap<OwnSession, OwnStream>();

  constructor(deps: UpstreamDeps & { readonly sessions: OwnSessions }) {
    this.#deps = deps;
  }

  /** Before a call is sent to a server that may tell of it there. Never rejects. */
  async open(call: McpCall, { method, meta }: McpRequest, session: OwnSession): Promise<void> {
    const declared = meta?.[metaKeys.clientCapabilities];
    const isTold = ['elicitation', 'sampling', 'roots'].some((name) => declares(declared, name));
    if (session.link === undefined && (!isTold || !askingBack.has(method))) return;
    let stream = this.#streams.get(session);
    if (stream === undefined) {
      stream = { calls: new Set(), opened: this.#hear(call, session) };
      this.#streams.set(session, stream);
    }
    await stream.opened;
  }

  /** @returns what is called when it is over */
  enter(session: OwnSession, call: OngoingCall): () => void {
    const calls = this.#streams.get(session)?.calls;
    calls?.add(call);
    return () => calls?.delete(call);
  }

  /** Resolves when the stream is open, or will not be. */
  async #hear(call: McpCall, session: OwnSession): Promise<void> {
    const { side, link, ended } = session;
    if (link !== undefined) {
      // What is told of one call alone is heard by it.
      link.listen((message) => {
        this.#tell(call, session, message);
        return true;
      });
      return;
    }
    const opening = askServer(call, 'GET', sideHeaders(side), undefined, ended.signal, this.#deps);
    const heard = opening.then(async (upstream) => {
      // One that tells nothing by itself.
      if (upstream.status !== 200 || !upstream.isEventStream)
        return upstream.abort(new GatewayError('request.aborted'));
      void this.#listen(call, session, ServerMessages.told(upstream));
    });
    heard.catch(() => undefined);
    await Promise.race([heard.catch(() => undefined), delay(openMs, undefined, { ref: false })]);
  }

  async #listen(call: McpCall, session: OwnSession, messages: ServerMessages): Promise<void> {
    try {
      for (;;) {
        const message = await messages.next();
        if (message === undefined) break;
        this.#tell(call, session, message);
      }
    } catch {
      // It was lost, as streams are.
    }
    // Who calls next opens another one; calls that go on hear nothing more there.
    this.#streams.delete(session);
  }

  #tell(call: McpCall, session: OwnSession, message: McpMessage): void {
    // What is told of a call whose caller reads slowly is left out: this stream is that of others as well.
    const calls = [...(this.#streams.get(session)?.calls ?? [])].filter(
      ({ messages }) => !messages.isFull,
    );
    if (message.kind === 'request') {
      const asking = calls.find(({ asked }) => mayAsk(asked, message));
      if (asking !== undefined) {
        asking.messages.add(message);
        return;
      }
      const { sessions, timeoutMs } = this.#deps;
      const signal = AbortSignal.timeout(timeoutMs);
      sessions.tell(call, session, ownAnswer(message), signal).catch(() => undefined);
    } else if (message.kind === 'notification') {
      const { method, params } = message;
      if (method === 'notifications/progress')
        calls.find(({ token }) => token === params?.progressToken)?.messages.add(message);
      else if (method === 'notifications/message') calls[0]?.messages.add(message);
    }
  }
}
