import type { JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, objectOf } from '../json/json-access.ts';
import { modelOf } from './choices.ts';
import { outputMember } from './item-output.ts';
import type { AnswerFormat, EventTexts } from './text-format.ts';
import { contentTexts, noTexts, type Texts } from './texts.ts';

export const openAiResponsesTexts: AnswerFormat = {
  ofRequest: lastItemTexts,
  ofReply: (reply) => outputTexts(reply, (output) => ({ ...reply, output })),
  ofEvent(event) {
    switch (event.type) {
      case 'response.output_text.delta':
        return { texts: contentTexts(event.delta, '', (delta) => ({ ...event, delta })) };
      case 'response.output_text.done':
        return repeat(contentTexts(event.text, '', (text) => ({ ...event, text })));
      case 'response.content_part.added':
      case 'response.content_part.done':
        return partTexts(event);
      case 'response.output_item.added':
      case 'response.output_item.done':
        return itemTexts(event);
      default:
        return responseEvent(event);
    }
  },
  replyOf({ model, text, toolCalls }) {
    const calls = toolCalls.map(({ id, name }) => ({ type: 'function_call', call_id: id, name }));
    const said = { type: 'message', content: [{ type: 'output_text', text }] };
    return { object: 'response', model, output: text === '' ? calls : [said, ...calls] };
  },
  namesEvents: true,
};

/** What the caller says last in a list of items: a message, or what a tool returned. */
function lastItemTexts(request: JsonObject): Texts {
  const items = arrayOf(request.input);
  if (items === undefined)
    return contentTexts(request.input, '\n', (input) => ({ ...request, input }));
  const last = objectOf(items.at(-1));
  if (last === undefined) return noTexts(request);
  const field = outputMember(last.type) ?? 'content';
  return contentTexts(last[field], '\n', (value) => ({
    ...request,
    input: [...items.slice(0, -1), { ...last, [field]: value }],
  }));
}

/** The messages of an output are one text, cut where the model calls a tool. */
function outputTexts(response: JsonObject, put: (output: JsonValue[]) => JsonObject): Texts {
  const items = arrayOf(response.output) ?? [];
  const messages = items.map((value) => {
    const item = objectOf(value);
    return item?.type === 'message' ? messageTexts(item) : undefined;
  });
  const parts = messages.flatMap((message) => message?.parts ?? []);
  return {
    parts,
    joined: parts.join(''),
    replace(replaced) {
      let next = 0;
      return put(
        items.map((item, index) => {
          const message = messages[index];
          if (message === undefined) return item;
          const start = next;
          next += message.parts.length;
          return message.replace(replaced.slice(start, next));
        }),
      );
    },
  };
}

function messageTexts(item: JsonObject): Texts {
  return contentTexts(item.content, '', (content) => ({ ...item, content }));
}

const repeat = (texts: Texts): EventTexts => ({ texts, isRepeat: true });

function partTexts(event: JsonObject): EventTexts {
  const part = objectOf(event.part);
  if (part?.type !== 'output_text') return {};
  return repeat(contentTexts(part.text, '', (text) => ({ ...event, part: { ...part, text } })));
}

function itemTexts(event: JsonObject): EventTexts {
  const item = objectOf(event.item);
  if (item?.type === 'function_call' && event.type === 'response.output_item.added') {
    const name = typeof item.name === 'string' ? item.name : '';
    return { toolCalls: [{ id: String(item.call_id), name }] };
  }
  if (item?.type !== 'message') return {};
  const { parts, joined, replace } = messageTexts(item);
  return repeat({
    parts,
    joined,
    replace: (replaced) => ({ ...event, item: replace(replaced) }),
  });
}

/** `response.created`, `response.completed` and their like have the response as it is by then. */
function responseEvent(event: JsonObject): EventTexts {
  const response = objectOf(event.response);
  if (response === undefined) return {};
  const isEnd = event.type === 'response.completed' || event.type === 'response.incomplete';
  const texts = outputTexts(response, (output) => ({
    ...event,
    response: { ...response, output },
  }));
  return { ...modelOf(response), ...repeat(texts), isEnd };
}
