import type { ChatStreamEvent, ChatUsage, JsonObject } from '@sluice/contracts';
import { noUsage } from '@sluice/contracts';
import { anthropicTypeOfStatus } from '@sluice/errors';
import type { SseEvent } from '../../framing/sse.ts';
import { numberOf, objectOf, parseObject, stringOf } from '../../json/json-access.ts';
import type { ReplyOptions, StreamEncoder } from '../chat-codec.ts';
import { ownAnswerId } from '../own-answer-id.ts';
import { markProof } from '../proofs.ts';
import { shownCitations } from './citations.ts';
import { errorEvent } from './errors.ts';
import { encodeStopReason, encodeUsage } from './wire.ts';

interface OpenBlock {
  kind: 'text' | 'thinking' | 'tool';
  call: number;
  /** Of a thought: each has a signature of its own. */
  thought?: number;
  isSigned?: boolean;
}

type Start = Extract<ChatStreamEvent, { type: 'reply-start' }>;

interface WaitingCall {
  call: number;
  id: string;
  name: string;
  signature: string | undefined;
  pieces: string[];
}

/**
 * Stream events → events of a message. The format has one block open at a time,
 * so fragments of a later tool call wait until the earlier one is done, which is
 * known only when text, thinking or the end follows, or a further call opens.
 */
export class AnthropicStreamEncoder implements StreamEncoder {
  #options: ReplyOptions;
  #started = false;
  #open: OpenBlock | undefined;
  #next = 0;
  #waiting: WaitingCall[] = [];
  #usage: ChatUsage = noUsage;
  #stopReason = 'end_turn';
  #stopSequence: string | null = null;
  #hasCalls = false;
  /** Of the text told last. */
  #textProof: string | undefined;
  /** The reason of the end is told already. */
  #isStopped = false;

  constructor(options: ReplyOptions) {
    this.#options = options;
  }

  /** Goes on with a message of which these events went out as they came; undefined = it cannot end it. */
  static resume(
    options: ReplyOptions,
    sent: readonly SseEvent[],
  ): AnthropicStreamEncoder | undefined {
    const encoder = new AnthropicStreamEncoder(options);
    const bodies = sent.map(({ data }) => parseObject(data) ?? {});
    if (awaitsProvider(bodies)) return undefined;
    for (const body of bodies) encoder.#adopt(body);
    return encoder;
  }

  encode(event: ChatStreamEvent): string {
    // The format tells one answer: those beyond the first have no place.
    if ('choice' in event && event.choice !== 0) return '';
    switch (event.type) {
      case 'reply-start':
        return this.#start(event);
      case 'text-delta':
      case 'refusal-delta':
        return this.#text({ type: 'text_delta', text: event.text });
      case 'thinking-delta':
        return this.#think(event.block, { type: 'thinking_delta', thinking: event.text });
      case 'thinking-signature':
        return this.#think(event.block, { type: 'signature_delta', signature: event.signature });
      case 'text-signature':
        this.#textProof = event.signature;
        return '';
      case 'citation':
        return shownCitations([event.citation])
          .map((citation) => this.#text({ type: 'citations_delta', citation }))
          .join('');
      case 'redacted-thinking':
        return this.#whole({ type: 'redacted_thinking', data: event.data });
      case 'tool-call-start':
        return this.#toolStart(event);
      case 'tool-call-delta':
        return this.#toolDelta(event.call, event.arguments);
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'finish':
        this.#stopSequence = event.stopSequence ?? null;
        this.#stopReason =
          event.stopSequence === undefined ? encodeStopReason(event.reason) : 'stop_sequence';
        return '';
      case 'reply-end':
        return this.#end();
      case 'fault':
        return errorEvent({
          type: anthropicTypeOfStatus(event.status),
          message: `${this.#options.provider} error: ${event.message}`,
          status: event.status,
        }).toString();
      default:
        return '';
    }
  }

  #adopt(body: JsonObject): void {
    const index = numberOf(body.index) ?? this.#next;
    switch (body.type) {
      case 'message_start':
        this.#started = true;
        break;
      case 'content_block_start': {
        const type = stringOf(objectOf(body.content_block)?.type);
        this.#next = index;
        // Of what is open only a text can go on; a thought that follows is another.
        const kind = type === 'text' || type === 'thinking' ? type : 'tool';
        this.#open = { kind, call: -1 };
        this.#hasCalls ||= type === 'tool_use';
        break;
      }
      case 'content_block_stop':
        this.#open = undefined;
        this.#next = index + 1;
        break;
      case 'message_delta':
        this.#isStopped = true;
        break;
    }
  }

  #start({ id, model, serviceTier }: Start = { type: 'reply-start' }): string {
    if (this.#started) return '';
    this.#started = true;
    const { provider, requestedModel } = this.#options;
    const message = {
      id: id ?? `msg_${provider}_${ownAnswerId(this.#options)}`,
      type: 'message',
      role: 'assistant',
      model: model ?? requestedModel ?? '',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: encodeUsage({ ...this.#usage, outputTokens: 0, reasoningTokens: 0 }, serviceTier),
    };
    return eventText('message_start', { message });
  }

  #text(delta: JsonObject): string {
    if (this.#open?.kind === 'text') return this.#blockDelta(delta);
    const opened =
      this.#closeAll() + this.#openBlock({ kind: 'text', call: -1 }, { type: 'text', text: '' });
    return opened + this.#blockDelta(delta);
  }

  #think(thought: number, delta: JsonObject): string {
    let opened = '';
    if (this.#open?.kind !== 'thinking' || this.#open.thought !== thought) {
      const block = { type: 'thinking', thinking: '', signature: '' };
      opened = this.#closeAll() + this.#openBlock({ kind: 'thinking', call: -1, thought }, block);
    }
    if (this.#open !== undefined) this.#open.isSigned ||= delta.type === 'signature_delta';
    return opened + this.#blockDelta(delta);
  }

  #whole(block: JsonObject): string {
    const opened = this.#closeAll() + this.#openBlock({ kind: 'text', call: -1 }, block);
    return opened + this.#close();
  }

  #toolStart(event: Extract<ChatStreamEvent, { type: 'tool-call-start' }>): string {
    this.#hasCalls = true;
    const { call, id, name, signature } = event;
    const waiting: WaitingCall = { call, id, name, signature, pieces: [] };
    if (this.#open?.kind === 'tool') {
      this.#waiting.push(waiting);
      return '';
    }
    return this.#openTool(waiting);
  }

  #toolDelta(call: number, piece: string): string {
    if (this.#open?.kind === 'tool' && this.#open.call === call)
      return this.#blockDelta({ type: 'input_json_delta', partial_json: piece });
    this.#waiting.find((entry) => entry.call === call)?.pieces.push(piece);
    return '';
  }

  #openTool(call: WaitingCall): string {
    const block = { type: 'tool_use', id: call.id, name: call.name, input: {} };
    let out = this.#signCall(call.signature) + this.#close();
    out += this.#openBlock({ kind: 'tool', call: call.call }, block);
    for (const piece of call.pieces)
      out += this.#blockDelta({ type: 'input_json_delta', partial_json: piece });
    return out;
  }

  /** By the thought before the call, which clients give back as they got it; an empty one, if need be. */
  #signCall(proof: string | undefined): string {
    if (proof === undefined) return '';
    const delta = { type: 'signature_delta', signature: markProof('geminiCall', proof) };
    if (this.#open?.kind === 'thinking' && !this.#open.isSigned) return this.#blockDelta(delta);
    const block = { type: 'thinking', thinking: '', signature: '' };
    const opened = this.#close() + this.#openBlock({ kind: 'thinking', call: -1 }, block);
    return opened + this.#blockDelta(delta);
  }

  /** By an empty thought behind the answer; beside calls, theirs are the proofs that are asked for. */
  #signText(): string {
    if (this.#textProof === undefined || this.#hasCalls) return '';
    const signature = markProof('geminiTold', this.#textProof);
    return this.#think(-1, { type: 'signature_delta', signature }) + this.#close();
  }

  #openBlock(open: OpenBlock, content_block: JsonObject): string {
    this.#open = open;
    return this.#start() + eventText('content_block_start', { index: this.#next, content_block });
  }

  #blockDelta(delta: JsonObject): string {
    // What most events are: only the delta itself is written anew.
    return `${deltaHead}${this.#next},"delta":${JSON.stringify(delta)}}\n\n`;
  }

  #close(): string {
    if (this.#open === undefined) return '';
    this.#open = undefined;
    return eventText('content_block_stop', { index: this.#next++ });
  }

  /** Closes what is open and plays the calls that waited for it. */
  #closeAll(): string {
    let out = this.#close();
    for (const call of this.#waiting) out += this.#openTool(call) + this.#close();
    this.#waiting = [];
    return out;
  }

  #end(): string {
    if (this.#isStopped) return eventText('message_stop', {});
    let out = this.#start() + this.#closeAll();
    if (this.#next === 0)
      out +=
        this.#openBlock({ kind: 'text', call: -1 }, { type: 'text', text: '' }) + this.#close();
    out += this.#signText();
    const reason =
      this.#hasCalls && this.#stopReason === 'end_turn' ? 'tool_use' : this.#stopReason;
    const delta = { stop_reason: reason, stop_sequence: this.#stopSequence };
    out += eventText('message_delta', { delta, usage: encodeUsage(this.#usage) });
    return out + eventText('message_stop', {});
  }
}

/** A tool that the provider runs itself was called, and what it gave was not told. */
function awaitsProvider(bodies: readonly JsonObject[]): boolean {
  const called = new Set<unknown>();
  for (const { type, content_block } of bodies) {
    if (type !== 'content_block_start') continue;
    const block = objectOf(content_block);
    const kind = stringOf(block?.type) ?? '';
    if (kind.endsWith('_tool_use')) called.add(block?.id);
    else if (kind.endsWith('_tool_result')) called.delete(block?.tool_use_id);
  }
  return called.size > 0;
}

const deltaHead = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":';

function eventText(type: string, body: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;
}
