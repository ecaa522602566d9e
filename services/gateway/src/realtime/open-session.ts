import type { ConnectGuard } from '@sluice/outbound';
import type { WebSocket } from 'ws';
import { authorised } from '../calls/authorised-call.ts';
import type { CallAuthoriser } from '../calls/call-authoriser.ts';
import type { CallRules } from '../calls/prepare/call-rules.ts';
import { newCall } from '../calls/prepare/new-call.ts';
import { prepareUnified } from '../calls/prepare/prepare-unified.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { PreparedCall } from '../exchange/prepared-call.ts';
import type { Reply } from '../exchange/reply.ts';
import type { Target } from '../exchange/target.ts';
import type { OwnerNotes } from '../owners/owner-notes.ts';
import type { Step } from '../visit/step.ts';
import { refuseOthers } from '../visit/steps/note-owner.ts';
import { callOf, targetOf } from '../visit/target-visit.ts';
import { connectUpstream } from './connect-upstream.ts';
import { sessionUpdate } from './session-document.ts';
import { type SessionGuardParts, SessionGuards } from './session-guards.ts';
import { type MeterParts, SessionMeter } from './session-meter.ts';
import { SessionObjects } from './session-objects.ts';
import { SessionTalk, type TalkParts } from './session-talk.ts';
import type { Sessions } from './sessions.ts';
import { readProtocols } from './sub-protocols.ts';

/** A session that a provider has opened, and nobody listens to yet. */
export interface OpenedSession {
  readonly upstream: WebSocket;
  readonly meter: SessionMeter;
  readonly call: PreparedCall;
  /** False = it is beside a call that another of our connections counts. */
  readonly isMetered: boolean;
  /** Undefined = nobody judges what is said. */
  readonly guards: SessionGuards | undefined;
  /** Undefined = nothing is named in it that stays at the provider. */
  readonly objects: SessionObjects | undefined;
  /** Undefined = its bodies are not kept. */
  readonly talk: SessionTalk | undefined;
  /** Of a translation: so much of it is one request. */
  readonly stretchMs: number;
  /** Gives its place back, once it is over. */
  readonly leave: () => void;
  /** Nobody will listen: it is as if it had not been opened. */
  readonly giveUp: () => void;
}

export interface OpenSessionParts
  extends CallRules,
    MeterParts,
    SocketParts,
    SessionGuardParts,
    TalkParts {
  readonly sessions: Sessions;
  readonly owners: OwnerNotes;
  readonly stretchMs: number;
}

const opened = new WeakMap<Exchange, OpenedSession>();

/** What a handshake came to; undefined = it was answered by something else. */
export function sessionOf(exchange: Exchange): OpenedSession | undefined {
  return opened.get(exchange);
}

/** Address and credential of a session: as of any call, with the model in the query. */
export function prepareSession(rules: CallRules): Step {
  return {
    run(visit, next) {
      const { exchange } = visit;
      const target = targetOf(visit);
      const request = prepareUnified(exchange, target, undefined, rules);
      const [path = '', own = ''] = splitQuery(request.path, exchange.subject.search);
      const { minted, search } = exchange.subject;
      // Of a transcription the vendor reads the model in the session alone.
      const isTranscribed = minted?.kind === 'transcription';
      const named = isTranscribed ? { ...target, model: '' } : target;
      const query = joined(own, queryOf(search, named, own));
      visit.prepared = newCall({ ...request, path: `${path}${query}` }, exchange, target, visit);
      return next(visit);
    },
  };
}

/** The path, and what of its query is the provider's own: its end is what the caller wrote. */
function splitQuery(path: string, search: string): [string, string] {
  const end = path.length - Math.max(0, search.length - 1);
  const written = search === '' ? path : path.slice(0, end).replace(/[?&]$/, '');
  const at = written.indexOf('?');
  return at < 0 ? [written, ''] : [written.slice(0, at), written.slice(at + 1)];
}

function joined(own: string, callers: string): string {
  const query = [own, callers].filter((part) => part !== '').join('&');
  return query === '' ? '' : `?${query}`;
}

/** The caller's query as it came, but for the name of the model. */
function queryOf(search: string, target: Target, own: string): string {
  const parts = search
    .slice(1)
    .split('&')
    .filter((part) => part !== '');
  const isNamed = /(?:^|&)(?:model|deployment)=/.test(own);
  const kept = parts.filter((part) => nameOf(part) !== 'model');
  if (target.model === '' || isNamed) return kept.join('&');
  const at = parts.findIndex((part) => nameOf(part) === 'model');
  const model = `model=${encodeURIComponent(target.model)}`;
  return kept.toSpliced(Math.max(0, at), 0, model).join('&');
}

function nameOf(part: string): string {
  const [name = ''] = part.split('=', 1);
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name;
  }
}

/** Innermost: takes what the first event needs of its limits, and opens the provider's side. */
export function openSession(parts: OpenSessionParts): Step {
  return {
    async run(visit) {
      const call = callOf(visit);
      refuseOthers(visit);
      const leave = parts.sessions.enter(visit.exchange);
      const meter = new SessionMeter(call, visit.exchange, parts);
      try {
        await meter.begin();
        const { minted, named } = visit.exchange.subject;
        const upstream = await openSocket(
          call,
          readProtocols(visit.exchange.arrival.headers['sec-websocket-protocol']).forwarded,
          parts,
        );
        const update =
          minted === undefined ? undefined : sessionUpdate({ ...minted, model: call.target.model });
        if (update !== undefined) upstream.send(JSON.stringify(update));
        const giveUp = () => {
          upstream.on('error', () => {});
          upstream.terminate();
          meter.giveUp();
          leave();
        };
        // Whoever made the call listens to it as well.
        const isMetered = named?.own?.kind !== 'call';
        opened.set(visit.exchange, {
          upstream,
          meter,
          call,
          isMetered,
          guards: SessionGuards.of(visit.exchange, call.target, parts),
          objects: SessionObjects.of(visit.exchange, call, parts.owners),
          talk: isMetered ? SessionTalk.of(visit.exchange, parts) : undefined,
          stretchMs: parts.stretchMs,
          leave,
          giveUp,
        });
      } catch (error) {
        meter.giveUp();
        leave();
        throw error;
      }
      const reply: Reply = { kind: 'body', status: 101, headers: {}, body: Buffer.alloc(0) };
      return { status: 200, stops: true, reply, error: undefined };
    },
  };
}

export interface SocketParts {
  readonly guard: ConnectGuard;
  readonly authoriser: CallAuthoriser;
  readonly connectTimeoutMs: number;
  readonly frameBytesMax: number;
}

/** The provider's side of a session, paused. @throws GatewayError as `connectUpstream` */
export async function openSocket(
  call: PreparedCall,
  protocols: readonly string[],
  { guard, authoriser, connectTimeoutMs, frameBytesMax }: SocketParts,
): Promise<WebSocket> {
  const { target, requester } = call;
  const { signal } = requester.arrival;
  const sent = await authorised(call, signal, authoriser);
  return connectUpstream(
    {
      origin: sent.origin,
      path: call.path,
      headers: sent.headers,
      protocols,
      tls: target.tls,
      by: call.addressBy,
      owner: requester.key?.source.workspaceId ?? '',
    },
    {
      guard,
      timeoutMs: Math.min(target.timeoutMs ?? connectTimeoutMs, connectTimeoutMs),
      frameBytesMax,
      signal,
    },
  );
}
