import type { JsonObject } from '@sluice/contracts';
import { objectOf } from '../json/json-access.ts';
import { modelOf } from './choices.ts';
import type { AnswerFormat, EventTexts } from './text-format.ts';
import { contentTexts, lastMessageTexts } from './texts.ts';

export const anthropicMessagesTexts: AnswerFormat = {
  ofRequest: lastMessageTexts,
  // Blocks of one message are one text, cut where the model quotes or calls a tool.
  ofReply: (reply) => contentTexts(reply.content, '', (content) => ({ ...reply, content })),
  ofEvent(event) {
    switch (event.type) {
      case 'message_start':
        return modelOf(objectOf(event.message) ?? {});
      case 'content_block_start':
        return blockStart(event);
      case 'content_block_delta': {
        const delta = objectOf(event.delta);
        if (delta?.type !== 'text_delta') return {};
        return {
          texts: contentTexts(delta.text, '', (text) => ({ ...event, delta: { ...delta, text } })),
        };
      }
      case 'message_stop':
        return { isEnd: true };
      default:
        return {};
    }
  },
  replyOf({ model, text, toolCalls }) {
    const tools = toolCalls.map(({ id, name }) => ({ type: 'tool_use', id, name }));
    const content = text === '' ? tools : [{ type: 'text', text }, ...tools];
    return { type: 'message', role: 'assistant', model, content };
  },
  namesEvents: true,
};

function blockStart(event: JsonObject): EventTexts {
  const block = objectOf(event.content_block);
  if (block?.type === 'text')
    return {
      texts: contentTexts(block.text, '', (text) => ({
        ...event,
        content_block: { ...block, text },
      })),
    };
  if (block?.type !== 'tool_use') return {};
  const name = typeof block.name === 'string' ? block.name : '';
  return { toolCalls: [{ id: String(block.id), name }] };
}
