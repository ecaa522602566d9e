import { refuseResponses } from '@sluice/testkit';
import { type Body, callId, list, type Named, pieces, type Said, type Vendor } from './model.ts';

/** OpenAI's responses. */
export const responses: Vendor = {
  path: /\/responses$/,
  refuse: refuseResponses,
  read: ({ model = '', tools, tool_choice, text, input, stream }) => ({
    model,
    tools: list<Named>(tools).map(({ name = '' }) => name),
    isForced: tool_choice !== undefined && tool_choice !== 'auto' && tool_choice !== 'none',
    hasSchema: (text as { format?: { type?: string } } | undefined)?.format?.type === 'json_schema',
    results: list<{ type: string }>(input).filter(({ type }) => type === 'function_call_output')
      .length,
    isStreamed: stream === true,
  }),
  reply: (said, { model, results }, body) => ({
    ...responseHead(model, results, body),
    status: 'completed',
    output: [responseItem(said, results)],
    usage: {
      input_tokens: 9,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 14,
    },
  }),
  stream(said, question, body) {
    let sequence_number = 0;
    const event = (type: string, fields: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...fields })}\n\n`;
    const { results, model } = question;
    const item = responseItem(said, results);
    const at = { item_id: item.id, output_index: 0 };
    const begun = { ...item, status: 'in_progress' };
    const response = { ...responseHead(model, results, body), status: 'in_progress', output: [] };
    const part = { type: 'output_text', annotations: [], logprobs: [] };
    const events = [
      event('response.created', { response }),
      event('response.in_progress', { response }),
    ];
    if ('text' in said) {
      const { text } = said;
      const here = { ...at, content_index: 0 };
      events.push(
        event('response.output_item.added', { output_index: 0, item: { ...begun, content: [] } }),
        event('response.content_part.added', { ...here, part: { ...part, text: '' } }),
        ...pieces(text).map((delta) =>
          event('response.output_text.delta', { ...here, delta, logprobs: [] }),
        ),
        event('response.output_text.done', { ...here, text, logprobs: [] }),
        event('response.content_part.done', { ...here, part: { ...part, text } }),
      );
    } else {
      const whole = String(item.arguments);
      events.push(
        event('response.output_item.added', { output_index: 0, item: { ...begun, arguments: '' } }),
        ...pieces(whole).map((delta) =>
          event('response.function_call_arguments.delta', { ...at, delta }),
        ),
        event('response.function_call_arguments.done', {
          ...at,
          name: said.name,
          arguments: whole,
        }),
      );
    }
    events.push(
      event('response.output_item.done', { output_index: 0, item }),
      event('response.completed', { response: this.reply(said, question, body) }),
    );
    return events;
  },
};

function responseHead(model: string, results: number, body: Body): object {
  return {
    id: `resp_${results}`,
    object: 'response',
    created_at: 1,
    model,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: 1,
  };
}

function responseItem(said: Said, results: number): Record<string, unknown> {
  if ('text' in said)
    return {
      id: `msg_${results}`,
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: said.text, annotations: [], logprobs: [] }],
    };
  const { name, args } = said;
  return {
    id: `fc_${results}`,
    type: 'function_call',
    call_id: callId(results),
    name,
    arguments: JSON.stringify(args),
    status: 'completed',
  };
}
