import { type CalledId, type JsonObject, operations } from '@sluice/contracts';
import type { CheckSubject } from '@sluice/contracts/checks';
import { allTexts } from './all-texts.ts';
import { blocksInStep } from './blocks-in-step.ts';
import { conversationPlaces } from './conversation-places.ts';
import { textsAt } from './places.ts';
import { answerFormat, textFormat } from './text-formats.ts';
import { noTexts, type Texts } from './texts.ts';
import { withoutOldLogprobs } from './without-old-logprobs.ts';

/** A request, or its response, in the caller's format. */
export interface TextSource {
  readonly event: 'beforeRequest' | 'afterRequest';
  readonly endpoint: CalledId;
  readonly request: JsonObject;
  /** Undefined before the request. */
  readonly response: JsonObject | undefined;
}

const published: readonly CheckSubject[] = ['last_message'];

/**
 * Of a request: the content of the last message or item, the prompt, or the
 * embedding's input. Of a response: the first choice, the text blocks of a
 * message, or the messages of an output. Further subjects add to this.
 * Whatever has another shape reads as no text; where nobody reads the format,
 * every text counts.
 */
export function textsOf(source: TextSource, subjects = published): Texts {
  const texts = readTexts(source, subjects);
  const { event, endpoint, response = {} } = source;
  if (event === 'beforeRequest') return texts;
  const isChat = operations[endpoint].format === 'openai-chat';
  return {
    ...texts,
    replace(parts) {
      const replaced = withoutOldLogprobs(response, texts.replace(parts));
      return isChat ? blocksInStep(response, replaced) : replaced;
    },
  };
}

function readTexts(source: TextSource, subjects: readonly CheckSubject[]): Texts {
  const { event, endpoint, request, response = {} } = source;
  const { format } = operations[endpoint];
  const isRequest = event === 'beforeRequest';
  const document = isRequest ? request : response;
  const reader = textFormat(format);
  if (reader === undefined || subjects.includes('all')) return allTexts(document);
  if (subjects.length === 1 && subjects[0] === 'last_message') {
    if (!isRequest) return answerFormat(format)?.ofReply(response) ?? noTexts(response);
    const asked = reader.ofRequest(request);
    // A message of nothing but what tools said.
    if (asked.parts.length > 0) return asked;
  }
  const all = placesOf(source, document);
  const places = all.filter(
    ({ subject, isLast }) =>
      subjects.includes(subject) || (isLast && subjects.includes('last_message')),
  );
  return textsAt(document, places);
}

function placesOf({ event, endpoint }: TextSource, document: JsonObject) {
  const places = conversationPlaces as Partial<
    Record<string, (typeof conversationPlaces)['openai-chat']>
  >;
  const reader = places[operations[endpoint].format];
  if (reader === undefined) return [];
  return event === 'beforeRequest' ? reader.request(document) : reader.reply(document);
}
