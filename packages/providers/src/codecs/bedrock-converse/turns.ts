import type { ChatMessage, JsonObject } from '@sluice/contracts';
import { markInstruction } from '../anthropic-messages/turns.ts';

export interface Turn {
  role: 'user' | 'assistant';
  content: JsonObject[];
}

/**
 * Turns that alternate strictly. What system messages say further on keeps its
 * place between two answers, as a marked text of the user's turn: behind the
 * results of tools, which have to lead it.
 */
export class Turns {
  #turns: Turn[] = [];
  /** Of the system, still to be placed. */
  #instructions: JsonObject[] = [];
  #hasBegun = false;

  /** Whether anybody but the system said something. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  instruct(blocks: JsonObject[]): void {
    for (const block of blocks)
      this.#instructions.push(
        typeof block.text === 'string' ? { text: markInstruction(block.text) } : block,
      );
  }

  say(role: ChatMessage['role'], blocks: JsonObject[]): void {
    this.#hasBegun = true;
    // Nothing may come between a call and its result.
    if (role !== 'tool') this.#place();
    this.#add(role === 'assistant' ? 'assistant' : 'user', blocks);
  }

  end(): Turn[] {
    this.#place();
    return this.#turns;
  }

  #place(): void {
    this.#add('user', this.#instructions);
    this.#instructions = [];
  }

  #add(role: Turn['role'], blocks: JsonObject[]): void {
    if (blocks.length === 0) return;
    const last = this.#turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else this.#turns.push({ role, content: [...blocks] });
  }
}
