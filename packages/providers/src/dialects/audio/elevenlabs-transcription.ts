import type { JsonValue } from '@sluice/contracts';
import type { EndpointEntry, ReplyFacts } from '../../contract.ts';
import {
  arrayOf,
  compact,
  numberOf,
  objectOf,
  parseJson,
  stringOf,
} from '../../json/json-access.ts';
import { multipartBytes, type OutgoingPart } from '../multipart.ts';
import { reshape } from '../reshape.ts';
import { fileOf } from './request.ts';
import { encodeTranscript, type TranscriptWord } from './transcript.ts';

const ours = [
  'file',
  'model',
  'response_format',
  'timestamp_granularities',
  'timestamp_granularities[]',
  'user',
];
const unknown = ['prompt', 'stream', 'include', 'include[]', 'chunking_strategy'];

/** https://elevenlabs.io/docs/api-reference/speech-to-text/convert */
export const elevenLabsTranscription: EndpointEntry = {
  format: 'elevenlabs/speech-to-text',
  path: '/speech-to-text',
  dialect: {
    encode(body, context) {
      const file = fileOf(context);
      const shaped = reshape(body, {
        rename: { language: 'language_code' },
        drop: unknown,
        used: ours,
      });
      const fields = { model_id: context.model, ...shaped.body };
      const parts: OutgoingPart[] = Object.entries(fields).flatMap(([name, value]) =>
        (Array.isArray(value) ? value : [value]).map((one) => ({
          name,
          data: typeof one === 'string' ? one : JSON.stringify(one),
        })),
      );
      parts.push({
        name: 'file',
        filename: file.filename ?? 'audio',
        contentType: file.contentType ?? 'application/octet-stream',
        data: file.data,
      });
      return { body: undefined, bytes: multipartBytes(parts), dropped: shaped.dropped };
    },
    decode(bytes, context) {
      const reply = objectOf(parseJson(bytes));
      const text = stringOf(reply?.text);
      if (text === undefined) return undefined;
      return encodeTranscript(
        {
          text,
          language: stringOf(reply?.language_code),
          durationS: numberOf(reply?.audio_duration_secs),
          words: (arrayOf(reply?.words) ?? []).flatMap(wordOf),
        },
        context,
        compact<ReplyFacts>({ id: stringOf(reply?.transcription_id) }),
      );
    },
  },
};

/** Between the words stand items for the pauses, and for what is heard but not said. */
function wordOf(value: JsonValue): TranscriptWord[] {
  const object = objectOf(value);
  const word = stringOf(object?.text);
  const start = numberOf(object?.start);
  const end = numberOf(object?.end);
  const isWord = object?.type === undefined || object.type === 'word';
  return !isWord || word === undefined || start === undefined || end === undefined
    ? []
    : [{ word, start, end }];
}
