import { refuseCohere } from '@sluice/testkit';
import { type Call, list, type Named, pieces, type Said, type Vendor } from './model.ts';

const usage = { billed_units: { input_tokens: 9, output_tokens: 5 } };

/** Cohere's chat. */
export const cohere: Vendor = {
  path: /\/v2\/chat$/,
  refuse: refuseCohere,
  read: ({ model = '', tools, tool_choice, response_format, messages, stream }) => ({
    model,
    tools: list<Named>(tools).map((tool) => tool.function?.name ?? ''),
    isForced: tool_choice === 'REQUIRED',
    hasSchema: response_format !== undefined,
    results: list<{ role: string }>(messages).filter(({ role }) => role === 'tool').length,
    isStreamed: stream === true,
  }),
  reply: (said, { results }) => ({
    id: `c-${results}`,
    finish_reason: reasonOf(said),
    message:
      'text' in said
        ? { role: 'assistant', content: [{ type: 'text', text: said.text }] }
        : { role: 'assistant', tool_plan: 'I look.', tool_calls: [callOf(said, results)] },
    usage,
  }),
  stream(said, { results }) {
    const event = (type: string, fields: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
    const at = (type: string, message: object) => event(type, { index: 0, delta: { message } });
    const told =
      'text' in said
        ? [
            at('content-start', { content: { type: 'text', text: '' } }),
            ...pieces(said.text).map((text) => at('content-delta', { content: { text } })),
            event('content-end', { index: 0 }),
          ]
        : [
            event('tool-plan-delta', { delta: { message: { tool_plan: 'I look.' } } }),
            at('tool-call-start', { tool_calls: callOf({ ...said, args: '' }, results) }),
            ...pieces(JSON.stringify(said.args)).map((piece) =>
              at('tool-call-delta', { tool_calls: { function: { arguments: piece } } }),
            ),
            event('tool-call-end', { index: 0 }),
          ];
    const message = {
      role: 'assistant',
      content: [],
      tool_plan: '',
      tool_calls: [],
      citations: [],
    };
    return [
      event('message-start', { id: `c-${results}`, delta: { message } }),
      ...told,
      event('message-end', { delta: { finish_reason: reasonOf(said), usage } }),
    ];
  },
};

function reasonOf(said: Said): string {
  return 'text' in said ? 'COMPLETE' : 'TOOL_CALL';
}

function callOf(
  { name, args }: Omit<Call, 'args'> & { args: object | '' },
  results: number,
): object {
  const told = args === '' ? '' : JSON.stringify(args);
  return { id: `${name}_${results}`, type: 'function', function: { name, arguments: told } };
}
