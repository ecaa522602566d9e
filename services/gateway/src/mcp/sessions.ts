import type { JsonObject } from '@sluice/contracts';
import { JsonEdit } from '@sluice/json';
import {
  advertiseRelayed,
  legacyVersions,
  McpFault,
  type McpRequest,
  MessageEdit,
  negotiated,
  rpcCodes,
  type Sealer,
} from '@sluice/mcp';
import { RecentMap } from '../chain/recent-map.ts';
import type { McpCall } from './mcp-call.ts';
import { invalidReply, type ServerReply } from './server-reply.ts';
import {
  isCurrent,
  newSessionName,
  openSession,
  type Session,
  sealSession,
  sessionSeconds,
} from './session.ts';
import type { SessionNote, SessionNotes } from './session-notes.ts';

export interface SessionsOptions {
  readonly sealer: Sealer;
  readonly notes: SessionNotes;
  /** This life of this gateway. */
  readonly replicaId: string;
}

/** What the upstream knows a session by. */
export interface UpstreamSide {
  readonly id: string;
  readonly revision: string;
}

/** A session that was begun, and the answer that tells of it. */
export interface BegunSession {
  readonly session: Session;
  readonly id: string;
  readonly answer: Buffer;
}

/** Ids of 2 kB and what is in them are 16 MB at most; nearly all are of 500 bytes. */
const openedMax = 4_000;

/** Of the check of what is sealed, which ends an id: no two that are genuine share so much. */
const endLength = 16;

interface Opened {
  readonly id: string;
  readonly session: Session;
}

/** Sessions of clients of the older era: given out, known again, ended. */
export class Sessions {
  readonly #options: SessionsOptions;
  /** Those that worked last, by the ends of their ids: opening one costs as much as the rest of a call's reading. */
  readonly #opened = new RecentMap<Opened>(openedMax);

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** The session of an id, if it is this caller's, at this server. @throws McpFault 400, 404 */
  of(call: McpCall, id: string | undefined): Session | Promise<Session> {
    if (id === undefined)
      throw new McpFault({
        status: 400,
        code: rpcCodes.refused,
        message: 'Bad Request: Mcp-Session-Id is missing; begin with initialize.',
      });
    const session = this.#open(id, call.exchange.arrival.startedAtMs);
    if (
      session === undefined ||
      session.serverId !== call.server.source.id ||
      session.principal !== call.principal ||
      session.workspaceId !== call.bundle.source.workspaceId
    )
      throw unknownSession();
    return this.noted(session);
  }

  /** With what came after its id was given out. @throws McpFault 404 when it was ended */
  noted(session: Session): Session | Promise<Session> {
    const noting = this.#options.notes.of(session);
    return noting instanceof Promise
      ? noting.then((note) => withNote(session, note))
      : withNote(session, noting);
  }

  #open(id: string, nowMs: number): Session | undefined {
    // A map goes through the whole of a name that it has not seen: of 500 characters that is dearer than to compare them.
    const end = id.slice(-endLength);
    const opened = this.#opened.use(end);
    let session = opened?.id === id ? opened.session : undefined;
    if (session === undefined) {
      session = openSession(this.#options.sealer, id);
      if (session === undefined) return undefined;
      this.#opened.set(end, { id, session });
    }
    return isCurrent(session, nowMs) ? session : undefined;
  }

  /** @param upstreamId of the upstream's side; empty = it has none @throws McpFault when the answer is none, or holds too much */
  begin(
    call: McpCall,
    asked: McpRequest,
    reply: ServerReply & { kind: 'response' },
    upstreamId: string,
  ): BegunSession {
    const { protocolVersion } = reply.result;
    if (typeof protocolVersion !== 'string' || protocolVersion.length > 32)
      throw invalidReply(asked, 'it names no protocol version');
    const session = this.#newSession(call, asked, protocolVersion, upstreamId);
    const { sealer } = this.#options;
    const id =
      sealSession(sealer, session) ??
      sealSession(sealer, { ...session, client: briefClient(asked) });
    if (id === undefined) throw invalidReply(asked, 'its session id is too long');
    const { version } = negotiated(asked.params?.protocolVersion);
    // Of a server that speaks only what no client does, what it lacks is nothing that it is asked for.
    const edit = new JsonEdit(reply.bytes);
    if (!legacyVersions.includes(protocolVersion))
      edit.set(['result', 'protocolVersion'], JSON.stringify(version));
    advertiseRelayed(edit, reply.result);
    return { session, id, answer: edit.bytes() };
  }

  /**
   * A session of several upstreams': what is too long for an id is noted, where there is Redis for all gateways.
   * @param sides of all of them, as text
   */
  async beginMerged(
    call: McpCall,
    asked: McpRequest,
    sides: string,
  ): Promise<Omit<BegunSession, 'answer'>> {
    const { sealer, notes } = this.#options;
    const { version } = negotiated(asked.params?.protocolVersion);
    const session = this.#newSession(call, asked, version, sides);
    const whole = sealSession(sealer, session);
    if (whole !== undefined) return { session, id: whole };
    const bare = { ...session, upstreamId: '' };
    const id =
      sealSession(sealer, bare) ?? sealSession(sealer, { ...bare, client: briefClient(asked) });
    if (id === undefined) throw invalidReply(asked, 'its session id is too long');
    await notes.note(session, { upstreamId: sides, revision: version });
    return { session, id };
  }

  #newSession(call: McpCall, { params }: McpRequest, revision: string, upstreamId: string) {
    const session: Session = {
      name: newSessionName(),
      organisationId: call.key.source.organisationId,
      workspaceId: call.bundle.source.workspaceId,
      serverId: call.server.source.id,
      principal: call.principal,
      revision,
      upstreamId,
      client: JSON.stringify({
        protocolVersion: revision,
        capabilities: params?.capabilities ?? {},
        clientInfo: params?.clientInfo ?? {},
      }),
      expiresAt: Math.floor(Date.now() / 1000) + sessionSeconds,
      begunBy: this.#options.replicaId,
    };
    return session;
  }

  /** Whether this gateway may begin the upstream's side again: all that serve the session must hear of it. */
  mayRenew({ begunBy }: Session): boolean {
    return this.#options.notes.isShared || begunBy === this.#options.replicaId;
  }

  /** The sides of a merged session, and what its client was told to be told, stand in one note. */
  async noteMerged(
    session: Session,
    note: Pick<SessionNote, 'upstreamId' | 'logLevel'>,
  ): Promise<void> {
    const { notes } = this.#options;
    const { revision } = session;
    await notes.note(session, { ...(await notes.of(session)), ...note, revision });
  }

  /** The level that its client asked for; undefined = none. */
  async logLevelOf(session: Session): Promise<string | undefined> {
    return (await this.#options.notes.of(session))?.logLevel;
  }

  renewed(session: Session, { id, revision }: UpstreamSide): Promise<void> {
    return this.#options.notes.note(session, { upstreamId: id, revision });
  }

  end(session: Session): Promise<void> {
    return this.#options.notes.note(session, { ended: true });
  }
}

/** @throws McpFault 404 */
function withNote(session: Session, note: SessionNote | undefined): Session {
  if (note?.ended === true) throw unknownSession();
  return note?.upstreamId === undefined
    ? session
    : { ...session, upstreamId: note.upstreamId, revision: note.revision ?? session.revision };
}

export function unknownSession(): McpFault {
  return new McpFault({
    status: 404,
    code: rpcCodes.sessionNotFound,
    message: 'Session not found',
  });
}

/** A server is asked for a revision that can be relayed: the client's, or the newest. */
export function withKnownRevision(asked: McpRequest): Buffer {
  const sent = asked.params?.protocolVersion;
  const { version } = negotiated(sent);
  return sent === version
    ? asked.bytes
    : new MessageEdit(asked).setParam('protocolVersion', version).bytes();
}

/** What the client said of itself, without what it says beside names and capabilities. */
function briefClient({ params }: McpRequest): string {
  const of = params?.capabilities as JsonObject | undefined;
  const capabilities = Object.fromEntries(
    ['roots', 'sampling', 'elicitation'].flatMap((name) =>
      of?.[name] === undefined ? [] : [[name, {}]],
    ),
  );
  return JSON.stringify({
    protocolVersion: params?.protocolVersion,
    capabilities,
    clientInfo: { name: 'client', version: '1' },
  });
}
