import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { CallFacts } from '../../call-facts.ts';
import type { EndpointEntry, ReplyFacts } from '../../contract.ts';
import {
  arrayOf,
  compact,
  numberOf,
  objectOf,
  parseJson,
  stringOf,
} from '../../json/json-access.ts';
import { reshape } from '../reshape.ts';
import { fileOf, queryOf } from './request.ts';
import { encodeTranscript, type TranscriptWord } from './transcript.ts';

/** https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded: the sound is the body, all else the query. */
export const deepgramTranscription: EndpointEntry = {
  format: 'deepgram/listen',
  path: (facts) => `/listen${queryOf(queryFields(facts))}`,
  dialect: {
    encode(body, context) {
      const file = fileOf(context);
      const contentType = file.contentType ?? 'application/octet-stream';
      return {
        body: undefined,
        bytes: { data: file.data, contentType },
        dropped: reshape(body, { drop: unknown }).dropped,
      };
    },
    decode(bytes, context) {
      const reply = objectOf(parseJson(bytes));
      const channel = objectOf(arrayOf(objectOf(reply?.results)?.channels)?.[0]);
      const best = objectOf(arrayOf(channel?.alternatives)?.[0]);
      const text = stringOf(best?.transcript);
      if (text === undefined) return undefined;
      const metadata = objectOf(reply?.metadata);
      const facts = compact<ReplyFacts>({ id: stringOf(metadata?.request_id) });
      return encodeTranscript(
        {
          text,
          language: stringOf(channel?.detected_language) ?? stringOf(context.request.language),
          durationS: numberOf(metadata?.duration),
          words: (arrayOf(best?.words) ?? []).flatMap(wordOf),
        },
        context,
        facts,
      );
    },
  },
};

/** What it has no word for. */
const unknown = ['prompt', 'temperature', 'stream', 'include', 'include[]', 'chunking_strategy'];

/** What is about the answer to the caller, not about the work. */
const ours = [
  'file',
  'response_format',
  'timestamp_granularities',
  'timestamp_granularities[]',
  'user',
];

function queryFields({ model, request = {} }: CallFacts): JsonObject {
  const { body } = reshape(request, { drop: unknown, used: [...ours, 'model'] });
  const wantsPunctuation = body.smart_format ?? body.punctuate;
  return {
    ...(model === '' ? {} : { model }),
    ...body,
    // OpenAI's transcripts have sentences; without this there is one row of words.
    ...(wantsPunctuation === undefined ? { smart_format: true } : {}),
    ...(body.language === undefined && body.detect_language === undefined
      ? { detect_language: true }
      : {}),
  };
}

function wordOf(value: JsonValue): TranscriptWord[] {
  const object = objectOf(value);
  const word = stringOf(object?.punctuated_word) ?? stringOf(object?.word);
  const start = numberOf(object?.start);
  const end = numberOf(object?.end);
  return word === undefined || start === undefined || end === undefined
    ? []
    : [{ word, start, end }];
}
