import type { JsonObject, JsonValue } from '@sluice/contracts';
import { fittingWord, type WordRule } from '../fitting-words.ts';
import { arrayOf, objectOf } from '../json/json-access.ts';

/**
 * The body with ids of tool calls that the provider takes: conversations that
 * another provider began have ids it may refuse. A call and its result get the
 * same id, since it is made of the old one; those without any are paired in
 * their order. Undefined when all are good.
 *
 * Reads the bodies of all formats that have ids, by the fields that hold them.
 */
export function withFittingCallIds(
  body: JsonObject,
  rule: WordRule | undefined,
): JsonObject | undefined {
  if (rule === undefined) return undefined;
  const field = body.messages === undefined ? 'input' : 'messages';
  const turns = arrayOf(body[field]);
  if (turns === undefined || !turns.some((turn) => hasBadId(turn, rule.isGood))) return undefined;
  const ids = new FittingIds(rule);
  return { ...body, [field]: turns.map((turn) => fittingTurn(turn, ids)) };
}

/** Looks before anything is copied: nearly all bodies are good. */
function hasBadId(value: JsonValue, isGood: RegExp): boolean {
  const turn = objectOf(value);
  if (turn === undefined) return false;
  if (isBad(turn.tool_call_id, isGood) || isBad(turn.call_id, isGood)) return true;
  const { tool_calls: calls, content } = turn;
  if (Array.isArray(calls))
    for (const call of calls) if (isBad(objectOf(call)?.id, isGood)) return true;
  if (Array.isArray(content))
    for (const block of content) if (isBadBlock(block, isGood)) return true;
  return false;
}

function isBadBlock(value: JsonValue, isGood: RegExp): boolean {
  const block = objectOf(value);
  switch (block?.type) {
    case 'tool_use':
      return isBad(block.id, isGood);
    case 'tool_result':
      return isBad(block.tool_use_id, isGood);
    case undefined: {
      const used = objectOf(block?.toolUse) ?? objectOf(block?.toolResult);
      return isBad(used?.toolUseId, isGood);
    }
    default:
      return false;
  }
}

function isBad(id: JsonValue | undefined, isGood: RegExp): id is string {
  return typeof id === 'string' && !isGood.test(id);
}

class FittingIds {
  #rule: WordRule;
  #callsWithout = 0;
  #resultsWithout = 0;

  constructor(rule: WordRule) {
    this.#rule = rule;
  }

  /** `holder` with a good id in that field; itself where it has one. */
  in(holder: JsonObject, field: string, isResult: boolean): JsonObject {
    const id = holder[field];
    if (!isBad(id, this.#rule.isGood)) return holder;
    const place = isResult ? this.#resultsWithout : this.#callsWithout;
    if (id === '' && isResult) this.#resultsWithout++;
    else if (id === '') this.#callsWithout++;
    return { ...holder, [field]: fittingWord(id === '' ? `call_${place}` : id, this.#rule) };
  }
}

function fittingTurn(value: JsonValue, ids: FittingIds): JsonValue {
  let turn = objectOf(value);
  if (turn === undefined) return value;
  const isResult = typeof turn.type === 'string' && turn.type.endsWith('_output');
  turn = ids.in(ids.in(turn, 'tool_call_id', true), 'call_id', isResult);
  const { tool_calls: calls, content } = turn;
  const edited: JsonObject = {};
  if (Array.isArray(calls)) edited.tool_calls = calls.map((call) => fittingCall(call, ids));
  if (Array.isArray(content)) edited.content = content.map((block) => fittingBlock(block, ids));
  return { ...turn, ...edited };
}

function fittingCall(value: JsonValue, ids: FittingIds): JsonValue {
  const call = objectOf(value);
  return call === undefined ? value : ids.in(call, 'id', false);
}

function fittingBlock(value: JsonValue, ids: FittingIds): JsonValue {
  const block = objectOf(value);
  if (block?.type === 'tool_use') return ids.in(block, 'id', false);
  if (block?.type === 'tool_result') return ids.in(block, 'tool_use_id', true);
  const toolUse = objectOf(block?.toolUse);
  if (toolUse !== undefined) return { ...block, toolUse: ids.in(toolUse, 'toolUseId', false) };
  const toolResult = objectOf(block?.toolResult);
  if (toolResult === undefined) return value;
  return { ...block, toolResult: ids.in(toolResult, 'toolUseId', true) };
}
