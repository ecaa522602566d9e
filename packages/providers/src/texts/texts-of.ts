import { type Endpoint, type JsonObject, operations } from '@sluice/contracts';
import { answerFormat, textFormat } from './text-formats.ts';
import { noTexts, type Texts } from './texts.ts';

/** A request, or its response, in the caller's format. */
export interface TextSource {
  readonly event: 'beforeRequest' | 'afterRequest';
  readonly endpoint: Endpoint;
  readonly request: JsonObject;
  /** Undefined before the request. */
  readonly response: JsonObject | undefined;
}

/**
 * Of a request: the content of the last message or item, the prompt, or the
 * embedding's input. Of a response: the first choice, the text blocks of a
 * message, or the messages of an output.
 * Whatever has another shape reads as no text.
 */
export function textsOf({ event, endpoint, request, response = {} }: TextSource): Texts {
  const { format } = operations[endpoint];
  return event === 'beforeRequest'
    ? (textFormat(format)?.ofRequest(request) ?? noTexts(request))
    : (answerFormat(format)?.ofReply(response) ?? noTexts(response));
}
