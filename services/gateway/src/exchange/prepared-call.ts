import {
  type Endpoint,
  type ModelOperation,
  type ObjectOperation,
  operations,
} from '@sluice/contracts';
import type { BreakerRule } from '@sluice/engine';
import type { AddressAuthor } from '@sluice/outbound';
import type { AuthRecipe, CallContext, JsonObject, Translation } from '@sluice/providers';
import type { Dispatcher } from 'undici';
import type { BodyReply } from './reply.ts';
import type { ModelRequester } from './requester.ts';
import type { Reservation } from './reservation.ts';
import type { StreamRecovery } from './stream-recovery.ts';
import { bodyBytes } from './subject.ts';
import type { Target } from './target.ts';
import type { VendorWork } from './vendor-work.ts';
import type { VisitNotes } from './visit.ts';

/**
 * One HTTP request to a target as it will be sent, decided before anything is
 * reserved or spent, and what belongs to each sending of it.
 */
export interface PreparedCall {
  readonly requester: ModelRequester;
  readonly target: Target;
  /** What calls learn of the visit, and it of them. */
  readonly notes: VisitNotes;
  /** Undefined on pass-through of a format we do not know. */
  readonly translation: Translation | undefined;
  /** What it is, of what passes through at a path that says so; undefined = what its operation says. */
  readonly passesAs: Endpoint | undefined;
  readonly origin: string;
  /** Who decided on the origin. */
  readonly addressBy: AddressAuthor;
  readonly path: string;
  readonly method: Dispatcher.HttpMethod;
  readonly headers: Record<string, string | string[]>;
  readonly body: Dispatcher.DispatchOptions['body'];
  /** What is done in the place of sending it, where that takes several requests; undefined = it is sent. */
  readonly work: VendorWork | undefined;
  /** The id of what it makes, where that is known before and may be somebody's; undefined = nobody's. */
  readonly claims: string | undefined;
  /** How the provider learns who asks, beyond the headers above. */
  readonly auth: AuthRecipe;
  /** The JSON as the upstream gets it, for readers that need to know what was asked. */
  readonly sentJson: JsonObject;
  readonly droppedParams: readonly string[];
  /** Its stream was asked for its usage, and the caller did not ask. */
  readonly hidesUsage: boolean;
  readonly context: CallContext;
  /** What is held for it, to be told what each call used; undefined = nothing is limited. */
  reservation: Reservation | undefined;
  /** No answer may pass that nobody has looked at. */
  mustInspect: boolean;
  /**
   * Looks at a complete answer before it is recorded, and may replace it.
   * Without bytes it is one that cannot be read: then it may be refused.
   * `document`: what they are as JSON, where somebody has read them.
   */
  inspect: InspectAnswer | undefined;
  /** Its stream is judged while it passes: who judges says how it ended (`StreamReply.conclude`). */
  isJudged: boolean;
  /** Who learns what each call comes to; undefined = nobody wants to, or may. */
  lesson: Lesson | undefined;
  /** Whose share of second calls it takes from; undefined = it is never sent twice at once. */
  hedgeKey: string | undefined;
  /** It tells of what was used already, which is recorded whether or not it could be noted before. */
  isUsed?: boolean;
  /** Has its stream continued should it be cut; undefined = nobody asked for that. */
  recovery: StreamRecovery | undefined;
}

export type InspectAnswer = (
  body: Buffer | undefined,
  document?: JsonObject,
) => Promise<BodyReply | undefined>;

/** Whose circuits and averages hear of a call. */
export interface Lesson {
  /** Whose averages these are. */
  readonly scope: string;
  /** The config that keeps a circuit for the target, and its rule. */
  readonly circuit: { readonly configId: string; readonly rule: BreakerRule } | undefined;
}

/** The part of a call that depends on its endpoint: where it goes and what is sent. */
export type PreparedRequest = Pick<
  PreparedCall,
  | 'translation'
  | 'origin'
  | 'addressBy'
  | 'path'
  | 'method'
  | 'headers'
  | 'body'
  | 'auth'
  | 'sentJson'
  | 'droppedParams'
  | 'hidesUsage'
  | 'context'
> &
  Partial<Pick<PreparedCall, 'passesAs' | 'work' | 'claims'>>;

/** Of the body as it is sent; of one that flows through, as far as it has come. */
export function sentBytes({ body, requester }: PreparedCall): number {
  return Buffer.isBuffer(body) ? body.length : bodyBytes(requester.subject);
}

/** A body that flows through can be sent only once. */
export function canResend({ body }: PreparedCall): boolean {
  return body === null || body === undefined || Buffer.isBuffer(body);
}

/** What is known of what it asks for, whichever path it takes. */
export function operationOf({
  passesAs,
  requester,
}: Pick<PreparedCall, 'passesAs' | 'requester'>): Pick<
  ModelOperation | ObjectOperation,
  'about' | 'uses' | 'repeat'
> {
  return passesAs === undefined ? requester.subject.operation : operations[passesAs];
}
