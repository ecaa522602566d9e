import { refuseChat, refuseMistral } from '@sluice/testkit';
import { type Call, callId, list, type Named, pieces, type Vendor } from './model.ts';

/** OpenAI's chat completions, and Mistral's. */
export const chat: Vendor = {
  path: /\/chat\/completions$/,
  refuse: (body) => (body.model?.startsWith('mistral') ? refuseMistral(body) : refuseChat(body)),
  read: ({ model = '', tools, tool_choice, response_format, messages, stream }) => ({
    model,
    tools: list<Named>(tools).map((tool) => tool.function?.name ?? ''),
    isForced: tool_choice !== undefined && tool_choice !== 'auto' && tool_choice !== 'none',
    hasSchema:
      (response_format as { type?: string } | undefined)?.type?.startsWith('json') === true,
    results: list<{ role: string }>(messages).filter(({ role }) => role === 'tool').length,
    isStreamed: stream === true,
  }),
  reply: (said, { model, results }) => ({
    id: `chatcmpl-${results}`,
    object: 'chat.completion',
    created: 1,
    model,
    choices: [
      {
        index: 0,
        message:
          'text' in said
            ? { role: 'assistant', content: said.text, refusal: null }
            : { role: 'assistant', content: null, tool_calls: [chatCall(said, results)] },
        logprobs: null,
        finish_reason: 'text' in said ? 'stop' : 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 },
  }),
  stream(said, { model, results }) {
    const chunk = (choices: object[], more: object = {}) => ({
      id: `chatcmpl-${results}`,
      object: 'chat.completion.chunk',
      created: 1,
      model,
      choices,
      ...more,
    });
    const delta = (value: object, finish_reason: string | null = null) =>
      chunk([{ index: 0, delta: value, logprobs: null, finish_reason }]);
    const told =
      'text' in said
        ? pieces(said.text).map((content) => delta({ content }))
        : callPieces(said, results).map((call) => delta({ tool_calls: [call] }));
    const usage = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 };
    return [
      delta({ role: 'assistant', content: 'text' in said ? '' : null }),
      ...told,
      delta({}, 'text' in said ? 'stop' : 'tool_calls'),
      chunk([], { usage }),
      '[DONE]',
    ];
  },
};

function chatCall({ name, args }: Call, results: number): object {
  return {
    id: callId(results),
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  };
}

function callPieces({ name, args }: Call, results: number): object[] {
  const begun = {
    index: 0,
    id: callId(results),
    type: 'function',
    function: { name, arguments: '' },
  };
  const rest = pieces(JSON.stringify(args));
  return [begun, ...rest.map((piece) => ({ index: 0, function: { arguments: piece } }))];
}
