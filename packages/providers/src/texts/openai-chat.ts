import type { JsonObject } from '@sluice/contracts';
import { arrayOf, objectOf } from '../json/json-access.ts';
import { firstChoice, modelOf, streamedChoice } from './choices.ts';
import type { AnswerFormat, ToolName } from './text-format.ts';
import { contentTexts, lastMessageTexts, noTexts } from './texts.ts';

export const openAiChatTexts: AnswerFormat = {
  ofRequest: lastMessageTexts,
  ofReply(reply) {
    const { choice, put } = firstChoice(reply);
    const message = objectOf(choice?.message);
    if (message === undefined) return noTexts(reply);
    return contentTexts(message.content, '\n', (content) =>
      put({ ...choice, message: { ...message, content } }),
    );
  },
  ofEvent(chunk) {
    const { choice, put } = streamedChoice(chunk);
    const delta = objectOf(choice?.delta);
    if (delta === undefined) return modelOf(chunk);
    return {
      ...modelOf(chunk),
      texts: contentTexts(delta.content, '', (content) =>
        put({ ...choice, delta: { ...delta, content } }),
      ),
      toolCalls: toolCallsOf(delta),
    };
  },
  replyOf({ model, text, toolCalls }) {
    const message: JsonObject = { role: 'assistant', content: text === '' ? null : text };
    const [first] = toolCalls;
    if (first?.id === '') message.function_call = { name: first.name };
    else if (toolCalls.length > 0)
      message.tool_calls = toolCalls.map(({ id, name }) => ({
        id,
        type: 'function',
        function: { name },
      }));
    return { object: 'chat.completion', model, choices: [{ index: 0, message }] };
  },
  namesEvents: false,
};

/** The first piece of a call has its id and name; one of a function that was asked for without tools has no id. */
function toolCallsOf(delta: JsonObject): ToolName[] | undefined {
  const called = objectOf(delta.function_call)?.name;
  if (typeof called === 'string' && called !== '') return [{ id: '', name: called }];
  return arrayOf(delta.tool_calls)?.flatMap((item) => {
    const { id, function: named } = objectOf(item) ?? {};
    if (typeof id !== 'string' || id === '') return [];
    const name = objectOf(named)?.name;
    return [{ id, name: typeof name === 'string' ? name : '' }];
  });
}
