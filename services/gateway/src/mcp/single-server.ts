import { fromUnknown } from '@sluice/errors';
import { McpFault, type McpMessage, type McpNotification, type McpRequest } from '@sluice/mcp';
import { AccessFault } from './enter-server.ts';
import type { Eras } from './eras.ts';
import type { LegacyRelay } from './legacy-relay.ts';
import { isTranslated, type LegacyToModern } from './legacy-to-modern.ts';
import type { McpCall } from './mcp-call.ts';
import type { ModernRelay } from './modern-relay.ts';
import type { ModernToLegacy } from './modern-to-legacy.ts';
import type { ServedServer } from './served-server.ts';
import { failureOf } from './server-reply.ts';
import type { Session } from './session.ts';
import type { SseRelay } from './sse-relay.ts';

export interface Relays {
  readonly legacy: LegacyRelay;
  readonly sse: SseRelay;
  readonly modern: ModernRelay;
  readonly eras: Eras;
  readonly toModern: LegacyToModern;
  readonly toLegacy: ModernToLegacy;
}

/** One server behind the gateway, by the relay for the pair of eras that its caller and it speak. */
export class SingleServer implements ServedServer {
  readonly #relays: Relays;

  constructor(relays: Relays) {
    this.#relays = relays;
  }

  /** As its server does where that speaks the older era, else as it is translated. */
  async begin(call: McpCall, asked: McpRequest): Promise<void> {
    const { legacy, sse, eras, toModern } = this.#relays;
    if (call.server.source.transport === 'sse') return sse.begin(call, asked);
    const refused = await legacy.begin(call, asked, () => {
      // It may have been another when it was asked last.
      eras.forget(call);
      return eras.isModern(call);
    });
    if (refused !== undefined) return toModern.begin(call, asked);
  }

  request(call: McpCall, session: Session, asked: McpRequest): Promise<void> {
    return this.#relayOf(call, session).request(call, session, asked);
  }

  tell(call: McpCall, session: Session, message: McpMessage): Promise<void> {
    return this.#relayOf(call, session).tell(call, session, message);
  }

  stream(call: McpCall, session: Session, lastEventId: string | undefined): Promise<void> {
    return this.#relayOf(call, session).stream(call, session, lastEventId);
  }

  end(call: McpCall, session: Session): Promise<void> {
    return this.#relayOf(call, session).end(call, session);
  }

  async modern(
    call: McpCall,
    message: McpRequest | McpNotification,
    version: string,
  ): Promise<void> {
    const { eras, modern, toLegacy } = this.#relays;
    const isProbe = message.method === 'server/discover';
    const isModern = await Promise.resolve(eras.isModern(call)).catch((error: unknown) => {
      const failure = failureOf(error, message.kind === 'request' ? message : undefined, undefined);
      // Silence says nothing of an era: a client that probes must not take it for an answer.
      if (!isProbe) throw failure;
      // With an error of JSON-RPC in it, clients do take it for one, whatever the status.
      const { message: why } = failure instanceof McpFault ? failure : fromUnknown(failure);
      throw new AccessFault(502, 'temporarily_unavailable', why);
    });
    const relay = isModern ? modern : toLegacy;
    if (message.kind === 'request') return relay.request(call, message, version);
    return relay.tell(call, message, version);
  }

  /** Who serves a session of the older era: as its server speaks. */
  #relayOf(call: McpCall, session: Session) {
    const { legacy, sse, toModern } = this.#relays;
    if (call.server.source.transport === 'sse') return sse;
    return isTranslated(session) ? toModern : legacy;
  }
}
