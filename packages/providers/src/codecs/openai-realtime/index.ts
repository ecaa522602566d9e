import type { ChatUsage, JsonObject } from '@sluice/contracts';
import { furtherKinds } from '../../bills/further-kinds.ts';
import type { ReplyFacts } from '../../contract.ts';
import { compact, countOf, numberOf, objectOf, saidIn, stringOf } from '../../json/json-access.ts';
import { readBill } from '../openai-responses/bill.ts';
import { decodeUsage as decodeResponsesUsage, rawFinishOf } from '../openai-responses/wire.ts';

/**
 * What events of a session tell that is accounted for: a piece of work that begins
 * or has ended, with what it used; that the session has changed; that something failed.
 * https://platform.openai.com/docs/api-reference/realtime-server-events
 */
export type SessionEvent =
  /** A response is being made. */
  | { readonly kind: 'begun'; readonly id: string }
  /** Something that is paid for has ended: a response, a transcript. */
  | {
      readonly kind: 'used';
      readonly id: string;
      readonly facts: ReplyFacts;
      /** It was made to its end, or stopped by whoever asked; false = the model failed. */
      readonly hasSucceeded: boolean;
    }
  /** The session, or its conversation, is as it says. */
  | {
      readonly kind: 'session';
      readonly model: string | undefined;
      /** Of transcripts of what the caller says. */
      readonly transcriptionModel: string | undefined;
      /** What a second of the caller's sound has, before it is base64; undefined = it does not say. */
      readonly soundBytesPerSecond: number | undefined;
    }
  /** The caller begins to speak, or is silent again, by the clock of the session's sound. */
  | { readonly kind: 'speech'; readonly fromMs: number }
  | { readonly kind: 'silence'; readonly untilMs: number }
  /** What the caller said belongs to the conversation from now on. */
  | { readonly kind: 'heard'; readonly id: string }
  /** There will be no transcript of it. */
  | { readonly kind: 'untold'; readonly id: string }
  | { readonly kind: 'error'; readonly code: string | undefined };

type Reader = (event: JsonObject) => SessionEvent;

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['response.created', begun],
  ['response.done', responseUsed],
  ['response.completed', responseUsed],
  ['response.incomplete', responseUsed],
  ['response.failed', responseUsed],
  ['conversation.item.input_audio_transcription.completed', transcriptUsed],
  [
    'conversation.item.input_audio_transcription.failed',
    ({ item_id }) => ({ kind: 'untold', id: stringOf(item_id) ?? '' }),
  ],
  [
    'input_audio_buffer.speech_started',
    ({ audio_start_ms }) => ({ kind: 'speech', fromMs: countOf(audio_start_ms) }),
  ],
  [
    'input_audio_buffer.speech_stopped',
    ({ audio_end_ms }) => ({ kind: 'silence', untilMs: countOf(audio_end_ms) }),
  ],
  [
    'input_audio_buffer.committed',
    ({ item_id }) => ({ kind: 'heard', id: stringOf(item_id) ?? '' }),
  ],
  ['session.created', sessionIs],
  ['session.updated', sessionIs],
  ['transcription_session.created', sessionIs],
  ['transcription_session.updated', sessionIs],
  ['conversation.created', sessionIs],
  [
    'error',
    ({ error, code }) => ({ kind: 'error', code: stringOf(objectOf(error)?.code ?? code) }),
  ],
]);

/** Whether an event of this type is read at all; the others pass unread. */
export function isReadSessionEvent(type: string): boolean {
  return readers.has(type);
}

/** @returns undefined = nothing of it is accounted for */
export function readSessionEvent(type: string, event: JsonObject): SessionEvent | undefined {
  return readers.get(type)?.(event);
}

function begun({ response }: JsonObject): SessionEvent {
  return { kind: 'begun', id: stringOf(objectOf(response)?.id) ?? '' };
}

function responseUsed({ response: said }: JsonObject): SessionEvent {
  const response = objectOf(said) ?? {};
  const usage = saidIn(response.usage);
  return {
    kind: 'used',
    id: stringOf(response.id) ?? '',
    hasSucceeded: response.status !== 'failed',
    facts: compact<ReplyFacts>({
      id: stringOf(response.id),
      model: stringOf(response.model),
      finishReason: rawFinishOf(response),
      usage: usage === undefined ? undefined : decodeSessionUsage(usage),
      ...readBill(response),
    }),
  };
}

/** Paid for by tokens or by the second, apart from any response. */
function transcriptUsed(event: JsonObject): SessionEvent {
  const usage = saidIn(event.usage);
  const seconds = numberOf(usage?.seconds);
  return {
    kind: 'used',
    id: stringOf(event.item_id) ?? '',
    hasSucceeded: true,
    facts: compact<ReplyFacts>({
      id: stringOf(event.item_id),
      usage:
        usage === undefined || usage.type === 'duration' ? undefined : decodeSessionUsage(usage),
      units:
        usage?.type === 'duration' && seconds !== undefined ? { audioSeconds: seconds } : undefined,
    }),
  };
}

function sessionIs({ session: said }: JsonObject): SessionEvent {
  const session = objectOf(said) ?? {};
  const input = objectOf(objectOf(session.audio)?.input);
  return {
    kind: 'session',
    model: stringOf(session.model),
    transcriptionModel: transcriptionModelOf(session),
    soundBytesPerSecond: bytesPerSecondOf(
      stringOf(objectOf(input?.format)?.type) ?? stringOf(session.input_audio_format),
    ),
  };
}

/** Of a session as it is asked for or told, in the words of today or of the beta: who writes down what the caller says. */
export function transcriptionModelOf(session: JsonObject): string | undefined {
  const input = objectOf(objectOf(session.audio)?.input);
  const transcription =
    objectOf(input?.transcription) ?? objectOf(session.input_audio_transcription);
  return stringOf(transcription?.model);
}

function bytesPerSecondOf(format: string | undefined): number | undefined {
  if (format === undefined) return undefined;
  return /pcmu|pcma|g711/.test(format) ? 8000 : 48_000;
}

/** Sessions name the kinds of tokens in the singular, responses in the plural. */
export function decodeSessionUsage(usage: JsonObject): ChatUsage {
  const input = objectOf(usage.input_token_details);
  const output = objectOf(usage.output_token_details);
  if (input === undefined && output === undefined) return decodeResponsesUsage(usage);
  const cached = objectOf(input?.cached_tokens_details);
  return {
    ...decodeResponsesUsage(usage),
    cacheReadTokens: countOf(input?.cached_tokens),
    inputAudioTokens: countOf(input?.audio_tokens),
    outputAudioTokens: countOf(output?.audio_tokens),
    ...furtherKinds({
      inputImageTokens: countOf(input?.image_tokens),
      outputImageTokens: countOf(output?.image_tokens),
      cacheReadAudioTokens: countOf(cached?.audio_tokens),
      cacheReadImageTokens: countOf(cached?.image_tokens),
    }),
  };
}
