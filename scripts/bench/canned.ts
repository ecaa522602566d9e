/**
 * What the bench's caller asks and its upstream answers, with the sizes that
 * chat requests commonly have: a system prompt, some turns, an answer of about
 * 150 tokens; streamed, 100 events of about 230 bytes.
 */
const sentence =
  'The quick brown fox jumps over the lazy dog while the gateway counts every token twice. ';

const conversation = {
  model: 'gpt-4o-mini',
  temperature: 0.2,
  max_tokens: 512,
  user: 'bench-user-17',
  messages: [
    { role: 'system', content: `You are a helpful assistant. ${sentence.repeat(6)}` },
    { role: 'user', content: sentence.repeat(3) },
    { role: 'assistant', content: sentence.repeat(3) },
    { role: 'user', content: `Summarise the conversation. ${sentence}` },
  ],
};

export const unaryRequest = JSON.stringify(conversation);

const paragraph = `The committee met on Tuesday to review the quarterly report, which shows (among other things) a 14.5 % rise in net revenue; “café” sales fell. ${sentence}`;

/** A conversation of 10 kB. */
export const longRequest = JSON.stringify({
  ...conversation,
  messages: [
    { role: 'system', content: paragraph.repeat(6) },
    ...Array.from({ length: 19 }, (_, turn) => ({
      role: turn % 2 === 0 ? 'user' : 'assistant',
      content: paragraph.repeat(2).slice(turn * 4),
    })),
  ],
});
/** In `user` of a streamed request, followed by the ms between two events. */
export const paceMark = 'bench-every-';
export const streamRequest = (everyMs: number): string =>
  JSON.stringify({
    ...conversation,
    user: `${paceMark}${everyMs}`,
    stream: true,
    stream_options: { include_usage: true },
  });

const identity = {
  id: 'chatcmpl-bench0123456789abcdefghijkl',
  created: 1_750_000_000,
  model: 'gpt-4o-mini-2024-07-18',
  system_fingerprint: 'fp_0123456789',
};
const usage = {
  prompt_tokens: 312,
  completion_tokens: 148,
  total_tokens: 460,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 0,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
};

export const unaryReply = Buffer.from(
  JSON.stringify({
    ...identity,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: sentence.repeat(8), refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage,
    service_tier: 'default',
  }),
);

const event = (choices: unknown[], rest: object = { usage: null }): Buffer =>
  Buffer.from(
    `data: ${JSON.stringify({ ...identity, object: 'chat.completion.chunk', service_tier: 'default', choices, ...rest })}\n\n`,
  );
const delta = (content: object, finishReason: string | null = null) => ({
  index: 0,
  delta: content,
  logprobs: null,
  finish_reason: finishReason,
});

/** 100 events: role, 96 of content, finish, usage, end. */
export const streamEvents: readonly Buffer[] = [
  event([delta({ role: 'assistant', content: '', refusal: null })]),
  ...Array.from({ length: 96 }, (_, i) => event([delta({ content: ` word${i % 10}` })])),
  event([delta({}, 'stop')]),
  event([], { usage }),
  Buffer.from('data: [DONE]\n\n'),
];
export const streamBytes = streamEvents.reduce((sum, { length }) => sum + length, 0);

/** The upstream's one response of `/responses`, which answers what makes it and what asks for it. */
export const responseId = 'resp_bench0123456789abcdefghijklmnopqrstuvwxyz';
export const responseRequest = JSON.stringify({
  model: 'gpt-4o-mini',
  input: `Summarise the conversation. ${sentence}`,
});
export const responseReply = Buffer.from(
  JSON.stringify({
    id: responseId,
    object: 'response',
    created_at: identity.created,
    status: 'completed',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: identity.model,
    output: [
      {
        type: 'message',
        id: 'msg_bench0123456789abcdefghijklmnopqrstuvwxyz',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', annotations: [], logprobs: [], text: sentence.repeat(8) }],
      },
    ],
    parallel_tool_calls: true,
    previous_response_id: null,
    store: true,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    usage: {
      input_tokens: 312,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 148,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 460,
    },
    metadata: {},
  }),
);

/** The same answers from an upstream that speaks Anthropic's format. */
const message = {
  id: 'msg_bench0123456789abcdefgh',
  type: 'message',
  role: 'assistant',
  model: 'claude-haiku-4-5-20251001',
};
const messageUsage = {
  input_tokens: 312,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: 148,
  service_tier: 'standard',
};

export const messageReply = Buffer.from(
  JSON.stringify({
    ...message,
    content: [{ type: 'text', text: sentence.repeat(8) }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: messageUsage,
  }),
);

const messageEvent = (type: string, rest: object): Buffer =>
  Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`);

/** 100 events: start, start of the text, 95 of content, its end, finish with usage, end. */
export const messageEvents: readonly Buffer[] = [
  messageEvent('message_start', {
    message: {
      ...message,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...messageUsage, output_tokens: 1 },
    },
  }),
  messageEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  ...Array.from({ length: 95 }, (_, i) =>
    messageEvent('content_block_delta', {
      index: 0,
      delta: { type: 'text_delta', text: ` word${i % 10}` },
    }),
  ),
  messageEvent('content_block_stop', { index: 0 }),
  messageEvent('message_delta', {
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 148 },
  }),
  messageEvent('message_stop', {}),
];
export const messageEventBytes = messageEvents.reduce((sum, { length }) => sum + length, 0);
