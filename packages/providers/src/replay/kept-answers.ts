import type { CallerFormat, JsonObject, StreamableFormat } from '@sluice/contracts';
import { objectOf } from '../json/json-access.ts';

/** What has to be known of a format by whoever keeps its answers and gives them again. */
export interface KeptAnswers {
  /** Whether the stream tells its usage because the request asks; where streams always do, nobody asks. */
  asksForUsage(request: JsonObject): boolean;
  /** False = more comes of this request than its answer. Absent = nothing ever does. */
  isAllThatComes?(request: JsonObject): boolean;
  /** Whether a reply with a good status is an answer. Absent = each is. */
  isAnswer?(reply: JsonObject): boolean;
}

const whenAsked: KeptAnswers = {
  asksForUsage: ({ stream_options }) => objectOf(stream_options)?.include_usage === true,
};

const formats: Readonly<Record<StreamableFormat, KeptAnswers>> = {
  'openai-chat': whenAsked,
  'openai-completions': whenAsked,
  'openai-responses': {
    asksForUsage: () => false,
    // What goes on at the provider while nobody waits, or is written to there, is not only an answer.
    isAllThatComes: ({ background, conversation }) =>
      background !== true && (conversation ?? null) === null,
    // A response says for itself how it ended.
    isAnswer: ({ status }) => status === 'completed' || status === 'incomplete',
  },
  'anthropic-messages': { asksForUsage: () => false },
};

export function keptAnswers(format: CallerFormat): KeptAnswers {
  return (formats as Partial<Record<CallerFormat, KeptAnswers>>)[format] ?? whenAsked;
}

/** Formats whose answers can be told as JSON and as a stream. */
export function isStreamable(format: CallerFormat): format is StreamableFormat {
  return Object.hasOwn(formats, format);
}
