import type { JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, numberOf, objectOf } from '../json/json-access.ts';
import { type Piece, type SpeechFormat, silent } from './heard-event.ts';
import { wholePieces } from './whole-pieces.ts';

export const openAiChatSpeech: SpeechFormat = {
  hear(chunk) {
    const choices = arrayOf(chunk.choices);
    if (choices === undefined || choices.length === 0) return silent;
    const pieces: Piece[] = [];
    const over = new Set<number>();
    for (const [at, value] of choices.entries()) {
      const choice = objectOf(value) ?? {};
      const index = numberOf(choice.index) ?? at;
      new ChoicePieces(pieces, index, ['choices', at]).add(objectOf(choice.delta) ?? {});
      if (typeof choice.finish_reason === 'string') over.add(index);
    }
    return over.size === 0 ? { pieces } : { pieces, closes: ({ choice }) => over.has(choice) };
  },
  repeats: false,
  namesEvents: false,
  place(kind, { choice, ofKind }) {
    const message = ['choices', choice, 'message'] as const;
    if (kind === 'said' && ofKind === 0) return { path: [...message, 'content'] };
    if (kind === 'refused') return { path: [...message, 'refusal'] };
    if (kind === 'called')
      return { path: [...message, 'tool_calls', ofKind, 'function', 'arguments'] };
    if (kind === 'written') return { path: [...message, 'function_call', 'arguments'] };
    return { path: [...message, kind === 'thought' ? 'reasoning' : 'further', ofKind] };
  },
  callsAreText: true,
};

type Path = readonly (string | number)[];

/** Gathers what one delta says; vendors tell the same words under several names. */
class ChoicePieces {
  readonly #pieces: Piece[];
  readonly #choice: number;
  readonly #at: Path;

  constructor(pieces: Piece[], choice: number, at: Path) {
    this.#pieces = pieces;
    this.#choice = choice;
    this.#at = at;
  }

  add(delta: JsonObject): void {
    const blocks = arrayOf(delta.content_blocks) ?? [];
    this.#content(delta, blocks);
    this.#text('refused', delta.refusal, ['refusal']);
    this.#thinking(delta, blocks);
    for (const [at, value] of (arrayOf(delta.tool_calls) ?? []).entries()) {
      const call = objectOf(value) ?? {};
      const id = numberOf(call.index) ?? at;
      const { arguments: passed } = objectOf(call.function) ?? {};
      this.#text('called', passed, ['tool_calls', at, 'function', 'arguments'], id);
      const { input } = objectOf(call.custom) ?? {};
      this.#text('written', input, ['tool_calls', at, 'custom', 'input'], id);
    }
    if (delta.annotations !== undefined) {
      const beside = { kind: 'beside', choice: this.#choice } as const;
      const cited = [...this.#at, 'delta', 'annotations'];
      this.#pieces.push(...wholePieces(delta.annotations, beside, cited));
    }
    const { arguments: passed } = objectOf(delta.function_call) ?? {};
    this.#text('called', passed, ['function_call', 'arguments'], 'function');
  }

  #content({ content }: JsonObject, blocks: readonly JsonValue[]): void {
    const parts = arrayOf(content);
    const said = typeof content === 'string' ? content : undefined;
    const mirrors: Path[] = [];
    for (const [at, value] of blocks.entries()) {
      const { delta } = objectOf(value) ?? {};
      const { text } = objectOf(delta) ?? {};
      const path = ['content_blocks', at, 'delta', 'text'];
      if (typeof text === 'string' && text === said) mirrors.push([...this.#at, 'delta', ...path]);
      else this.#text('said', text, path, `block-${at}`);
    }
    // Some tell all of it once more in each chunk.
    const drops = [
      [...this.#at, 'logprobs'],
      [...this.#at, 'message'],
    ];
    this.#text('said', said, ['content'], '', { mirrors, drops });
    for (const [at, value] of (parts ?? []).entries()) {
      const part = objectOf(value) ?? {};
      this.#text('said', part.text, ['content', at, 'text'], '', { drops });
      for (const [step, thought] of (arrayOf(part.thinking) ?? []).entries())
        this.#text('thought', objectOf(thought)?.text, ['content', at, 'thinking', step, 'text']);
    }
  }

  #thinking(delta: JsonObject, blocks: readonly JsonValue[]): void {
    const { reasoning_content: content, reasoning, reasoning_details: details } = delta;
    // Nearly every delta says something else.
    if (blocks.length === 0 && (content ?? reasoning ?? details ?? undefined) === undefined) return;
    const told = new Map<string, Path[]>();
    const hear = (value: JsonValue | undefined, path: Path) => {
      if (typeof value !== 'string' || value === '') return;
      told.set(value, [...(told.get(value) ?? []), [...this.#at, 'delta', ...path]]);
    };
    hear(content, ['reasoning_content']);
    hear(reasoning, ['reasoning']);
    for (const [at, value] of (arrayOf(details) ?? []).entries())
      for (const field of ['text', 'summary'])
        hear(objectOf(value)?.[field], ['reasoning_details', at, field]);
    for (const [at, value] of blocks.entries())
      hear(objectOf(objectOf(value)?.delta)?.thinking, ['content_blocks', at, 'delta', 'thinking']);
    let at = 0;
    for (const [text, [path, ...mirrors]] of told) {
      if (path !== undefined)
        this.#pieces.push({ ...this.#voice('thought', at), text, path, mirrors });
      at++;
    }
  }

  #text(
    kind: Piece['kind'],
    value: JsonValue | undefined,
    path: Path,
    id: string | number = '',
    more: Pick<Piece, 'mirrors' | 'drops'> = {},
  ): void {
    if (typeof value !== 'string' || value === '') return;
    this.#pieces.push({
      ...this.#voice(kind, id),
      text: value,
      path: [...this.#at, 'delta', ...path],
      ...more,
    });
  }

  #voice(kind: Piece['kind'], id: string | number) {
    const choice = this.#choice;
    return { key: `${kind} ${choice} ${id}`, kind, choice };
  }
}
