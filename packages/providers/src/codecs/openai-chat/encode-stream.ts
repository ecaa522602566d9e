import type { ChatStreamEvent, ChatUsage, JsonObject } from '@sluice/contracts';
import type { ReplyOptions, StreamEncoder } from '../chat-codec.ts';
import { customInput } from '../custom-tools.ts';
import { urlOfSource } from '../data-url.ts';
import { ownAnswerId } from '../own-answer-id.ts';
import { askedCustomTools } from './custom-calls.ts';
import { errorEvent } from './errors.ts';
import { asksWithFunctions } from './legacy-functions.ts';
import { annotationsOf, extraContent, finishReasonOf, signatureField } from './reply.ts';
import { encodeUsage } from './wire.ts';

/** How much of an answer was told, and the pages that its last text rests on. */
interface OpenText {
  length: number;
  block: number;
  /** Where the text of the block begins. */
  start: number;
  citations: JsonObject[];
}

/**
 * Stream events → chunks. All chunks of a stream share a head, which is made
 * once, so that a delta costs one string concatenation.
 */
export class OpenAiChatStreamEncoder implements StreamEncoder {
  #options: ReplyOptions;
  #head = '';
  /** By choice. */
  #texts: OpenText[] = [];
  #usage: ChatUsage | undefined;
  /** The first call of each answer. */
  #firstCalls = new Map<number, number>();
  #withFunctions: boolean;
  #customTools: ReadonlySet<string>;
  /** Arguments of calls of custom tools, by answer and call: their text is known when they are whole. */
  #customCalls = new Map<number, Map<number, string>>();

  constructor(options: ReplyOptions) {
    this.#options = options;
    this.#customTools = askedCustomTools(options.request);
    this.#withFunctions = asksWithFunctions(options.request);
  }

  encode(event: ChatStreamEvent): string {
    switch (event.type) {
      case 'reply-start':
        return this.#start(event);
      case 'text-delta':
        return this.#text(event);
      case 'refusal-delta':
        return this.#delta(event.choice, `{"refusal":${JSON.stringify(event.text)}}`);
      case 'tool-call-start':
        return this.#toolCall(event);
      case 'tool-call-delta':
        return this.#toolCallDelta(event);
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'finish':
        return this.#finish(event);
      case 'reply-end':
        return `${this.#lateUsage()}data: [DONE]\n\n`;
      case 'fault':
        return errorEvent({
          type: event.kind,
          message: `${this.#options.provider} error: ${event.message}`,
          status: event.status,
        }).toString();
      case 'text-signature':
        return this.#textSignature(event);
      case 'citation':
        return this.#citation(event);
      default:
        return this.#options.strict ? '' : this.#block(event);
    }
  }

  #toolCall(event: Extract<ChatStreamEvent, { type: 'tool-call-start' }>): string {
    const { choice, call, id, name, signature } = event;
    const isFirst = !this.#firstCalls.has(choice);
    if (isFirst) this.#firstCalls.set(choice, call);
    if (this.#withFunctions)
      return isFirst ? this.#functionCall(choice, { name, arguments: '' }) : '';
    if (this.#customTools.has(name)) {
      const calls = this.#customCalls.get(choice) ?? new Map<number, string>();
      this.#customCalls.set(choice, calls.set(call, ''));
      const custom = { index: call, id, type: 'custom', custom: { name, input: '' } };
      const begun = { ...custom, ...extraContent(signature) };
      return this.#delta(choice, JSON.stringify({ tool_calls: [begun] }));
    }
    const shown = this.#options.strict ? {} : signatureField(signature);
    const started = {
      index: call,
      id,
      type: 'function',
      function: { name, arguments: '', ...shown },
      ...extraContent(signature),
    };
    return this.#delta(choice, JSON.stringify({ tool_calls: [started] }));
  }

  #toolCallDelta(event: Extract<ChatStreamEvent, { type: 'tool-call-delta' }>): string {
    const { choice, call, arguments: piece } = event;
    if (this.#withFunctions)
      return this.#firstCalls.get(choice) === call
        ? this.#functionCall(choice, { arguments: piece })
        : '';
    const calls = this.#customCalls.get(choice);
    const held = calls?.get(call);
    if (held !== undefined) {
      calls?.set(call, held + piece);
      return '';
    }
    return this.#delta(
      choice,
      `{"tool_calls":[{"index":${call},"function":{"arguments":${JSON.stringify(piece)}}}]}`,
    );
  }

  #functionCall(choice: number, piece: { name?: string; arguments: string }): string {
    return this.#delta(choice, JSON.stringify({ function_call: piece }));
  }

  #customInputs(choice: number): string {
    let told = '';
    for (const [index, args] of this.#customCalls.get(choice) ?? []) {
      const custom = { input: customInput(args) };
      told += this.#delta(choice, JSON.stringify({ tool_calls: [{ index, custom }] }));
    }
    return told;
  }

  #start(event: Extract<ChatStreamEvent, { type: 'reply-start' }>): string {
    this.#head = this.#headOf(event);
    return this.#delta(0, '{"role":"assistant","content":""}');
  }

  #headOf(event: Extract<ChatStreamEvent, { type: 'reply-start' }>): string {
    const { provider, nowMs, requestedModel } = this.#options;
    const head = JSON.stringify({
      id: event.id ?? `${provider}-${ownAnswerId(this.#options)}`,
      object: 'chat.completion.chunk',
      created: event.createdSeconds ?? Math.floor(nowMs / 1000),
      model: event.model ?? requestedModel ?? '',
      provider,
      service_tier: event.serviceTier,
    });
    return `data: ${head.slice(0, -1)},"choices":[{"index":`;
  }

  #delta(choice: number, delta: string, logprobs = 'null'): string {
    if (this.#head === '') this.#head = this.#headOf({ type: 'reply-start' });
    return `${this.#head}${choice},"delta":${delta},"logprobs":${logprobs},"finish_reason":null}]}\n\n`;
  }

  #text(event: Extract<ChatStreamEvent, { type: 'text-delta' }>): string {
    const cited = this.#reach(event);
    (this.#texts[event.choice] as OpenText).length += event.text.length;
    return cited + this.#textDelta(event);
  }

  #textDelta(event: Extract<ChatStreamEvent, { type: 'text-delta' }>): string {
    const quoted = JSON.stringify(event.text);
    const logprobs = event.logprobs === undefined ? 'null' : JSON.stringify(event.logprobs);
    if (this.#options.strict) return this.#delta(event.choice, `{"content":${quoted}}`, logprobs);
    return this.#delta(
      event.choice,
      `{"content":${quoted},"content_blocks":[{"index":${event.block},"delta":{"text":${quoted}}}]}`,
      logprobs,
    );
  }

  /** Pages are told when the text that rests on them is. */
  #citation(event: Extract<ChatStreamEvent, { type: 'citation' }>): string {
    const cited = this.#reach(event);
    (this.#texts[event.choice] as OpenText).citations.push(event.citation);
    if (this.#options.strict) return cited;
    return cited + this.#blockDelta(event, { citation: event.citation });
  }

  /** Moves on to the block of an event, and tells the pages of the one before. */
  #reach({ choice, block }: { choice: number; block: number }): string {
    const open = this.#texts[choice];
    if (open?.block === block) return '';
    const cited = this.#annotations(choice);
    const length = open?.length ?? 0;
    this.#texts[choice] = { length, block, start: length, citations: [] };
    return cited;
  }

  #annotations(choice: number): string {
    const open = this.#texts[choice];
    if (open === undefined || open.citations.length === 0) return '';
    const { start, length, citations } = open;
    const annotations = annotationsOf(citations.splice(0), start, length - start);
    return annotations.length === 0 ? '' : this.#delta(choice, JSON.stringify({ annotations }));
  }

  #textSignature(event: Extract<ChatStreamEvent, { type: 'text-signature' }>): string {
    const { choice, block, signature } = event;
    const blocks = { content_blocks: [{ index: block, delta: signatureField(signature) }] };
    const shown = this.#options.strict ? {} : blocks;
    return this.#delta(choice, JSON.stringify({ ...extraContent(signature), ...shown }));
  }

  /** What only a non-strict caller is shown. */
  #block(event: ChatStreamEvent): string {
    switch (event.type) {
      case 'text-start':
        return this.#blockDelta(event, { text: '' });
      case 'thinking-start':
        return this.#blockDelta(event, { thinking: '' });
      case 'thinking-delta':
        return this.#blockDelta(event, { thinking: event.text });
      case 'thinking-signature':
        return this.#blockDelta(event, { signature: event.signature });
      case 'image':
        return this.#blockDelta(event, {
          image_url: { url: urlOfSource(event.source) },
          ...signatureField(event.signature),
        });
      case 'redacted-thinking':
        return this.#blockDelta(event, { data: event.data });
      case 'foreign-part':
        return this.#blockDelta(event, event.value);
      default:
        return '';
    }
  }

  #blockDelta(event: { choice: number; block: number }, delta: object): string {
    return this.#delta(
      event.choice,
      `{"content_blocks":[{"index":${event.block},"delta":${JSON.stringify(delta)}}]}`,
    );
  }

  #finish(event: Extract<ChatStreamEvent, { type: 'finish' }>): string {
    const { strict } = this.#options;
    const wordOfCalls = this.#withFunctions ? 'function_call' : 'tool_calls';
    const calls = this.#firstCalls.has(event.choice) && wordOfCalls;
    const reason = finishReasonOf(event.reason, event.raw, calls, strict);
    const usage =
      this.#usage === undefined ? '' : `,"usage":${JSON.stringify(encodeUsage(this.#usage))}`;
    const details =
      strict || event.details === undefined ? '' : `,${JSON.stringify(event.details).slice(1, -1)}`;
    this.#usage = undefined;
    const rest = this.#annotations(event.choice) + this.#customInputs(event.choice);
    if (this.#head === '') this.#head = this.#headOf({ type: 'reply-start' });
    return `${rest}${this.#head}${event.choice},"delta":{},"logprobs":null,"finish_reason":${JSON.stringify(reason)}${details}}]${usage}}\n\n`;
  }

  /** Some upstreams count only after they finished; then a chunk without choices tells it, as OpenAI's does. */
  #lateUsage(): string {
    if (this.#usage === undefined) return '';
    if (this.#head === '') this.#head = this.#headOf({ type: 'reply-start' });
    const head = this.#head.slice(0, -'{"index":'.length);
    return `${head}],"usage":${JSON.stringify(encodeUsage(this.#usage))}}\n\n`;
  }
}
