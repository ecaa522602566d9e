import { boundSignature, refuseMessages } from '@sluice/testkit';
import {
  type Body,
  list,
  type Named,
  pieces,
  type Question,
  type Said,
  type Vendor,
} from './model.ts';

/** Anthropic's messages. */
export const messages: Vendor = {
  path: /\/messages$/,
  refuse: (body) => refuseMessages(body),
  read: ({ model = '', tools, tool_choice, output_config, messages: turns, stream }) => ({
    model,
    tools: list<Named>(tools).map(({ name = '' }) => name),
    isForced: ['any', 'tool'].includes(
      String((tool_choice as { type?: string } | undefined)?.type),
    ),
    hasSchema: (output_config as { format?: object } | undefined)?.format !== undefined,
    results: list<{ content: unknown }>(turns).flatMap(({ content }) =>
      list<{ type: string }>(content).filter(({ type }) => type === 'tool_result'),
    ).length,
    isStreamed: stream === true,
  }),
  reply: (said, question, body) => ({
    id: `msg_${question.results}`,
    type: 'message',
    role: 'assistant',
    model: question.model,
    content: blocks(said, question, body),
    stop_reason: 'text' in said ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 5 },
  }),
  stream(said, question, body) {
    const event = (type: string, fields: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
    const reply = this.reply(said, question, body) as { content: Record<string, string>[] };
    const told = reply.content.flatMap((block, index) => {
      const delta = (fields: object) => event('content_block_delta', { index, delta: fields });
      const begun = { ...block, ...emptied[block.type as keyof typeof emptied] };
      const deltas =
        block.type === 'thinking'
          ? [
              delta({ type: 'thinking_delta', thinking: block.thinking }),
              delta({ type: 'signature_delta', signature: block.signature }),
            ]
          : block.type === 'text'
            ? pieces(block.text ?? '').map((text) => delta({ type: 'text_delta', text }))
            : pieces(JSON.stringify(block.input)).map((partial_json) =>
                delta({ type: 'input_json_delta', partial_json }),
              );
      return [
        event('content_block_start', { index, content_block: begun }),
        ...deltas,
        event('content_block_stop', { index }),
      ];
    });
    const message = { ...reply, content: [], stop_reason: null };
    const stop_reason = 'text' in said ? 'end_turn' : 'tool_use';
    return [
      event('message_start', { message }),
      ...told,
      event('message_delta', {
        delta: { stop_reason, stop_sequence: null },
        usage: { output_tokens: 5 },
      }),
      event('message_stop', {}),
    ];
  },
};

const emptied = {
  thinking: { thinking: '', signature: '' },
  text: { text: '' },
  tool_use: { input: {} },
};

/** A thought that is good in this conversation alone, before what it says. */
function blocks(said: Said, { results }: Question, body: Body): object[] {
  const thought = { type: 'thinking', thinking: 'Hm.', signature: boundSignature(body) };
  const thinks = /opus-5-5/.test(String(body.model));
  const block =
    'text' in said
      ? { type: 'text', text: said.text }
      : { type: 'tool_use', id: `toolu_${results}`, name: said.name, input: said.args };
  return thinks ? [thought, block] : [block];
}
