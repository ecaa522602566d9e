import {
  boundSignature,
  json,
  type RecordedRequest,
  refuseChat,
  refuseGemini,
  refuseMessages,
  refuseMistral,
  refuseResponses,
  sse,
  type UpstreamReply,
} from '@sluice/testkit';

/** What the model says: a text, or the call of a tool. */
type Said = { text: string } | { name: string; args: object };

/** What it was asked, in any format. */
interface Question {
  model: string;
  tools: string[];
  /** A call is demanded. */
  isForced: boolean;
  hasSchema: boolean;
  /** Of tools, in the whole conversation. */
  results: number;
  isStreamed: boolean;
}

type Body = Record<string, never> & {
  model?: string;
  stream?: boolean;
  [field: string]: unknown;
};

/**
 * A model at each vendor that refuses what its vendor refuses. It asks for the
 * weather of two cities, one after the other, where it has the tool, answers in
 * JSON where it is given a schema, and calls any other tool with that JSON.
 */
export function answerOfVendor(request: RecordedRequest): UpstreamReply {
  const body = request.json() as Body;
  const vendor = vendors.find(({ path }) => path.test(request.path));
  if (vendor === undefined) throw new Error(`no vendor at ${request.path}`);
  const refusal = vendor.refuse(body, request.path);
  if (refusal !== undefined) return json(refusal.status, refusal.body);
  const question = vendor.read(body, request.path);
  const said = sayTo(question);
  return question.isStreamed
    ? sse(vendor.stream(said, question, body))
    : json(200, vendor.reply(said, question, body));
}

export const spoken = 'It is sunny in Paris and in Rome.';
export const structured = { city: 'Paris', degrees: 21 };
const cities = ['Paris', 'Rome'];
const weather = 'get_weather';

function sayTo({ tools, isForced, hasSchema, results }: Question): Said {
  const asks = tools.includes(weather);
  if (asks && results < cities.length) return { name: weather, args: { city: cities[results] } };
  const [other] = tools.filter((name) => name !== weather);
  if (other !== undefined && (isForced || !asks) && results === 0)
    return { name: other, args: structured };
  return { text: hasSchema ? JSON.stringify(structured) : spoken };
}

interface Vendor {
  path: RegExp;
  refuse(body: Body, path: string): ReturnType<typeof refuseChat>;
  read(body: Body, path: string): Question;
  reply(said: Said, question: Question, body: Body): object;
  stream(said: Said, question: Question, body: Body): unknown[];
}

interface Named {
  name?: string;
  function?: { name: string };
}
interface Turn {
  role?: string;
  type?: string;
  content?: string | { type: string }[];
  parts?: { functionResponse?: object }[];
}

function list<T>(value: unknown): T[] {
  return Array.isArray(value) ? value : [];
}

function count(turns: Turn[], isResult: (turn: Turn) => boolean): number {
  return turns.filter(isResult).length;
}

const pieces = (text: string): string[] => text.match(/.{1,9}/g) ?? [];
const ids = (results: number): string => `call_${results}`;

const chat: Vendor = {
  path: /\/chat\/completions$/,
  refuse: (body) => (body.model?.startsWith('mistral') ? refuseMistral(body) : refuseChat(body)),
  read: ({ model = '', tools, tool_choice, response_format, messages, stream }) => ({
    model,
    tools: list<Named>(tools).map((tool) => tool.function?.name ?? ''),
    isForced: tool_choice !== undefined && tool_choice !== 'auto' && tool_choice !== 'none',
    hasSchema:
      (response_format as { type?: string } | undefined)?.type?.startsWith('json') === true,
    results: count(list(messages), ({ role }) => role === 'tool'),
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

type Call = Extract<Said, { name: string }>;

function chatCall({ name, args }: Call, results: number): object {
  return {
    id: ids(results),
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  };
}

function callPieces({ name, args }: Call, results: number): object[] {
  const begun = { index: 0, id: ids(results), type: 'function', function: { name, arguments: '' } };
  const rest = pieces(JSON.stringify(args));
  return [begun, ...rest.map((piece) => ({ index: 0, function: { arguments: piece } }))];
}

/** A thought that is good in this conversation alone, before what it says. */
function blocks(said: Said, { results }: Question, body: Body): object[] {
  const thought = { type: 'thinking', thinking: 'Hm.', signature: boundSignature(body as never) };
  const thinks = /opus-5-5/.test(String(body.model));
  const block =
    'text' in said
      ? { type: 'text', text: said.text }
      : { type: 'tool_use', id: `toolu_${results}`, name: said.name, input: said.args };
  return thinks ? [thought, block] : [block];
}

const messages: Vendor = {
  path: /\/messages$/,
  refuse: (body) => refuseMessages(body),
  read: ({ model = '', tools, tool_choice, output_config, messages: turns, stream }) => ({
    model,
    tools: list<Named>(tools).map(({ name = '' }) => name),
    isForced: ['any', 'tool'].includes(String((tool_choice as Turn | undefined)?.type)),
    hasSchema: (output_config as { format?: object } | undefined)?.format !== undefined,
    results: list<Turn>(turns).flatMap(({ content }) =>
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
    call_id: ids(results),
    name,
    arguments: JSON.stringify(args),
    status: 'completed',
  };
}

const responses: Vendor = {
  path: /\/responses$/,
  refuse: refuseResponses,
  read: ({ model = '', tools, tool_choice, text, input, stream }) => ({
    model,
    tools: list<Named>(tools).map(({ name = '' }) => name),
    isForced: tool_choice !== undefined && tool_choice !== 'auto' && tool_choice !== 'none',
    hasSchema: (text as { format?: Turn } | undefined)?.format?.type === 'json_schema',
    results: count(list(input), ({ type }) => type === 'function_call_output'),
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

const gemini: Vendor = {
  path: /:(?:streamG|g)enerateContent/,
  refuse: (body, path) => refuseGemini(modelIn(path), body),
  read({ tools, toolConfig, generationConfig, contents }, path) {
    const config = (toolConfig as { functionCallingConfig?: { mode?: string } } | undefined)
      ?.functionCallingConfig;
    const { responseSchema, responseJsonSchema } = (generationConfig ?? {}) as Record<
      string,
      unknown
    >;
    return {
      model: modelIn(path),
      tools: list<{ functionDeclarations?: Named[] }>(tools).flatMap(({ functionDeclarations }) =>
        list<Named>(functionDeclarations).map(({ name = '' }) => name),
      ),
      isForced: config?.mode === 'ANY',
      hasSchema: (responseSchema ?? responseJsonSchema) !== undefined,
      results: list<Turn>(contents).flatMap(({ parts }) =>
        list<{ functionResponse?: object }>(parts).filter((part) => part.functionResponse),
      ).length,
      isStreamed: path.includes('streamGenerateContent'),
    };
  },
  reply: (said, question) => geminiReply(question, geminiPart(said), { finishReason: 'STOP' }),
  stream(said, question) {
    const told = 'text' in said ? pieces(said.text).map((text) => ({ text })) : [geminiPart(said)];
    const end = geminiReply(question, { text: '' }, { finishReason: 'STOP' });
    return [...told.map((part) => geminiReply(question, part)), end];
  },
};

function modelIn(path: string): string {
  return /models\/([^:/]+)/.exec(path)?.[1] ?? '';
}

function geminiPart(said: Said): object {
  if ('text' in said) return { text: said.text };
  return { functionCall: { name: said.name, args: said.args }, thoughtSignature: 'c2ln' };
}

function geminiReply({ model, results }: Question, part: object, end: object = {}): object {
  return {
    candidates: [{ index: 0, content: { role: 'model', parts: [part] }, ...end }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5, totalTokenCount: 14 },
    modelVersion: model,
    responseId: `rsp_${results}`,
  };
}

const vendors: readonly Vendor[] = [chat, messages, responses, gemini];
