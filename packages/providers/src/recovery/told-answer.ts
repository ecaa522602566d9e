import type { ChatStreamEvent, ChatUsage } from '@sluice/contracts';
import { finalFaultOf } from '../final-faults.ts';
import { parseObject } from '../json/json-access.ts';

/** What a caller has got of a streamed answer, as far as it matters to whoever continues it. */
export class ToldAnswer {
  text = '';
  usage: ChatUsage | undefined;
  /** The block of the text told last; -1 = none was. */
  textBlock = -1;
  /** The first number that no block has. */
  nextBlock = 0;
  #calls = new Map<number, string>();
  #isFinished = false;
  /** What the provider ended it with itself, of which the caller does not know yet. */
  fault: Fault | undefined;
  /** Something was told that nobody can go on from: several answers, a refusal, a picture. */
  #isBeyondHelp = false;

  note(event: ChatStreamEvent): void {
    if ('choice' in event && event.choice !== 0) this.#isBeyondHelp = true;
    if ('block' in event) this.nextBlock = Math.max(this.nextBlock, event.block + 1);
    switch (event.type) {
      case 'text-delta':
        this.text += event.text;
        this.textBlock = event.block;
        break;
      case 'tool-call-start':
        this.#calls.set(event.call, '');
        break;
      case 'tool-call-delta':
        this.#calls.set(event.call, (this.#calls.get(event.call) ?? '') + event.arguments);
        break;
      case 'refusal-delta':
      case 'image':
        this.#isBeyondHelp = true;
        break;
      case 'fault':
        this.fault = event;
        break;
      case 'usage':
        this.usage = event.usage;
        break;
      case 'finish':
        this.#isFinished = true;
        break;
    }
  }

  /**
   * What it lacks: its `end` alone, where the model has finished or all that it
   * called is whole; `more`, which another can say; undefined = nobody can mend it.
   */
  get lacks(): 'end' | 'more' | undefined {
    if (this.#isBeyondHelp) return undefined;
    if (this.fault !== undefined && !isTemporary(this.fault)) return undefined;
    if (this.#isFinished) return 'end';
    if (this.#calls.size === 0) return 'more';
    return [...this.#calls.values()].every(isWhole) ? 'end' : undefined;
  }

  /** The model did not say itself why it ended. */
  get wantsFinish(): boolean {
    return !this.#isFinished;
  }
}

type Fault = Extract<ChatStreamEvent, { type: 'fault' }>;

/** What another, or the same at another time, would not say: neither of the request nor of its content. */
function isTemporary({ kind, message, status }: Fault): boolean {
  if (status < 500 && status !== 408 && status !== 429) return false;
  return finalFaultOf(status, JSON.stringify({ error: { type: kind, message } })) === undefined;
}

/** The arguments of a call are one object: where it is closed, nothing can follow. */
function isWhole(text: string): boolean {
  return parseObject(text) !== undefined;
}
