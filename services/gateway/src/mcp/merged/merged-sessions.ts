import { jsonBounds, readJsonText } from '@sluice/json';
import { type McpMessage, type McpRequest, readMessage } from '@sluice/mcp';
import type { McpCall } from '../mcp-call.ts';
import type { ServedServer } from '../served-server.ts';
import type { Session } from '../session.ts';
import { type Sessions, unknownSession } from '../sessions.ts';
import { HeardReply } from './heard-reply.ts';

/** A member's session within a merged one, as that keeps it. */
export interface Side {
  readonly serverId: string;
  readonly name: string;
  readonly upstreamId: string;
  readonly revision: string;
  /** Whose it is at the member. */
  readonly principal: string;
}

type SentSide = [string, string, string, string, string?];

/** More than this no member may ask others to carry. */
const sidesLengthMax = 65_536;

/** Sessions of merged servers: one of the client's, and one of each member's in it. */
export class MergedSessions {
  readonly #sessions: Sessions;
  readonly #single: ServedServer;
  readonly #beginning = new Map<string, Promise<Side>>();

  constructor(sessions: Sessions, single: ServedServer) {
    this.#sessions = sessions;
    this.#single = single;
  }

  /** @returns the id of the client's session */
  async begin(call: McpCall, asked: McpRequest, sides: readonly Side[]): Promise<string> {
    const { id } = await this.#sessions.beginMerged(call, asked, sealed(call.principal, sides));
    return id;
  }

  /** @throws McpFault 404 where they are known to another gateway alone */
  sides(session: Session): readonly Side[] {
    if (session.upstreamId === '') throw unknownSession();
    const sides = readJsonText(session.upstreamId, jsonBounds.small) as SentSide[];
    return sides.map(([serverId, name, upstreamId, revision, principal]) => ({
      serverId,
      name,
      upstreamId,
      revision,
      principal: principal ?? session.principal,
    }));
  }

  /** The side of `initialize` that was just answered to this reply. */
  async begun(call: McpCall, reply: HeardReply): Promise<Side> {
    const id = reply.headers['mcp-session-id'];
    const session = await this.#sessions.of(call, typeof id === 'string' ? id : undefined);
    const { name, upstreamId, revision, principal } = session;
    return { serverId: call.server.source.id, name, upstreamId, revision, principal };
  }

  /** A member's session; begun now where the member could not be reached before. @param member the call as its server is asked */
  async of(call: McpCall, session: Session, member: McpCall): Promise<Session> {
    const { id } = member.server.source;
    const side =
      this.sides(session).find(({ serverId }) => serverId === id) ??
      (await this.#late(call, session, member));
    // Who shares the key, but is another user there, has no part in it.
    if (side.principal !== member.principal) throw unknownSession();
    return this.#sessions.noted(asSession(session, side));
  }

  /** A member's session where it was begun; undefined = it was not. */
  async known(session: Session, member: McpCall): Promise<Session | undefined> {
    const { id } = member.server.source;
    const side = this.sides(session).find(({ serverId }) => serverId === id);
    if (side === undefined || side.principal !== member.principal) return undefined;
    return this.#sessions.noted(asSession(session, side));
  }

  async setLevel(session: Session, logLevel: string): Promise<void> {
    await this.#sessions.noteMerged(session, { logLevel });
  }

  logLevelOf(session: Session): Promise<string | undefined> {
    return this.#sessions.logLevelOf(session);
  }

  end(session: Session): Promise<void> {
    return this.#sessions.end(session);
  }

  #late(call: McpCall, session: Session, member: McpCall): Promise<Side> {
    if (!this.#sessions.mayRenew(session)) throw unknownSession();
    const key = `${session.name} ${member.server.source.id}`;
    const running = this.#beginning.get(key);
    if (running !== undefined) return running;
    const beginning = this.#begin(call, session, member).finally(() => this.#beginning.delete(key));
    this.#beginning.set(key, beginning);
    return beginning;
  }

  async #begin(call: McpCall, session: Session, member: McpCall): Promise<Side> {
    const asked = readMessage(
      Buffer.from(
        `{"jsonrpc":"2.0","id":"sluice-${session.name}","method":"initialize","params":${session.client}}`,
      ),
    ) as McpRequest;
    const reply = new HeardReply(call.reply);
    const asking = { ...member, reply };
    await this.#single.begin(asking, asked);
    const side = await this.begun(asking, reply);
    const own = asSession(session, side);
    await this.#tell(asking, own, '{"jsonrpc":"2.0","method":"notifications/initialized"}');
    const level = await this.logLevelOf(session);
    if (level !== undefined)
      await this.#single
        .request({ ...member, reply: new HeardReply(call.reply) }, own, levelRequest(level))
        .catch(() => undefined);
    // Another member's may have been begun meanwhile.
    const now = await this.#sessions.noted(session);
    const sides = [...this.sides(now).filter((each) => each.serverId !== side.serverId), side];
    const text = sealed(session.principal, sides);
    if (text.length <= sidesLengthMax)
      await this.#sessions.noteMerged(session, { upstreamId: text });
    return side;
  }

  #tell(member: McpCall, session: Session, text: string): Promise<void> {
    const message: McpMessage = readMessage(Buffer.from(text));
    return this.#single.tell({ ...member, reply: new HeardReply(member.reply) }, session, message);
  }
}

export function levelRequest(level: string): McpRequest {
  const request = {
    jsonrpc: '2.0',
    id: 'sluice-level',
    method: 'logging/setLevel',
    params: { level },
  };
  return readMessage(Buffer.from(JSON.stringify(request))) as McpRequest;
}

function sealed(principal: string, sides: readonly Side[]): string {
  return JSON.stringify(
    sides.map(({ serverId, name, upstreamId, revision, principal: own }) => [
      serverId,
      name,
      upstreamId,
      revision,
      ...(own === principal ? [] : [own]),
    ]),
  );
}

function asSession(session: Session, side: Side): Session {
  return { ...session, ...side };
}
