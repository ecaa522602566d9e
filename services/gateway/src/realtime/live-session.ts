import type { GatewayError } from '@sluice/errors';
import type { ModelExchange } from '../exchange/exchange.ts';

/** Why a session is over, where it was not its caller or its provider who closed it. */
export type EndReason = 'draining' | 'expired' | 'idle';

/** What lasts until somebody ends it, and is looked at meanwhile: a session over a WebSocket, a call beside us. */
export interface LiveSession {
  readonly exchange: ModelExchange;
  /** A call, which is in no connection of its caller's: whoever drains those does not wait for it. */
  readonly isCall?: boolean;
  readonly openedAt: number;
  /** From either side, so far. */
  readonly messages: number;
  /** Of the registry: what it saw last, and when. */
  seenMessages: number;
  seenAt: number;
  lookedAt: number;
  /** Asks whether the others are there. */
  look(): void;
  /** Nothing more may be asked. */
  refuse(error: GatewayError): void;
  end(reason: EndReason): void;
  /** Lets go of what is not closed yet. */
  cut(): void;
}
