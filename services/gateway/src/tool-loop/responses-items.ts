import type { JsonObject, JsonValue } from '@sluice/contracts';
import { isObject } from '@sluice/mcp';
import type { AskedCall } from './loop-format.ts';
import type { OfferedTool } from './offered-tools.ts';
import { type AnswerPart, type ToolAnswer, textOf } from './tool-answer.ts';

/** Items of `/v1/responses`, as requests and answers have them. */

export function functionOf({ functionName, listed }: OfferedTool): JsonObject {
  return {
    type: 'function',
    name: functionName,
    ...(listed.description === undefined ? {} : { description: listed.description }),
    parameters: listed.inputSchema,
    strict: false,
  };
}

export function callItem(
  call: Pick<AskedCall, 'id' | 'label' | 'toolName'> & Partial<AskedCall>,
  status: string,
): JsonObject {
  return {
    id: call.id,
    type: 'mcp_call',
    approval_request_id: call.approvalId ?? null,
    arguments: call.argumentsText ?? '',
    error: null,
    name: call.toolName,
    output: null,
    server_label: call.label,
    status,
  };
}

const ofCaller = new Set([
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
  'computer_call',
  'mcp_approval_request',
]);

/** Whether the caller has to bring something before the model can go on. */
export function isOfCaller({ type, output }: JsonObject): boolean {
  return ofCaller.has(String(type)) && output === undefined;
}

export function told(answer: ToolAnswer): JsonValue {
  if (answer.parts.every(({ kind }) => kind === 'text')) return textOf(answer);
  return answer.parts.map(inputPart);
}

function inputPart(part: AnswerPart): JsonObject {
  if (part.kind === 'text') return { type: 'input_text', text: part.text };
  const url = `data:${part.mediaType};base64,${part.data}`;
  return { type: 'input_image', image_url: url, detail: 'auto' };
}

export function withoutCredential(tool: JsonValue): JsonValue {
  if (!isObject(tool) || tool.type !== 'mcp') return tool;
  const { authorization, headers, ...rest } = tool;
  return rest;
}

export function withoutId(item: JsonValue): JsonValue {
  if (!isObject(item)) return item;
  const { id, ...rest } = item;
  return rest;
}
