import { hash } from 'node:crypto';
import type { JsonObject, JsonValue } from '@sluice/contracts';
import { isObject, type Sealer, sealedBodyLengthMax } from '@sluice/mcp';
import { isOwnToolItem } from '../exchange/own-tool-items.ts';
import { type AskedCall, parsedArguments } from './loop-format.ts';
import { functionName, type OfferedTool } from './offered-tools.ts';
import { answerOf, textOf } from './tool-answer.ts';

/** Who may answer what they were asked: the same caller, within a day. */
export interface ApprovalSeal {
  readonly sealer: Sealer;
  readonly principal: string;
  readonly nowMs: number;
}

/** A call that waits for its caller's word: all that is needed to make it is in its id. */
interface SealedCall {
  readonly callId: string;
  readonly functionName: string;
  readonly label: string;
  readonly toolName: string;
  readonly arguments: string;
}

const kind = 'approval';
const prefix = 'mcpr_';
const validMs = 24 * 3_600_000;

/** @throws RangeError where the arguments are too long for an id */
export function sealApproval(call: SealedCall, { sealer, principal, nowMs }: ApprovalSeal): string {
  const { callId, functionName: name, label, toolName, arguments: args } = call;
  const payload = [ownerOf(principal), nowMs + validMs, callId, name, label, toolName, args];
  return `${prefix}${sealer.seal(kind, payload, sealedBodyLengthMax)}`;
}

function openApproval(id: JsonValue | undefined, seal: ApprovalSeal): SealedCall | undefined {
  if (typeof id !== 'string' || !id.startsWith(prefix)) return undefined;
  const payload = seal.sealer.open(kind, id.slice(prefix.length));
  if (!Array.isArray(payload)) return undefined;
  const [owner, until, callId, name, label, toolName, args] = payload as string[];
  if (owner !== ownerOf(seal.principal) || Number(until) < seal.nowMs) return undefined;
  return {
    callId: callId ?? '',
    functionName: name ?? '',
    label: label ?? '',
    toolName: toolName ?? '',
    arguments: args ?? '',
  };
}

function ownerOf(principal: string): string {
  return hash('sha256', principal, 'base64url').slice(0, 22);
}

export interface History {
  /** As the model is told it. */
  readonly items: JsonValue[];
  /** Of these the answers stand at the end of `items`, once they are there. */
  readonly approved: AskedCall[];
  /** Servers whose tools are told of already. */
  readonly listed: ReadonlySet<string>;
}

export interface HistoryOf {
  readonly labels: ReadonlySet<string>;
  readonly offered: readonly OfferedTool[];
  readonly seal: ApprovalSeal;
  /** What the model said is kept by its provider. */
  readonly isKept: boolean;
  /** Of that, what our tools said and the provider has not heard. */
  readonly untold: readonly JsonValue[];
}

/** What came of a provider's own servers stays as it is; ours are functions of the caller's to a model. */
export function readHistory(input: readonly JsonValue[], of: HistoryOf): History {
  const { labels, offered, seal, isKept, untold } = of;
  const items: JsonValue[] = [...untold.filter((answer) => !isAnswered(answer, input))];
  const approved: AskedCall[] = [];
  const listed = new Set<string>();
  const isOurs = (item: JsonObject) =>
    typeof item.server_label === 'string' && labels.has(item.server_label);
  const done = new Map<JsonValue | undefined, JsonObject>();
  for (const item of input)
    if (isObject(item) && item.type === 'mcp_call' && isOurs(item) && item.approval_request_id)
      done.set(item.approval_request_id, item);
  const lastSaid = input.findLastIndex((item) => isObject(item) && isSaid(item));
  const called = new Set<string>();
  const tellCall = (callId: string, name: string, args: string) => {
    if (called.has(callId)) return;
    called.add(callId);
    items.push({ type: 'function_call', call_id: callId, name, arguments: args });
  };
  for (const [index, item] of input.entries()) {
    if (!isObject(item)) {
      items.push(item);
      continue;
    }
    if (item.type === 'mcp_approval_response') {
      const call = openApproval(item.approval_request_id, seal);
      if (call === undefined || !labels.has(call.label)) {
        items.push(item);
        continue;
      }
      if (done.has(item.approval_request_id)) continue;
      if (!isKept) tellCall(call.callId, call.functionName, call.arguments);
      if (item.approve === true && index > lastSaid)
        approved.push(approvedCall(call, String(item.approval_request_id), offered));
      else items.push(output(call.callId, refusedText(item)));
    } else if (!isOurs(item)) items.push(item);
    else if (item.type === 'mcp_list_tools') listed.add(String(item.server_label));
    else if (item.type === 'mcp_approval_request') {
      const call = openApproval(item.id, seal);
      if (call !== undefined && !isKept && !done.has(item.id))
        tellCall(call.callId, call.functionName, call.arguments);
    } else if (item.type === 'mcp_call') {
      const id = callIdOf(item.id);
      const { server_label: label, name, arguments: args } = item;
      tellCall(id, functionName(String(label), String(name)), typeof args === 'string' ? args : '');
      items.push(output(id, outputOf(item)));
    } else items.push(item);
  }
  return { items, approved, listed };
}

/** Servers whose tools were run by the gateway before, also where the request does not name them any more. */
export function ownLabels({ input }: JsonObject): string[] {
  const items = Array.isArray(input) ? input.filter(isOwnToolItem) : [];
  return items.map(({ server_label: label }) => String(label));
}

/** The caller has told it by itself. */
function isAnswered(answer: JsonValue, input: readonly JsonValue[]): boolean {
  if (!isObject(answer)) return false;
  const { type, call_id: callId } = answer;
  return input.some((item) => isObject(item) && item.type === type && item.call_id === callId);
}

/** A request without tools of ours, as its model is told it: what they said before stays known. */
export function withPlainHistory(
  json: JsonObject,
  labels: ReadonlySet<string>,
  seal: ApprovalSeal,
): JsonObject {
  const input = Array.isArray(json.input) ? json.input : [];
  const of = { labels, offered: [], seal, isKept: false, untold: [] };
  const { items, approved } = readHistory(input, of);
  const unmade = approved.map(({ callId, label }) =>
    output(callId, `The call was not made: the request does not name the server "${label}".`),
  );
  return { ...json, input: [...items, ...unmade] };
}

/** Of the model: what stands before it has been answered. */
function isSaid({ type, role }: JsonObject): boolean {
  if (type === undefined || type === 'message') return role === 'assistant';
  return type === 'function_call' || type === 'mcp_call' || type === 'reasoning';
}

function approvedCall(
  call: SealedCall,
  approvalId: string,
  offered: readonly OfferedTool[],
): AskedCall {
  const { callId, label, toolName, arguments: argumentsText } = call;
  return {
    id: shownId(callId),
    callId,
    tool: offered.find((tool) => tool.label === label && tool.listed.name === toolName),
    toolName,
    label,
    functionName: call.functionName,
    argumentsText,
    arguments: parsedArguments(argumentsText),
    approvalId,
  };
}

function refusedText({ approve, reason }: JsonObject): string {
  if (approve === true) return 'The call was approved, and what came of it is not known any more.';
  const why = typeof reason === 'string' && reason !== '' ? `: ${reason}` : '.';
  return `The user did not approve this call${why}`;
}

function outputOf({ output: said, error }: JsonObject): string {
  if (typeof said === 'string') return said;
  // As the model was told it when it failed.
  if (isObject(error) && Array.isArray(error.content))
    return textOf(answerOf({ kind: 'result', result: { content: error.content, isError: true } }));
  if (isObject(error))
    return typeof error.message === 'string' ? error.message : JSON.stringify(error);
  return typeof error === 'string' ? error : 'The call was not made.';
}

function output(callId: string, text: string): JsonObject {
  return { type: 'function_call_output', call_id: callId, output: text };
}

/** What callers know a call by tells what the model knows it by, so that a history is the same in each request. */
export function shownId(callId: string): string {
  return `mcp_${callId}`;
}

function callIdOf(id: JsonValue | undefined): string {
  return String(id ?? '').replace(/^mcp_/, '');
}
