import type { ChatStreamEvent, ChatUsage, JsonObject } from '@sluice/contracts';
import type { StreamEncoder } from '../chat-codec.ts';
import { encodeCitation } from './citations.ts';
import { errorEvent } from './errors.ts';
import { encodeStopReason, encodeUsage } from './wire.ts';

interface OpenBlock {
  kind: 'text' | 'thinking' | 'tool';
  call: number;
}

/**
 * Stream events → events of a Converse stream, as server-sent events. Blocks
 * may overlap here, so each tool call is a block of its own that stays open.
 */
export class ConverseStreamEncoder implements StreamEncoder {
  #started = false;
  #open: OpenBlock | undefined;
  #next = 0;
  /** Tool call → its block. */
  #calls = new Map<number, number>();
  #usage: ChatUsage | undefined;
  #stopReason = 'end_turn';
  #stopSequence: string | undefined;

  encode(event: ChatStreamEvent): string {
    // The format tells one answer: those beyond the first have no place.
    if ('choice' in event && event.choice !== 0) return '';
    switch (event.type) {
      case 'reply-start':
        return this.#start();
      case 'text-delta':
      case 'refusal-delta':
        return this.#delta('text', { text: event.text });
      case 'citation':
        return this.#delta('text', { citation: encodeCitation(event.citation) });
      case 'thinking-delta':
        return this.#delta('thinking', { reasoningContent: { text: event.text } });
      case 'thinking-signature':
        return this.#delta('thinking', { reasoningContent: { signature: event.signature } });
      case 'redacted-thinking': {
        const closed = this.#close();
        return (
          closed +
          this.#delta('thinking', { reasoningContent: { redactedContent: event.data } }) +
          this.#close()
        );
      }
      case 'tool-call-start':
        return this.#toolStart(event);
      case 'tool-call-delta':
        return this.#toolDelta(event.call, event.arguments);
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'finish':
        this.#stopSequence = event.stopSequence;
        this.#stopReason = encodeStopReason(event.reason, event.stopSequence);
        return '';
      case 'reply-end':
        return this.#end();
      case 'fault':
        return errorEvent({
          type: event.kind,
          message: event.message,
          status: event.status,
        }).toString();
      default:
        return '';
    }
  }

  #start(): string {
    if (this.#started) return '';
    this.#started = true;
    return eventText('messageStart', { role: 'assistant' });
  }

  #delta(kind: 'text' | 'thinking', delta: JsonObject): string {
    let out = '';
    if (this.#open?.kind !== kind) {
      out += this.#start() + this.#close();
      this.#open = { kind, call: -1 };
      this.#next++;
    }
    return out + eventText('contentBlockDelta', { delta, contentBlockIndex: this.#next - 1 });
  }

  #toolStart({ call, id, name }: { call: number; id: string; name: string }): string {
    const closed = this.#start() + this.#close();
    const contentBlockIndex = this.#next++;
    this.#calls.set(call, contentBlockIndex);
    const start = { toolUse: { toolUseId: id, name } };
    return closed + eventText('contentBlockStart', { start, contentBlockIndex });
  }

  #toolDelta(call: number, input: string): string {
    const contentBlockIndex = this.#calls.get(call);
    if (contentBlockIndex === undefined) return '';
    return eventText('contentBlockDelta', { delta: { toolUse: { input } }, contentBlockIndex });
  }

  #close(): string {
    if (this.#open === undefined) return '';
    this.#open = undefined;
    return eventText('contentBlockStop', { contentBlockIndex: this.#next - 1 });
  }

  #end(): string {
    let out = this.#start() + this.#close();
    for (const contentBlockIndex of this.#calls.values())
      out += eventText('contentBlockStop', { contentBlockIndex });
    const stopReason =
      this.#calls.size > 0 && this.#stopReason === 'end_turn' ? 'tool_use' : this.#stopReason;
    const stop: JsonObject = { stopReason };
    if (this.#stopSequence !== undefined)
      stop.additionalModelResponseFields = { stop_sequence: this.#stopSequence };
    out += eventText('messageStop', stop);
    if (this.#usage === undefined) return out;
    return out + eventText('metadata', { usage: encodeUsage(this.#usage) });
  }
}

function eventText(name: string, body: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(body)}\n\n`;
}
