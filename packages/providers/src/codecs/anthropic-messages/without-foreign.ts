import type { JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';
import type { OwnWords } from '../own-words.ts';
import { proofOfClaude } from '../proofs.ts';
import { lacksThought, type OpenTurn } from './open-turn.ts';
import { isThought } from './wire.ts';

/**
 * A request without what other providers wrote into the conversation while it
 * was theirs; undefined where there is nothing of the kind. Costs a look at each
 * block of the assistant's turns.
 */
export function withoutForeign(body: JsonObject): OwnWords | undefined {
  const messages = arrayOf(body.messages);
  if (messages === undefined || !messages.some(hasForeign)) return undefined;
  const dropped: string[] = [];
  const kept: JsonValue[] = [];
  for (const [index, message] of messages.entries()) {
    if (!hasForeign(message)) {
      kept.push(message);
      continue;
    }
    const content = ownBlocks(message as JsonObject, `messages[${index}]`, dropped);
    if (content.length > 0) kept.push({ ...(message as JsonObject), content });
  }
  const own: JsonObject = { ...body, messages: kept };
  const isOpen = lacksThought(kept.map(turnOf), { isResult, isThought });
  return { body: isOpen ? withoutThinking(own, dropped) : own, dropped };
}

function hasForeign(value: JsonValue): boolean {
  const message = objectOf(value);
  if (message?.role !== 'assistant') return false;
  return Array.isArray(message.content) && message.content.some(isForeign);
}

function turnOf(message: JsonValue): OpenTurn {
  const { role, content } = objectOf(message) ?? {};
  const blocks = (arrayOf(content) ?? []).map((block) => objectOf(block) ?? {});
  return { role, blocks };
}

function isResult({ type }: JsonObject): boolean {
  return type === 'tool_result';
}

function isForeign(value: JsonValue): boolean {
  const block = objectOf(value);
  switch (block?.type) {
    case 'thinking':
      return proofOfClaude(stringOf(block.signature)) === undefined;
    case 'redacted_thinking':
      return proofOfClaude(stringOf(block.data)) === undefined;
    case 'text':
      return block.thought_signature !== undefined || citesForeign(block.citations);
    case 'tool_use':
      return block.thought_signature !== undefined;
    default:
      return false;
  }
}

/** Pages that this gateway told of in the format's words: the provider has no index of them. */
function citesForeign(citations: JsonValue | undefined): boolean {
  return Array.isArray(citations) && citations.some(isForeignCitation);
}

function isForeignCitation(citation: JsonValue): boolean {
  return objectOf(citation)?.encrypted_index === '';
}

function ownBlocks(message: JsonObject, path: string, dropped: string[]): JsonValue[] {
  const kept: JsonValue[] = [];
  for (const value of message.content as JsonValue[]) {
    if (!isForeign(value)) {
      kept.push(value);
      continue;
    }
    const { thought_signature, citations, ...block } = value as JsonObject;
    if (block.type !== 'text' && block.type !== 'tool_use') {
      dropped.push(`${path}.${block.type}`);
      continue;
    }
    if (thought_signature !== undefined) dropped.push(`${path}.thought_signature`);
    const cited = arrayOf(citations)?.filter((citation) => !isForeignCitation(citation));
    if (citesForeign(citations)) dropped.push(`${path}.citations`);
    kept.push(cited?.length ? { ...block, citations: cited } : block);
  }
  return kept;
}

/**
 * With a budget to think, a turn whose calls are still open has to begin with
 * its thought. Where that was another's, the turn goes on without thinking.
 */
function withoutThinking(body: JsonObject, dropped: string[]): JsonObject {
  if (objectOf(body.thinking)?.type !== 'enabled') return body;
  const { thinking: _, context_management, ...rest } = body;
  dropped.push('thinking');
  const management = objectOf(context_management);
  if (management === undefined) return rest;
  const edits = (arrayOf(management.edits) ?? []).filter(
    (edit) => stringOf(objectOf(edit)?.type)?.startsWith('clear_thinking') !== true,
  );
  return edits.length === 0 ? rest : { ...rest, context_management: { ...management, edits } };
}
