import type { JsonObject } from '@sluice/contracts';
import type { CallFacts } from '../../call-facts.ts';
import type { EndpointEntry } from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import { stringOf } from '../../json/json-access.ts';
import { reshape } from '../reshape.ts';
import { inputOf, queryOf, spokenFacts, voiceOf } from './request.ts';

/** OpenAI's formats, https://developers.deepgram.com/docs/tts-media-output-settings */
const formats: Readonly<Record<string, JsonObject>> = {
  mp3: { encoding: 'mp3' },
  opus: { encoding: 'opus', container: 'ogg' },
  aac: { encoding: 'aac' },
  flac: { encoding: 'flac' },
  wav: { encoding: 'linear16', container: 'wav', sample_rate: 24_000 },
  pcm: { encoding: 'linear16', container: 'none', sample_rate: 24_000 },
};

const ours = ['input', 'voice', 'model', 'response_format', 'user'];
const unknown = ['instructions', 'speed', 'stream_format'];

/** https://developers.deepgram.com/reference/text-to-speech/speak-request: the voice is the model. */
export const deepgramSpeech: EndpointEntry = {
  format: 'deepgram/speak',
  path: (facts) => `/speak${queryOf(queryFields(facts))}`,
  dialect: {
    encode(body) {
      const { speed } = body;
      const dropped = reshape(body, { drop: unknown }).dropped;
      return {
        body: { text: inputOf(body) },
        dropped: speed === 1 ? dropped.filter((field) => field !== 'speed') : dropped,
      };
    },
    decode: (_bytes, context) => ({ body: undefined, facts: spokenFacts(context.request) }),
  },
};

function queryFields({ model, request = {} }: CallFacts): JsonObject {
  const asked = stringOf(request.response_format) ?? 'mp3';
  const format = Object.hasOwn(formats, asked) ? formats[asked] : undefined;
  if (format === undefined)
    throw invalidField('response_format', `must be one of ${Object.keys(formats).join(', ')}`);
  const { body } = reshape(request, { drop: unknown, used: ours });
  return { model: voiceModel(model, voiceOf(request)), ...format, ...body };
}

/** `aura-2-thalia-en` is whole; `aura-2` takes its voice from the caller's `voice`, `thalia` or a whole name. */
function voiceModel(model: string, voice: string | undefined): string {
  if (voice?.startsWith('aura-')) return voice;
  if (voice === undefined || !/^aura(?:-\d+)?$/.test(model)) return model;
  return `${model}-${voice.toLowerCase()}-en`;
}
