import type { JsonObject } from '@sluice/contracts';
import type { CallContext, DecodedReply, ReplyFacts } from '../../contract.ts';
import { compact, stringOf } from '../../json/json-access.ts';
import { subtitles, type TranscriptSegment } from './subtitles.ts';

export interface TranscriptWord {
  word: string;
  start: number;
  end: number;
}

/** What was heard, in no vendor's words. */
export interface Transcript {
  text: string;
  language: string | undefined;
  durationS: number | undefined;
  words: readonly TranscriptWord[];
}

/** The transcript in the `response_format` the caller asked for. */
export function encodeTranscript(
  transcript: Transcript,
  context: CallContext,
  more: ReplyFacts = {},
): DecodedReply {
  const facts = compact<ReplyFacts>({
    ...more,
    units: transcript.durationS === undefined ? undefined : { audioSeconds: transcript.durationS },
  });
  const format = stringOf(context.request.response_format) ?? 'json';
  switch (format) {
    case 'text':
      return text(`${transcript.text}\n`, 'text/plain; charset=utf-8', facts);
    case 'srt':
      return text(subtitles(segmentsOf(transcript), 'srt'), 'text/plain; charset=utf-8', facts);
    case 'vtt':
      return text(subtitles(segmentsOf(transcript), 'vtt'), 'text/vtt; charset=utf-8', facts);
    default: {
      const body = format === 'verbose_json' ? verbose(transcript, context) : brief(transcript);
      return {
        body: Buffer.from(JSON.stringify({ ...body, provider: context.provider.id })),
        facts,
      };
    }
  }
}

function text(body: string, contentType: string, facts: ReplyFacts): DecodedReply {
  return { body: Buffer.from(body), contentType, facts };
}

function brief({ text: heard, durationS }: Transcript): JsonObject {
  if (durationS === undefined) return { text: heard };
  return { text: heard, usage: { type: 'duration', seconds: Math.ceil(durationS) } };
}

function verbose(transcript: Transcript, context: CallContext): JsonObject {
  const wanted =
    context.request.timestamp_granularities ?? context.request['timestamp_granularities[]'];
  const granularities = Array.isArray(wanted) ? wanted : [wanted ?? 'segment'];
  const { durationS, language, words } = transcript;
  return compact<JsonObject>({
    task: 'transcribe',
    language: language as string,
    duration: durationS as number,
    text: transcript.text,
    words: granularities.includes('word')
      ? words.map(({ word, start, end }) => ({ word, start, end }))
      : (undefined as never),
    segments: granularities.includes('segment')
      ? segmentsOf(transcript).map((segment, id) => ({ id, ...segment }))
      : (undefined as never),
    usage:
      durationS === undefined
        ? (undefined as never)
        : { type: 'duration', seconds: Math.ceil(durationS) },
  });
}

const segmentWordsMax = 14;

/** Sentences, or what is as long as two lines of subtitles; the whole where no word has a time. */
export function segmentsOf({ text: heard, words, durationS }: Transcript): TranscriptSegment[] {
  if (words.length === 0)
    return heard === '' ? [] : [{ start: 0, end: durationS ?? 0, text: heard }];
  const segments: TranscriptSegment[] = [];
  let current: TranscriptWord[] = [];
  for (const word of words) {
    current.push(word);
    if (current.length < segmentWordsMax && !/[.?!。？！]["')\]]?$/.test(word.word)) continue;
    segments.push(joined(current));
    current = [];
  }
  if (current.length > 0) segments.push(joined(current));
  return segments;
}

function joined(words: readonly TranscriptWord[]): TranscriptSegment {
  return {
    start: words[0]?.start ?? 0,
    end: words.at(-1)?.end ?? 0,
    text: words.map(({ word }) => word).join(' '),
  };
}
