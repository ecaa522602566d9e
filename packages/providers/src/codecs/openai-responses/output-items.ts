/** Items of an answer as this format has them: built alike for whole replies and for streams. */
import type { JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, numberOf, objectOf, stringOf } from '../../json/json-access.ts';

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
  status: ItemStatus,
): JsonObject {
  return {
    id,
    type: 'reasoning',
    status,
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
    if (otherAnnotations.has(stringOf(citation.type) ?? '')) return [citation];
    const url = stringOf(citation.url);
    if (url === undefined) return [];
    const title = stringOf(citation.title) ?? '';
    const start_index = numberOf(citation.start_index) ?? 0;
    const end_index = numberOf(citation.end_index) ?? text.length;
    return [{ type: 'url_citation', url, title, start_index, end_index }];
  });
}

/** The format's own, which are about files. */
const otherAnnotations = new Set(['file_citation', 'container_file_citation', 'file_path']);

/** How likely tokens were; not all who tell it tell the bytes, or what else it could have been. */
export function logprobsOf(entries: JsonValue[]): JsonValue[] {
  return entries.map((value) => {
    const entry = objectOf(value);
    if (entry === undefined) return value;
    const bytes = arrayOf(entry.bytes) ?? [...Buffer.from(stringOf(entry.token) ?? '')];
    return { ...entry, bytes, top_logprobs: logprobsBeside(entry) };
  });
}

function logprobsBeside(entry: JsonObject): JsonValue[] {
  return (arrayOf(entry.top_logprobs) ?? []).map((value) => {
    const other = objectOf(value);
    if (other === undefined) return value;
    return {
      ...other,
      bytes: arrayOf(other.bytes) ?? [...Buffer.from(stringOf(other.token) ?? '')],
    };
  });
}
