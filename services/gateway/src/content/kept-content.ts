import type { IncomingHttpHeaders } from 'node:http';
import type { CallerFormat } from '@sluice/contracts';
import type { LogFormat } from '@sluice/object-store';
import type { PreparedCall } from '../exchange/prepared-call.ts';
import type { ReplyHeaders } from '../exchange/reply.ts';

/** What is told of a log beside its bodies. */
export interface ContentHead {
  readonly logId: string;
  readonly format: LogFormat;
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly workspaceSlug: string;
  readonly createdAtMs: number;
  readonly method: string;
  readonly url: string;
  readonly optionPath: string;
  /** What its stream is put together by. */
  readonly streamFormat: CallerFormat | undefined;
  readonly status: number;
  readonly requestHeaders: IncomingHttpHeaders;
  readonly responseHeaders: ReplyHeaders;
  /** Where the provider's request went, if it is another than the caller's. */
  sent: { readonly url: string; readonly method: string } | undefined;
}

export interface ContentRules {
  /** `performance.now()` when the target's turn came. */
  readonly startedAt: number;
  readonly bytesMax: number;
  readonly keepsResponse: boolean;
  readonly holding: Holding;
  /** How many take it, and let go of it. */
  readonly takers: number;
}

/** Bytes that are referred to by contents together. */
export interface Holding {
  bytes: number;
  readonly bytesMax: number;
  /** Drops the oldest that is whole; false = there is none. */
  dropOldest(): boolean;
}

/** The bodies of a log, in this order; undefined = there is none. */
export const bodyNames = ['request', 'response', 'sent', 'received'] as const;
export type BodyName = (typeof bodyNames)[number];

/** One body: references to its pieces, up to a bound. */
export interface KeptPieces {
  readonly pieces: Buffer[];
  length: number;
  /** With what was left out. */
  totalLength: number;
}

/** The content of one log while it comes. */
export class KeptContent {
  readonly head: ContentHead;
  readonly bodies: Partial<Record<BodyName, KeptPieces>> = {};
  responseTimeMs = 0;
  heldBytes = 0;
  #takers: number;
  readonly #rules: ContentRules;

  constructor(head: ContentHead, rules: ContentRules) {
    this.head = head;
    this.#rules = rules;
    this.#takers = rules.takers;
    if (rules.keepsResponse) this.bodies.response = { pieces: [], length: 0, totalLength: 0 };
  }

  addRequest(bytes: Buffer): void {
    this.#add('request', bytes);
  }

  addResponse(bytes: Buffer): void {
    if (this.bodies.response !== undefined) this.#add('response', bytes);
  }

  /** What the provider was sent and sent, where these are other bytes than the caller's. */
  addProvider(call: PreparedCall, asked: Buffer | undefined, answer: Buffer | undefined): void {
    const { body, origin, path, method } = call;
    if (Buffer.isBuffer(body) && body !== asked) {
      // Keys of some providers stand in the query.
      this.head.sent = { url: `${origin}${path.split('?', 1)[0]}`, method };
      this.#add('sent', body);
    }
    if (answer !== undefined) this.#add('received', answer);
  }

  end(): this {
    this.responseTimeMs = performance.now() - this.#rules.startedAt;
    return this;
  }

  /** One of its takers needs it no more. */
  release(): void {
    this.#takers--;
    if (this.#takers > 0) return;
    this.#rules.holding.bytes -= this.heldBytes;
    this.heldBytes = 0;
  }

  #add(name: BodyName, bytes: Buffer): void {
    const { bytesMax, holding } = this.#rules;
    let body = this.bodies[name];
    if (body === undefined) {
      body = { pieces: [], length: 0, totalLength: 0 };
      this.bodies[name] = body;
    }
    body.totalLength += bytes.length;
    const wanted = Math.min(bytesMax - body.length, bytes.length);
    if (wanted <= 0) return;
    while (holding.bytes + wanted > holding.bytesMax && holding.dropOldest());
    const room = Math.min(wanted, holding.bytesMax - holding.bytes);
    if (room <= 0) return;
    const piece = bytes.length <= room ? bytes : bytes.subarray(0, room);
    body.pieces.push(piece);
    body.length += piece.length;
    this.heldBytes += piece.length;
    holding.bytes += piece.length;
  }
}
