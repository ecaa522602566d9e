/** Replies told as events, and put together again: what streams of two formats are compared by. */
import type { ChatPart, ChatReply, ChatStreamEvent, JsonObject } from '@sluice/contracts';

/** Texts and arguments in two pieces each. */
export function eventsOf(reply: ChatReply): ChatStreamEvent[] {
  const [choice] = reply.choices;
  if (choice === undefined) return [];
  const { id, model, createdSeconds, serviceTier } = reply;
  const out: ChatStreamEvent[] = [{ type: 'reply-start', id, model, createdSeconds, serviceTier }];
  let call = 0;
  for (const [block, part] of choice.parts.entries()) {
    if (part.type === 'tool-call') out.push(...callEvents(part, block, call++));
    else out.push(...partEvents(part, block, choice.logprobs));
  }
  const { finishReason: reason, stopSequence } = choice;
  if (reply.usage !== undefined) out.push({ type: 'usage', usage: reply.usage });
  const stopped = stopSequence === undefined ? {} : { stopSequence };
  out.push({ type: 'finish', choice: 0, reason, ...stopped });
  out.push({ type: 'reply-end' });
  return out;
}

function callEvents(
  part: Extract<ChatPart, { type: 'tool-call' }>,
  block: number,
  call: number,
): ChatStreamEvent[] {
  const { id, name } = part;
  const at = { choice: 0, block, call };
  return [
    { type: 'tool-call-start', ...at, id, name },
    ...halves(part.arguments).map(
      (piece): ChatStreamEvent => ({ type: 'tool-call-delta', ...at, arguments: piece }),
    ),
  ];
}

function partEvents(
  part: ChatPart,
  block: number,
  logprobs: JsonObject | undefined,
): ChatStreamEvent[] {
  const at = { choice: 0, block };
  switch (part.type) {
    case 'text': {
      const [first, ...rest] = halves(part.text);
      const likely = logprobs === undefined ? {} : { logprobs };
      const texts = rest.map((text): ChatStreamEvent => ({ type: 'text-delta', ...at, text }));
      return [{ type: 'text-delta', ...at, text: first as string, ...likely }, ...texts];
    }
    case 'refusal':
      return [{ type: 'refusal-delta', choice: 0, text: part.text }];
    case 'thinking': {
      const texts = halves(part.text).map(
        (text): ChatStreamEvent => ({ type: 'thinking-delta', ...at, text }),
      );
      if (part.signature === undefined) return texts;
      return [...texts, { type: 'thinking-signature', ...at, signature: part.signature }];
    }
    case 'redacted-thinking':
      return [{ type: 'redacted-thinking', ...at, data: part.data }];
    default:
      return [];
  }
}

function halves(text: string): string[] {
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== '');
}

/** Parts in the order they began; the text of the first choice alone. */
export function replyOf(events: ChatStreamEvent[]): ChatReply {
  const parts = new Map<string, ChatPart>();
  const reply: ChatReply = { choices: [], extensions: { format: '', fields: {} } };
  const choice: ChatReply['choices'][number] = { index: 0, parts: [], finishReason: 'other' };
  const part = <T extends ChatPart>(key: string, fresh: T): T => {
    if (!parts.has(key)) parts.set(key, fresh);
    return parts.get(key) as T;
  };
  for (const event of events) {
    switch (event.type) {
      case 'reply-start': {
        const { type: _, ...facts } = event;
        Object.assign(reply, facts);
        break;
      }
      case 'text-delta':
        part(`text ${event.block}`, { type: 'text', text: '' }).text += event.text;
        if (event.logprobs !== undefined) choice.logprobs = event.logprobs;
        break;
      case 'refusal-delta':
        part('refusal', { type: 'refusal', text: '' }).text += event.text;
        break;
      case 'thinking-delta':
        part(`thinking ${event.block}`, { type: 'thinking', text: '' }).text += event.text;
        break;
      case 'thinking-signature':
        Object.assign(part(`thinking ${event.block}`, { type: 'thinking', text: '' }), {
          signature: event.signature,
        });
        break;
      case 'redacted-thinking':
        part(`redacted ${event.block}`, { type: 'redacted-thinking', data: event.data });
        break;
      case 'tool-call-start': {
        const { id, name } = event;
        part(`call ${event.call}`, { type: 'tool-call', id, name, arguments: '' });
        break;
      }
      case 'tool-call-delta': {
        const call = parts.get(`call ${event.call}`);
        if (call?.type === 'tool-call') call.arguments += event.arguments;
        break;
      }
      case 'finish':
        choice.finishReason = event.reason;
        if (event.stopSequence !== undefined) choice.stopSequence = event.stopSequence;
        break;
      case 'usage':
        reply.usage = event.usage;
        break;
      default:
    }
  }
  choice.parts = [...parts.values()];
  return { ...reply, choices: [choice] };
}
