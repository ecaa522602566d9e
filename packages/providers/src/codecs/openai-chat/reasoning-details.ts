/**
 * `reasoning_details`: thoughts as a list of entries, each with what proves it
 * and what the provider wants to see of it again, whole and in its place.
 * https://openrouter.ai/docs/use-cases/reasoning-tokens and
 * https://platform.minimax.io/docs/guides/text-m2-function-call
 *
 * The text of an entry is a thought as others have it; the rest travels as the
 * proof of the thought, as JSON.
 */
import type { ChatPart, ChatStreamEvent, JsonObject } from '@sluice/contracts';
import { compact, numberOf, objectOf, parseObject, stringOf } from '../../json/json-access.ts';
import { markProof, openProof } from '../proofs.ts';

/** One piece of thinking; `data` is what the provider keeps encrypted. */
export interface ThinkingPiece {
  text: string;
  signature?: string;
  data?: string;
}

/** Of a whole entry; undefined when it says nothing. */
export function readDetail(detail: JsonObject): ThinkingPiece | undefined {
  const { text, summary, ...rest } = detail;
  if (stringOf(rest.data)) return { text: '', data: markProof('detail', JSON.stringify(rest)) };
  const said = stringOf(text) ?? stringOf(summary) ?? '';
  if (said === '' && !stringOf(rest.signature)) return undefined;
  const isBare = rest.signature === undefined && rest.id === undefined;
  return compact<ThinkingPiece>({
    text: said,
    signature: isBare ? undefined : markProof('detail', JSON.stringify(rest)),
  });
}

/** The way back; undefined for a part that was no entry. */
export function writeDetail(part: ChatPart): JsonObject | undefined {
  if (part.type === 'redacted-thinking') return parseObject(openProof('detail', part.data) ?? '');
  if (part.type !== 'thinking') return undefined;
  const rest = parseObject(openProof('detail', part.signature) ?? '');
  if (rest === undefined) return undefined;
  const { type, ...others } = rest;
  const said: JsonObject =
    type === 'reasoning.summary' ? { summary: part.text } : { text: part.text };
  return { ...(type !== undefined && { type }), ...said, ...others };
}

/** Entries of one answer that come in pieces: what proves one is told when it is over. */
export class DetailDeltas {
  #open: { key: string; block: number; rest: JsonObject } | undefined;
  #entries = 0;

  decode(detail: JsonObject, choice: number, out: ChatStreamEvent[]): void {
    const { text, summary, signature, data, ...rest } = detail;
    const key = `${stringOf(detail.type) ?? ''} ${numberOf(detail.index) ?? ''}`;
    if (this.#open?.key !== key) {
      this.end(choice, out);
      // Texts and calls have the numbers from 0 on.
      this.#entries += 1;
      this.#open = { key, block: -this.#entries, rest: {} };
    }
    const { block, rest: known } = this.#open as { block: number; rest: JsonObject };
    for (const name in rest) if (rest[name] != null) known[name] = rest[name];
    append(known, 'signature', signature);
    append(known, 'data', data);
    const said = stringOf(text) ?? stringOf(summary);
    if (said) out.push({ type: 'thinking-delta', choice, block, text: said });
  }

  /** Something else follows, or nothing. */
  end(choice: number, out: ChatStreamEvent[]): void {
    if (this.#open === undefined) return;
    const { block, rest } = this.#open;
    this.#open = undefined;
    const piece = readDetail(rest);
    if (piece?.data !== undefined)
      out.push({ type: 'redacted-thinking', choice, block, data: piece.data });
    else if (rest.signature !== undefined || rest.id !== undefined) {
      const signature = markProof('detail', JSON.stringify(rest));
      out.push({ type: 'thinking-signature', choice, block, signature });
    }
  }
}

function append(known: JsonObject, name: string, piece: unknown): void {
  const more = stringOf(piece);
  if (more) known[name] = (stringOf(known[name]) ?? '') + more;
}

/** Those of a message or delta that are entries. */
export function detailsOf(message: JsonObject): JsonObject[] {
  const { reasoning_details: list } = message;
  return Array.isArray(list) ? list.map((detail) => objectOf(detail) ?? {}) : [];
}
