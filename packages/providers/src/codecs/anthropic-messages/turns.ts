import type { JsonObject, JsonValue } from '@sluice/contracts';

/**
 * The turns of a conversation while they are written. What the caller's system
 * messages say further on keeps its place between two answers: as a message of
 * its own after what the user says, the one place that takes it, or as a text
 * that is marked as such in the user's turn. So nothing before an answer changes
 * with what is said after it, which caches and signed thoughts depend on.
 */
export class Turns {
  #turns: JsonObject[];
  #takesSystemTurns: boolean;
  /** The user turn that tool results are gathered in, while it is open. */
  #results: JsonValue[] | undefined;
  /** What the system said since the last answer, still to be placed. */
  #instructions: JsonObject[] = [];

  constructor(turns: JsonObject[], takesSystemTurns: boolean) {
    this.#turns = turns;
    this.#takesSystemTurns = takesSystemTurns;
  }

  instruct(texts: JsonObject[]): void {
    this.#instructions.push(...texts);
  }

  giveResults(blocks: JsonObject[]): void {
    if (this.#results === undefined) {
      this.#results = [];
      this.#turns.push({ role: 'user', content: this.#results });
    }
    this.#results.push(...blocks);
  }

  say(blocks: JsonObject[]): void {
    const said = this.#takesSystemTurns ? blocks : [...this.#marked(), ...blocks];
    if (this.#results !== undefined) this.#results.push(...said);
    else if (said.length > 0) this.#turns.push({ role: 'user', content: contentOf(said) });
    this.#results = undefined;
  }

  answer(blocks: JsonObject[]): void {
    this.end();
    if (blocks.length > 0) this.#turns.push({ role: 'assistant', content: contentOf(blocks) });
  }

  /** The user's turn is over. */
  end(): void {
    if (this.#instructions.length > 0) {
      const follows = this.#turns.at(-1)?.role === 'user';
      if (this.#takesSystemTurns && follows) {
        this.#turns.push({ role: 'system', content: contentOf(this.#instructions) });
        this.#instructions = [];
      } else this.say(this.#marked());
    }
    this.#results = undefined;
  }

  #marked(): JsonObject[] {
    const marked = this.#instructions.map((block) => ({
      ...block,
      text: markInstruction(String(block.text)),
    }));
    this.#instructions = [];
    return marked;
  }
}

/** How models are told that a text in the user's turn is not the user's. */
export function markInstruction(text: string): string {
  return `<system-reminder>\n${text}\n</system-reminder>`;
}

export function contentOf(blocks: JsonObject[]): JsonValue {
  const [only] = blocks;
  const plain = only !== undefined && only.type === 'text' && Object.keys(only).length === 2;
  return blocks.length === 1 && plain ? (only.text as string) : blocks;
}
