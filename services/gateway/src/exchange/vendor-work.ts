import type { AddressAuthor } from '@sluice/outbound';
import type { AuthRecipe } from '@sluice/providers';
import type { Dispatcher } from 'undici';
import type { BodyReply, ReplyHeaders } from './reply.ts';

/**
 * One call that takes several requests of its vendor: a file that goes up in
 * parts. It is one attempt all the same, with one record.
 */
export type VendorWork = (
  ask: AskVendor,
  signal: AbortSignal,
) => Promise<BodyReply | PassingReply | MadeReply>;

/** Made of what the vendor answers, while that comes. */
export interface MadeReply {
  readonly kind: 'made';
  readonly headers: ReplyHeaders;
  /** @throws GatewayError where it breaks off */
  readonly content: AsyncGenerator<Buffer, void>;
}

/** What the vendor answered last, passed on as it comes. */
export interface PassingReply {
  readonly kind: 'passing';
  readonly answer: VendorAnswer;
  /** Beside its own, and in their place. */
  readonly headers: ReplyHeaders;
}

/** Sends one of them. @throws GatewayError where there is no answer */
export type AskVendor = (request: VendorRequest) => Promise<VendorAnswer>;

export interface VendorRequest {
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  readonly method: Dispatcher.HttpMethod;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Dispatcher.DispatchOptions['body'];
  /** Undefined = nobody is told who asks: the address is itself the proof. */
  readonly auth: AuthRecipe | undefined;
  readonly addressBy: AddressAuthor;
  readonly signal: AbortSignal;
}

export interface VendorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** @throws GatewayError when it breaks off or is larger */
  readAll(bytesMax: number): Promise<Buffer>;
  /** As it comes, no faster than it is taken. Ended early, the rest is left. @throws GatewayError when it breaks off */
  pieces(): AsyncGenerator<Buffer, void>;
}
