import { type JsonObject, noUsage } from '@sluice/contracts';
import { furtherKinds } from '../../bills/further-kinds.ts';
import { nanoUsdOfTicks } from '../../bills/provider-cost.ts';
import { chosenWord } from '../../bills/with-asked-image.ts';
import type { ReplyFacts, StreamFault, Usage } from '../../contract.ts';
import type { SseEvent } from '../../framing/sse.ts';
import type { StreamState, StreamTap } from '../../framing/stream-tap.ts';
import { arrayOf, compact, countOf, numberOf, objectOf, stringOf } from '../../json/json-access.ts';
import { errorEvent, faultOf } from '../openai-chat/errors.ts';
import { usageOf } from '../openai-chat/wire.ts';
import { svgWriter } from '../openai-responses/picture-models.ts';

/** https://platform.openai.com/docs/api-reference/images: also of edits and variations. */
export function readImages(body: JsonObject): ReplyFacts | undefined {
  const data = arrayOf(body.data);
  if (data === undefined) return undefined;
  const writer = svgWriter(body);
  return compact<ReplyFacts>({
    model: stringOf(body.model),
    ...mediaFacts(body.usage, madeImages(data.length, body)),
    otherModels: writer && [writer],
  });
}

/** https://platform.openai.com/docs/api-reference/audio: transcripts that are JSON tell tokens or seconds. */
export function readTranscript(body: JsonObject | undefined): ReplyFacts {
  if (body === undefined) return {};
  const facts = mediaFacts(body.usage);
  const seconds = facts.units?.audioSeconds ?? numberOf(body.duration);
  return seconds === undefined || facts.usage !== undefined
    ? facts
    : { ...facts, units: { ...facts.units, audioSeconds: seconds } };
}

/** The words of the newer endpoints: `input_tokens` with its kinds, or `seconds`. */
function mediaFacts(value: unknown, units: ReplyFacts['units'] = {}): ReplyFacts {
  const usage = objectOf(value);
  const seconds = usage?.type === 'duration' ? numberOf(usage.seconds) : undefined;
  // Mistral tells both, and charges by the second.
  const audioSeconds = seconds ?? numberOf(usage?.prompt_audio_seconds);
  const all = { ...units, ...(audioSeconds === undefined ? {} : { audioSeconds }) };
  return compact<ReplyFacts>({
    usage: usage === undefined || seconds !== undefined ? undefined : tokensOf(usage),
    units: Object.keys(all).length === 0 ? undefined : all,
    providerCostNanoUsd: nanoUsdOfTicks(usage?.cost_in_usd_ticks),
  });
}

/** Their number, and what their price depends on where the reply repeats it. */
function madeImages(images: number, told: JsonObject): NonNullable<ReplyFacts['units']> {
  return compact({
    images,
    imageQuality: chosenWord(told.quality),
    imageSize: chosenWord(told.size),
  });
}

function tokensOf(usage: JsonObject): Usage | undefined {
  const told = usageOf(usage);
  if (told === undefined || usage.input_tokens === undefined) return told;
  const kinds = objectOf(usage.input_tokens_details) ?? objectOf(usage.input_token_details);
  const made = objectOf(usage.output_tokens_details);
  return {
    ...noUsage,
    inputTokens: countOf(usage.input_tokens),
    outputTokens: countOf(usage.output_tokens),
    cacheReadTokens: countOf(kinds?.cached_tokens),
    inputAudioTokens: countOf(kinds?.audio_tokens),
    ...furtherKinds({
      inputImageTokens: countOf(kinds?.image_tokens),
      outputImageTokens: countOf(made?.image_tokens),
      cacheReadImageTokens: countOf(objectOf(kinds?.cached_tokens_details)?.image_tokens),
    }),
  };
}

/**
 * Watches the streams of images, speech and transcripts: named events, each with
 * its `type`, whose last ones tell the usage.
 */
export class MediaTap implements StreamTap {
  #known: ReplyFacts;

  /** `known`: what the request alone tells. */
  constructor(known: ReplyFacts = {}) {
    this.#known = known;
  }

  read(body: JsonObject, _event: SseEvent, state: StreamState): void {
    const fault = faultOf(body);
    if (fault !== undefined) {
      state.fail(fault);
      return;
    }
    const type = stringOf(body.type) ?? '';
    state.phase = 'content';
    const images = /^image_\w+\.completed$/.test(type)
      ? madeImages((state.facts.units?.images ?? 0) + 1, body)
      : {};
    const told = mediaFacts(body.usage, { ...this.#known.units, ...state.facts.units, ...images });
    state.facts = compact<ReplyFacts>({ ...state.facts, ...told });
  }

  readText(data: string): boolean {
    return data.trim() === '[DONE]' || data.trim() === '';
  }

  /** Several images are several last events: only the end of the stream is the end. */
  atEnd(state: StreamState): void {
    if (state.phase === 'content') state.phase = 'complete';
  }

  errorEvent(fault: StreamFault & { code?: string }): Buffer {
    return errorEvent(fault);
  }
}
