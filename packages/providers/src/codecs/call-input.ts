import type { JsonObject, ToolCallPart } from '@sluice/contracts';
import { parseObject } from '../json/json-access.ts';

/**
 * The arguments of a call for formats that have them as an object. What a model wrote
 * that is none – a call that was cut off, say – is told as it was written, under the
 * name that Anthropic gives it: https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming
 */
export function callInput(call: ToolCallPart): JsonObject {
  if (call.arguments.trim() === '') return {};
  return parseObject(call.arguments) ?? { INVALID_JSON: call.arguments };
}
