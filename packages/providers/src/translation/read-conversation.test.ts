import { expect, it } from 'vitest';
import { readConversation } from './read-conversation.ts';

it('reads functions of chat completions, and the call that answers them', () => {
  const called = { role: 'assistant', function_call: { name: 'f', arguments: '{"a":1}' } };
  const { request, reply } = readConversation(
    'openai-chat',
    {
      model: 'm',
      functions: [{ name: 'f' }],
      messages: [
        { role: 'user', content: 'x' },
        called,
        { role: 'function', name: 'f', content: 'y' },
      ],
    },
    { id: 'r', choices: [{ message: called, finish_reason: 'function_call' }] },
  );
  expect(request?.tools).toMatchObject([{ type: 'function', name: 'f' }]);
  expect(request?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  expect(reply?.choices).toMatchObject([
    {
      parts: [{ type: 'tool-call', id: 'call_r_0', name: 'f', arguments: '{"a":1}' }],
      finishReason: 'tool-calls',
    },
  ]);
});
