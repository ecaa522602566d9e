import type { JsonObject } from '@sluice/contracts';
import { modelSegment } from '../../address.ts';
import type { CallFacts } from '../../call-facts.ts';
import type { EndpointEntry } from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import { objectOf, stringOf } from '../../json/json-access.ts';
import { reshape } from '../reshape.ts';
import { inputOf, queryOf, spokenFacts, voiceOf } from './request.ts';

/** OpenAI's formats in the words of https://elevenlabs.io/docs/api-reference/text-to-speech/convert */
const formats: Readonly<Record<string, string>> = {
  mp3: 'mp3_44100_128',
  opus: 'opus_48000_128',
  pcm: 'pcm_24000',
  wav: 'wav_24000',
};

const ours = ['input', 'voice', 'model', 'response_format', 'output_format', 'speed', 'user'];
const unknown = ['instructions', 'stream_format'];

/** The voice is the path; the model stands in the body. */
export const elevenLabsSpeech: EndpointEntry = {
  format: 'elevenlabs/speech',
  path: ({ request = {} }: CallFacts) =>
    `/text-to-speech/${voicePath(request)}${queryOf({ output_format: formatOf(request) })}`,
  dialect: {
    encode(body, context) {
      const shaped = reshape(body, { drop: unknown, used: [...ours, 'voice_settings'] });
      const encoded: JsonObject = { ...shaped.body, text: inputOf(body) };
      if (context.model !== '') encoded.model_id ??= context.model;
      const settings = voiceSettings(body);
      if (settings !== undefined) encoded.voice_settings = settings;
      return { body: encoded, dropped: shaped.dropped };
    },
    decode: (_bytes, context) => ({ body: undefined, facts: spokenFacts(context.request) }),
  },
};

function voiceSettings(body: JsonObject): JsonObject | undefined {
  const settings = objectOf(body.voice_settings);
  if (typeof body.speed !== 'number') return settings;
  return { speed: body.speed, ...settings };
}

function voicePath(request: JsonObject): string {
  const voice = voiceOf(request);
  // Nobody but the account knows its voices: there is none to choose for the caller.
  if (voice === undefined || /^\.{0,2}$/.test(voice))
    throw invalidField('voice', 'must be the id of a voice');
  return modelSegment(voice);
}

function formatOf(request: JsonObject): string {
  const own = stringOf(request.output_format);
  if (own !== undefined) return own;
  const asked = stringOf(request.response_format) ?? 'mp3';
  if (Object.hasOwn(formats, asked)) return formats[asked] as string;
  // A name of its own, with rates: `mp3_22050_32`.
  if (/^[a-z][a-z0-9]*_\d+(?:_\d+)?$/.test(asked)) return asked;
  throw invalidField('response_format', `must be one of ${Object.keys(formats).join(', ')}`);
}
