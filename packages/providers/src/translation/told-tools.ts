import type { JsonObject, JsonValue } from '@sluice/contracts';
import { toolsDefined } from '../codecs/anthropic-messages/conversation-changes.ts';
import { nameIn } from '../codecs/openai-responses/asked-tools.ts';
import { toolsInRequest } from '../codecs/openai-responses/tools-in-request.ts';
import { arrayOf, objectOf, stringOf } from '../json/json-access.ts';

export interface ToldTool {
  /** As the caller wrote it; absent where it has none. */
  readonly type: string | undefined;
  readonly name: string | undefined;
  /** With that of its namespace, where it is in one. */
  readonly wholeName: string | undefined;
}

/**
 * All tools that a request tells of, in whichever format and place: in `tools` and the older `functions`, in namespaces and
 * with these, and in what brings tools in the middle of a conversation.
 */
export function toldTools(request: JsonObject): ToldTool[] {
  return [
    ...(toolsInRequest(request) ?? []).flatMap(({ tool }) => told(tool, undefined)),
    ...toolsDefined(request).flatMap((tool) => told(tool, undefined)),
    ...(arrayOf(request.functions) ?? []).flatMap((value) => told(value, undefined, 'function')),
  ];
}

function told(value: JsonValue, namespace: string | undefined, type?: string): ToldTool[] {
  const tool = objectOf(value) ?? {};
  const own = objectOf(tool.function) ?? objectOf(tool.custom) ?? tool;
  const name = stringOf(own.name);
  const wholeName = name === undefined ? undefined : nameIn(namespace, name);
  const itself = { type: type ?? stringOf(tool.type), name, wholeName };
  return [itself, ...(arrayOf(tool.tools) ?? []).flatMap((inner) => told(inner, name))];
}
