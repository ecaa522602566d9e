import type { ChatChoice, ChatPart, ChatStreamEvent, JsonObject } from '@sluice/contracts';
import { faultEvent } from '../../errors/vendor-fault.ts';
import type { SseEvent } from '../../framing/sse.ts';
import { invalidStreamType } from '../../framing/stream-tap.ts';
import { arrayOf, numberOf, objectOf, parseJson, stringOf } from '../../json/json-access.ts';
import type { StreamDecoder } from '../chat-codec.ts';
import { readBill } from './bill.ts';
import { citationsOf, detailsOf, logprobsOf } from './candidates.ts';
import { decodePart } from './decode-contents.ts';
import { faultOf } from './errors.ts';
import { blockedChoice, createdOf, markThought } from './reply.ts';
import { callId, decodeFinishReason, formatName, usageOf } from './wire.ts';

interface OpenChoice {
  /** What the open block is, and its number; blocks are numbered as their kinds alternate. */
  kind: 'text' | 'thinking' | 'other' | undefined;
  block: number;
  /** The last block of text, and what it says so far. */
  textBlock: number;
  text: string;
  calls: number;
  finish: Extract<ChatStreamEvent, { type: 'finish' }> | undefined;
  details: JsonObject;
}

/**
 * Fragments of replies → stream events. Every fragment may hold parts of every
 * kind, and counts come with each; that the answers are finished is told only
 * when all is over, since more may follow a finish reason.
 */
export class GeminiStreamDecoder implements StreamDecoder {
  #started = false;
  #id: string | undefined;
  #choices = new Map<number, OpenChoice>();
  #blocked: ChatChoice | undefined;

  decode(event: SseEvent): ChatStreamEvent[] {
    const data = event.data.trim();
    if (data === '' || data === '[DONE]') return [];
    const parsed = parseJson(event.data);
    const body = objectOf(arrayOf(parsed)?.[0] ?? parsed);
    if (body === undefined) return [invalid];
    const fault = faultOf(body);
    if (fault !== undefined) return [faultEvent(fault)];
    const out: ChatStreamEvent[] = [];
    const usage = usageOf(objectOf(body.usageMetadata));
    // First, for those who tell what went in as the answer begins.
    if (usage !== undefined) out.push({ type: 'usage', usage });
    this.#start(body, out);
    for (const [place, value] of (arrayOf(body.candidates) ?? []).entries()) {
      const candidate = objectOf(value) ?? {};
      this.#candidate(candidate, numberOf(candidate.index) ?? place, out);
    }
    this.#blocked ??= blockedChoice(body);
    out.push({ type: 'bill', bill: readBill(body) });
    return out;
  }

  end(): ChatStreamEvent[] {
    const choices = [...this.#choices.values()];
    if (choices.length === 0) {
      if (this.#blocked === undefined) return [];
      const { rawFinishReason: raw, details } = this.#blocked;
      const finish = finishOf(0, 'content-filter', raw);
      return [{ ...finish, ...(details !== undefined && { details }) }, { type: 'reply-end' }];
    }
    if (choices.some(({ finish }) => finish === undefined)) return [];
    const finishes = choices.flatMap(({ finish, details }) => {
      if (finish === undefined) return [];
      return [Object.keys(details).length === 0 ? finish : { ...finish, details }];
    });
    return [...finishes, { type: 'reply-end' }];
  }

  #start(body: JsonObject, out: ChatStreamEvent[]): void {
    if (this.#started) return;
    this.#started = true;
    this.#id = stringOf(body.responseId);
    const model = stringOf(body.modelVersion);
    const createdSeconds = createdOf(body);
    out.push({
      type: 'reply-start',
      ...(this.#id !== undefined && { id: this.#id }),
      ...(model !== undefined && { model }),
      ...(createdSeconds !== undefined && { createdSeconds }),
    });
  }

  #open(choice: number): OpenChoice {
    let open = this.#choices.get(choice);
    if (open === undefined) {
      open = {
        kind: undefined,
        block: -1,
        textBlock: 0,
        text: '',
        calls: 0,
        finish: undefined,
        details: {},
      };
      this.#choices.set(choice, open);
    }
    return open;
  }

  #candidate(candidate: JsonObject, choice: number, out: ChatStreamEvent[]): void {
    const open = this.#open(choice);
    let logprobs = logprobsOf(candidate);
    for (const value of arrayOf(objectOf(candidate.content)?.parts) ?? []) {
      const part = objectOf(value) ?? {};
      const before = out.length;
      this.#part(part, choice, open, out);
      const delta = out.slice(before).find((event) => event.type === 'text-delta');
      if (delta === undefined || logprobs === undefined) continue;
      delta.logprobs = logprobs;
      logprobs = undefined;
    }
    for (const citation of citationsOf(candidate, open.text))
      out.push({ type: 'citation', choice, block: open.textBlock, citation });
    Object.assign(open.details, detailsOf(candidate));
    const raw = stringOf(candidate.finishReason);
    if (raw !== undefined)
      open.finish = finishOf(choice, decodeFinishReason(raw, open.calls > 0), raw);
  }

  #part(part: JsonObject, choice: number, open: OpenChoice, out: ChatStreamEvent[]): void {
    const call = objectOf(part.functionCall);
    if (call !== undefined) {
      this.#call(call, part, choice, open, out);
      return;
    }
    const decoded = decodePart(part);
    if (decoded?.type === 'text' || decoded?.type === 'thinking') {
      const part = decoded.type === 'text' ? decoded : markThought(decoded);
      textEvents(part, choice, open, out);
      return;
    }
    const block = nextBlock(open);
    if (decoded?.type === 'image')
      out.push({
        type: 'image',
        choice,
        block,
        source: decoded.source,
        ...(decoded.signature !== undefined && { signature: decoded.signature }),
      });
    else if (Object.keys(part).length > 0)
      out.push({ type: 'foreign-part', choice, block, format: formatName, value: part });
  }

  /** Calls come whole. */
  #call(
    value: JsonObject,
    part: JsonObject,
    choice: number,
    open: OpenChoice,
    out: ChatStreamEvent[],
  ): void {
    const call = open.calls++;
    const block = nextBlock(open);
    const signature = stringOf(part.thoughtSignature);
    out.push(
      {
        type: 'tool-call-start',
        choice,
        block,
        call,
        id: stringOf(value.id) ?? callId(this.#id, choice, call),
        name: stringOf(value.name) ?? '',
        ...(signature !== undefined && { signature }),
      },
      {
        type: 'tool-call-delta',
        choice,
        block,
        call,
        arguments: JSON.stringify(value.args ?? {}),
      },
    );
  }
}

function finishOf(
  choice: number,
  reason: Extract<ChatStreamEvent, { type: 'finish' }>['reason'],
  raw: string | undefined,
): Extract<ChatStreamEvent, { type: 'finish' }> {
  return { type: 'finish', choice, reason, ...(raw !== undefined && { raw }) };
}

function nextBlock(open: OpenChoice): number {
  open.kind = 'other';
  open.block += 1;
  return open.block;
}

function textEvents(
  part: Extract<ChatPart, { type: 'text' | 'thinking' }>,
  choice: number,
  open: OpenChoice,
  out: ChatStreamEvent[],
): void {
  const { type, text, signature } = part;
  if (text === '' && signature === undefined) return;
  if (open.kind !== type) {
    open.kind = type;
    open.block += 1;
    out.push({ type: `${type}-start`, choice, block: open.block });
  }
  const { block } = open;
  if (type === 'text') tellText(open, text);
  if (text !== '') out.push({ type: `${type}-delta`, choice, block, text });
  if (signature !== undefined) out.push({ type: `${type}-signature`, choice, block, signature });
}

/** What citations will be about: the last block of text. */
function tellText(open: OpenChoice, text: string): void {
  open.text = open.block === open.textBlock ? open.text + text : text;
  open.textBlock = open.block;
}

const invalid: ChatStreamEvent = {
  type: 'fault',
  kind: invalidStreamType,
  message: 'The provider sent an event that is not its format.',
  status: 502,
};
