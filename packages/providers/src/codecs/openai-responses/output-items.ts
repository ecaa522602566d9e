/** Items of an answer as this format has them: built alike for whole replies and for streams. */
import type { JsonObject, JsonValue } from '@sluice/contracts';
import { numberOf, stringOf } from '../../json/json-access.ts';

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export function messageItem(id: string, status: ItemStatus, content: JsonValue[]): JsonObject {
  return { id, type: 'message', status, role: 'assistant', content };
}

export function outputText(
  text: string,
  annotations: JsonObject[] = [],
  logprobs: JsonValue[] = [],
): JsonObject {
  return { type: 'output_text', text, annotations, logprobs };
}

export function refusalPart(refusal: string): JsonObject {
  return { type: 'refusal', refusal };
}

export function reasoningItem(
  id: string,
  text: string,
  encryptedContent: string | undefined,
): JsonObject {
  return {
    id,
    type: 'reasoning',
    summary: text === '' ? [] : [summaryText(text)],
    ...(encryptedContent === undefined ? {} : { encrypted_content: encryptedContent }),
  };
}

export function summaryText(text: string): JsonObject {
  return { type: 'summary_text', text };
}

export interface FunctionCall {
  id: string;
  callId: string;
  name: string;
  arguments: string;
}

export function functionCallItem(call: FunctionCall, status: ItemStatus): JsonObject {
  const { id, callId, name } = call;
  return { id, type: 'function_call', status, arguments: call.arguments, call_id: callId, name };
}

/** Sources of a text. Those of other formats are told where they have an address; they are about the whole text. */
export function annotationsOf(citations: JsonObject[], text: string): JsonObject[] {
  return citations.flatMap((citation) => {
    if (annotationKinds.has(stringOf(citation.type) ?? '')) return [citation];
    const url = stringOf(citation.url);
    if (url === undefined) return [];
    const title = stringOf(citation.title) ?? '';
    const start_index = numberOf(citation.start_index) ?? 0;
    const end_index = numberOf(citation.end_index) ?? text.length;
    return [{ type: 'url_citation', url, title, start_index, end_index }];
  });
}

/** The format's own. */
const annotationKinds = new Set([
  'url_citation',
  'file_citation',
  'container_file_citation',
  'file_path',
]);
