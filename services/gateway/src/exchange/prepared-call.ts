import {
  type Endpoint,
  type ModelOperation,
  type ObjectOperation,
  operations,
} from '@sluice/contracts';
import type { BreakerRule } from '@sluice/engine';
import type { FailureCause, GatewayError } from '@sluice/errors';
import type { AddressAuthor } from '@sluice/outbound';
import type { usage } from '@sluice/proto-stubs';
import type {
  AuthRecipe,
  CallContext,
  JsonObject,
  ReplyFacts,
  SplicedStream,
  StreamReader,
  Translation,
} from '@sluice/providers';
import type { UsageRecord } from '@sluice/usage';
import type { Dispatcher } from 'undici';
import type { Bill, PricedReply } from './bill.ts';
import type { BodyReply, StreamReply } from './reply.ts';
import type { ModelRequester } from './requester.ts';
import type { Reservation, Used } from './reservation.ts';
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

/** One sending of a prepared call. */
export interface Attempt {
  readonly call: PreparedCall;
  readonly retryCount: number;
}

/** What an attempt came to. */
export interface EndedAttempt extends Attempt {
  /** `performance.now()` when the provider was called, and now. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Since the start; 0 = nothing arrived. */
  readonly firstByteMs: number;
  /** `performance.now()` when an answer that is read whole was there; 0 = it was not read whole. */
  readonly readAt: number;
  readonly outcome: usage.Outcome;
  readonly status: number;
  /** Empty = no error. */
  readonly errorCode: string;
  /** Why the provider could not be asked, or did not end its answer. */
  readonly failureCause: FailureCause | undefined;
  readonly facts: ReplyFacts | undefined;
  /** The next bytes of the answer follow without a pause: what must be kept before them is written at once. */
  readonly isUrgent: boolean;
  /** Its stream broke off and others are asked for the rest: its record waits for what they come to. */
  readonly isContinued: boolean;
  /** False where it ended before anything of it had left: who asks could not be proved, or no connection was there yet. */
  readonly wasSent: boolean;
  /** Said by `billAttempt`; undefined = nothing was used. */
  bill: Bill | undefined;
  /** Said by `priceAttempt`; undefined = no price is known. */
  price: PricedReply | undefined;
}

/** Hears what an attempt came to. What it returns is waited for before the end of the answer is sent. */
export type OutcomeListener = (attempt: EndedAttempt) => void | Promise<void>;

/**
 * Asked before each attempt: returns who hears its outcome; undefined = it does
 * not want to know. @throws GatewayError when the attempt must not be made
 */
export type AttemptListener = (attempt: Attempt) => OutcomeListener | Noting | undefined;

/** What an attempt waits for before it is made: that somebody has noted it. */
export interface Noting {
  readonly written: Promise<void>;
  /** Hears its outcome once it is written. */
  readonly hears: OutcomeListener;
  /** It could not be: what the attempt, which is not made, fails with. */
  refuse(error: unknown): GatewayError;
}

/** Sees to it that a stream which breaks off is told to its end by others. One for each request. */
export interface StreamRecovery {
  /** The one record of a stream that others go on with; undefined until it is cut. */
  readonly parts: RecordedParts;
  /** What is called from here on is asked for the rest of an answer. */
  readonly isAsking: boolean;
  /** Reads the stream of a call; undefined = it cannot be continued. */
  open(call: PreparedCall, translation: Translation): RecoverableStream | undefined;
  /** The body that asks for the rest of an answer; undefined = none is under way, it is asked as it is. */
  askForRest(body: JsonObject): JsonObject | undefined;
  /** What a stream lacks that was cut; undefined = nobody can mend it. */
  lacks(splice: SplicedStream, call: PreparedCall): 'end' | 'more' | undefined;
  /** Asks others for the rest; undefined = nobody tells it, and the record says so. */
  next(splice: SplicedStream): Promise<StreamReply | undefined>;
}

export interface RecoverableStream {
  readonly reader: StreamReader;
  readonly splice: SplicedStream;
}

/** One usage record for an answer that several calls told parts of. */
export interface RecordedParts {
  /** A first part has broken off: what is called from here on belongs to its record. */
  readonly isOpen: boolean;
  /** The record of the first part, filled with what that came to; @param least what it was said to use at least */
  begin(record: UsageRecord, ended: EndedAttempt, least: Used | undefined): void;
  /** What a further call came to. Resolves when the record is kept, if this was the last part. */
  add(ended: EndedAttempt): Promise<void>;
  /** Its answer is what the caller reads. */
  isTold(call: PreparedCall): void;
  /** Keeps the record: nothing more follows. Of no effect when that was done. @param errorCode why it was denied */
  close(outcome: usage.Outcome, errorCode?: string): Promise<void>;
}
