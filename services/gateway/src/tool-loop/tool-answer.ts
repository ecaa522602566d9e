import type { JsonObject, JsonValue } from '@sluice/contracts';
import { isObject } from '@sluice/mcp';
import type { ToolOutcome } from '../mcp/tool-caller.ts';

/** What a model, and who reads its answer, is told of a call. */
export interface ToolAnswer {
  readonly isError: boolean;
  /** In the order in which the tool said them. */
  readonly parts: readonly AnswerPart[];
  /** Why there is none; of a tool that failed itself, what it said. Undefined = it did not fail. */
  readonly error: JsonObject | undefined;
}

export type AnswerPart =
  | { readonly kind: 'text'; readonly text: string }
  /** In base64. */
  | { readonly kind: 'image'; readonly mediaType: string; readonly data: string };

/** Of one call: what is more is cut, and a marker says so. */
const charsMax = 400_000;

export function answerOf(outcome: ToolOutcome): ToolAnswer {
  if (outcome.kind === 'fault') {
    const { by, code, message } = outcome;
    const type = by === 'http' ? 'http_error' : 'mcp_protocol_error';
    return { ...failed(message), error: { type, code, message } };
  }
  const { content, structuredContent, isError } = outcome.result;
  const blocks = (Array.isArray(content) ? content : []).filter(isObject);
  const said = blocks.flatMap(partOf);
  const parts: AnswerPart[] =
    said.length > 0 || structuredContent === undefined
      ? said
      : [{ kind: 'text', text: JSON.stringify(structuredContent) }];
  const hasFailed = isError === true;
  return {
    isError: hasFailed,
    parts: bounded(parts),
    error: hasFailed ? { type: 'mcp_tool_execution_error', content: blocks } : undefined,
  };
}

/** Of a call that was not made, or whose answer is not known. */
export function failed(message: string): ToolAnswer {
  return {
    isError: true,
    parts: [{ kind: 'text', text: message }],
    error: { type: 'mcp_protocol_error', code: -32000, message },
  };
}

export function textOf({ parts }: ToolAnswer): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : `[${part.mediaType}]`)).join('\n');
}

function partOf(block: JsonObject): AnswerPart[] {
  const { type, text, data, mimeType, resource, uri, name } = block;
  if (type === 'text') return typeof text === 'string' ? [{ kind: 'text', text }] : [];
  if (type === 'image' && typeof data === 'string')
    return [{ kind: 'image', mediaType: stringOr(mimeType, 'image/png'), data }];
  if (type === 'resource' && isObject(resource))
    return [
      typeof resource.text === 'string'
        ? { kind: 'text', text: resource.text }
        : leftOut(resource.mimeType, resource.uri),
    ];
  if (type === 'resource_link')
    return [{ kind: 'text', text: `[${stringOr(name, 'resource')}](${stringOr(uri, '')})` }];
  return [leftOut(mimeType, type)];
}

function leftOut(kind: JsonValue | undefined, what: JsonValue | undefined): AnswerPart {
  return { kind: 'text', text: `[${stringOr(kind, 'content')} left out: ${stringOr(what, '')}]` };
}

function stringOr(value: JsonValue | undefined, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

function bounded(parts: readonly AnswerPart[]): AnswerPart[] {
  let left = charsMax;
  return parts.map((part) => {
    if (part.kind === 'image') return part;
    const text = part.text.slice(0, left);
    left -= text.length;
    if (text.length === part.text.length) return part;
    return { kind: 'text', text: `${text}\n[cut after ${charsMax} characters]` };
  });
}
