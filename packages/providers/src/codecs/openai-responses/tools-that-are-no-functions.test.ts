import type { JsonObject } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { contextFor, everywhere, okHead, play } from '../../../test/fixtures.ts';
import { findProvider } from '../../catalog.ts';
import { parseSseEvents } from '../../framing/sse.ts';
import { findTranslation } from '../../translation/find-translation.ts';

/** One provider of each format that conversations are held in. */
const providers = ['cometapi', 'anthropic', 'google', 'bedrock', 'cohere'].map(
  (id) => findProvider(id)!,
);
const chatOnly = findProvider('cometapi')!;
const anthropic = findProvider('anthropic')!;
const google = findProvider('google')!;
const bedrock = findProvider('bedrock')!;

const patch = '*** Begin Patch\n*** Add File: a "b".txt\n+é\n*** End Patch';
const fn = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } };
const custom = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits files.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
};

function ask(provider: typeof chatOnly, body: JsonObject) {
  const asked = { model: 'claude-sonnet-4-5', input: 'x', ...body };
  const context = contextFor(provider, true, { model: asked.model, request: asked });
  return findTranslation(provider, 'createModelResponse', context).encode(asked, context);
}

/** A whole answer of a chat provider that calls a function, as the caller of responses reads it. */
function answered(
  tools: JsonObject[] | undefined,
  name: string,
  args: string,
  input: JsonObject[string] = 'x',
): JsonObject[] {
  const request = { model: 'm', input, ...(tools && { tools }) };
  const call = { id: 'call_1', type: 'function', function: { name, arguments: args } };
  const reply = {
    id: 'r',
    choices: [{ message: { role: 'assistant', tool_calls: [call] }, finish_reason: 'tool_calls' }],
  };
  const { body } = findTranslation(chatOnly, 'createModelResponse').decode(
    Buffer.from(JSON.stringify(reply)),
    contextFor(chatOnly, true, { request }),
    okHead,
  );
  return JSON.parse(String(body)).output;
}

/** The same told in a stream, the arguments in pieces of three characters: its events. */
function streamed(
  tools: JsonObject[] | undefined,
  name: string,
  args: string,
  input: JsonObject[string] = 'x',
): JsonObject[] {
  const request = { model: 'm', input, ...(tools && { tools }), stream: true };
  const pieces = args.match(/[\s\S]{1,3}/gu) ?? [];
  const deltas = [
    { id: 'call_1', function: { name, arguments: '' } },
    ...pieces.map((piece) => ({ function: { arguments: piece } })),
  ].map((call) => ({ tool_calls: [{ index: 0, ...call }] }));
  const chunks = deltas.map((delta) => ({ id: 'r', choices: [{ index: 0, delta }] }));
  const last = { id: 'r', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
  const bytes = Buffer.from(
    `${[...chunks, last].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`,
  );
  const reader = findTranslation(chatOnly, 'createModelResponse').openStream(
    contextFor(chatOnly, true, { request }),
    request,
  );
  const { bytes: out } = play(reader, bytes, everywhere(bytes));
  return [...parseSseEvents(out)].map(({ data }) => JSON.parse(data));
}

function responsesOnly(provider: typeof chatOnly): typeof chatOnly {
  const { createModelResponse } = provider.endpoints;
  return { ...provider, endpoints: { createModelResponse: createModelResponse! } };
}

function itemsOf(events: JsonObject[]): JsonObject[] {
  const last = events.at(-1)?.response as { output: JsonObject[] } | undefined;
  return last?.output ?? [];
}

describe('custom tools', () => {
  it('are functions with one string to every other provider, which is told of the grammar', () => {
    for (const provider of providers) {
      const { body, dropped } = ask(provider, { tools: [custom] });
      const told = JSON.stringify(body);
      expect(told).toContain('apply_patch');
      expect(told).toContain('Edits files.');
      expect(told).toContain('grammar (lark)');
      expect(told).toContain('"required":["input"]');
      // The model is told of it, and held to it by nobody.
      expect(dropped).toEqual(['tools[0].format']);
    }
    expect(ask(chatOnly, { tools: [custom] }).body?.tools).toMatchObject([
      { type: 'function', function: { name: 'apply_patch' } },
    ]);
  });

  it('are answered in their own item, with the text as the model wrote it', () => {
    const args = JSON.stringify({ input: patch });
    const item = {
      type: 'custom_tool_call',
      status: 'completed',
      call_id: 'call_1',
      name: 'apply_patch',
      input: patch,
    };
    expect(answered([custom], 'apply_patch', args)).toEqual([{ ...item, id: 'fc_r_0' }]);
    const events = streamed([custom], 'apply_patch', args);
    expect(itemsOf(events)).toEqual([{ ...item, id: 'fc_r_0' }]);
    expect(events.map(({ type }) => type)).not.toContain('response.function_call_arguments.delta');
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'response.custom_tool_call_input.done', input: patch }),
    );
    const deltas = events.filter(({ type }) => type === 'response.custom_tool_call_input.delta');
    expect(deltas.map(({ delta }) => delta).join('')).toBe(patch);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
  });

  it('take what a model wrote in place of arguments for the text', () => {
    expect(answered([custom], 'apply_patch', patch)[0]?.input).toBe(patch);
    expect(answered([custom], 'apply_patch', '')[0]?.input).toBe('');
    expect(answered([custom], 'apply_patch', '{"input":7}')[0]?.input).toBe('{"input":7}');
  });

  it('go on in the next turn: the call with its arguments, the result behind it', () => {
    const input: JsonObject[] = [
      { role: 'user', content: 'x' },
      { type: 'custom_tool_call', call_id: 'call_1', name: 'apply_patch', input: patch },
      { type: 'custom_tool_call_output', call_id: 'call_1', output: 'Done' },
    ];
    expect(ask(chatOnly, { input, tools: [custom] }).body?.messages).toMatchObject([
      { role: 'user' },
      {
        tool_calls: [{ id: 'call_1', function: { arguments: JSON.stringify({ input: patch }) } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'Done' },
    ]);
  });

  it('leave functions of the same request what they are', () => {
    expect(answered([custom, fn], 'f', '{"a":1}')).toMatchObject([
      { type: 'function_call', name: 'f', arguments: '{"a":1}' },
    ]);
  });
});

describe('tools that callers run by an item of their own', () => {
  it.each([
    [
      'local_shell',
      { command: ['ls', '-l'], working_directory: '/w', timeout_ms: 5 },
      {
        type: 'local_shell_call',
        action: {
          type: 'exec',
          command: ['ls', '-l'],
          env: {},
          timeout_ms: 5,
          working_directory: '/w',
        },
      },
    ],
    [
      'shell',
      { commands: ['ls', 'pwd'] },
      {
        type: 'shell_call',
        action: { commands: ['ls', 'pwd'], timeout_ms: null, max_output_length: null },
      },
    ],
    [
      'apply_patch',
      { type: 'update_file', path: 'a', diff: '@@\n-b\n+c' },
      {
        type: 'apply_patch_call',
        operation: { type: 'update_file', path: 'a', diff: '@@\n-b\n+c' },
      },
    ],
  ])(
    '%s is a function elsewhere, and answered in its item, streamed or not',
    (type, args, item) => {
      for (const provider of providers) {
        const { body, dropped } = ask(provider, { tools: [{ type }] });
        expect(JSON.stringify(body)).toContain(`"${type}"`);
        expect(dropped).toEqual([]);
      }
      const expected = { status: 'completed', call_id: 'call_1', ...item };
      const written = JSON.stringify(args);
      const [whole] = answered([{ type }], type, written);
      expect(whole).toMatchObject(expected);
      expect(itemsOf(streamed([{ type }], type, written))).toEqual([whole]);
      // And back: the call has the same arguments, and its result follows.
      const { body } = ask(chatOnly, {
        tools: [{ type }],
        input: [
          { role: 'user', content: 'x' },
          whole as JsonObject,
          { type: `${item.type}_output`, call_id: 'call_1', output: 'ok', status: 'completed' },
        ],
      });
      const [, turn, result] = (body?.messages ?? []) as JsonObject[];
      const [call] = (turn as { tool_calls: { function: { arguments: string } }[] }).tool_calls;
      expect(JSON.parse(call?.function.arguments as string)).toEqual(args);
      expect(result).toMatchObject({ role: 'tool', tool_call_id: 'call_1' });
    },
  );

  it('finds the call of a result that names the item', () => {
    const { body } = ask(chatOnly, {
      input: [
        {
          type: 'local_shell_call',
          id: 'lsh_1',
          call_id: 'call_1',
          action: { type: 'exec', command: ['ls'], env: {} },
        },
        { type: 'local_shell_call_output', id: 'lsh_1', output: 'a' },
      ],
    });
    expect(body?.messages).toMatchObject([{}, { role: 'tool', tool_call_id: 'call_1' }]);
  });

  it('marks a patch that failed as an error', () => {
    const { body } = ask(anthropic, {
      input: [
        {
          type: 'apply_patch_call',
          call_id: 'call_1',
          operation: { type: 'delete_file', path: 'a' },
        },
        { type: 'apply_patch_call_output', call_id: 'call_1', status: 'failed', output: 'no' },
      ],
    });
    expect(JSON.stringify(body)).toContain('"is_error":true');
  });
});

describe('the skills of a shell that the caller runs', () => {
  const skill = { name: 'audit', path: '/skills/audit', description: 'Audits a ledger.' };

  it('are told with it', () => {
    const tools: JsonObject[] = [
      { type: 'shell', environment: { type: 'local', skills: [skill] } },
    ];
    for (const provider of providers) {
      const { body, dropped } = ask(provider, { tools });
      expect(dropped).toEqual([]);
      expect(JSON.stringify(body)).toContain('audit (/skills/audit): Audits a ledger.');
    }
    const bare = ask(anthropic, { tools: [{ type: 'shell', environment: { type: 'local' } }] });
    expect(JSON.stringify(bare.body)).not.toContain('kill');
  });
});

describe('what a tool that the caller runs says of how it is found and called', () => {
  const options = { defer_loading: true, allowed_callers: ['direct', 'programmatic'] };
  const inner = { ...fn, name: 'g', ...options };
  const tools: JsonObject[] = [
    { ...fn, ...options },
    { type: 'custom', name: 'c', ...options },
    { type: 'shell', environment: { type: 'local' }, ...options },
    { type: 'namespace', name: 'n', tools: [inner] },
  ];
  const named = ['tools[0]', 'tools[1]', 'tools[2]', 'tools[3].tools[0]'].flatMap((path) =>
    Object.keys(options).map((name) => `${path}.${name}`),
  );

  it('is named, whatever kind of tool it is, where it means nothing', () => {
    for (const provider of providers)
      expect(ask(provider, { tools }).dropped.toSorted()).toEqual(named.toSorted());
  });

  it('leaves a tool for Claude to see that nothing would find, and callers that it knows', () => {
    const asked = ask(anthropic, { tools: [{ ...fn, ...options }] });
    expect(asked.body?.tools).toEqual([
      { name: 'f', input_schema: fn.parameters, allowed_callers: ['direct'] },
    ]);
    const search = { name: 'tool_search_tool_bm25_20251119' };
    const chat = findTranslation(anthropic, 'chatComplete').encode(
      {
        model: 'claude-sonnet-4-5',
        messages: [{ role: 'user', content: 'x' }],
        tools: [
          { type: 'tool_search_tool_bm25', tool_search_tool_bm25: search },
          { type: 'function', function: { name: 'f', defer_loading: true } },
        ],
      },
      contextFor(anthropic),
    );
    expect(chat.body?.tools).toMatchObject([{ type: search.name }, { defer_loading: true }]);
    expect(chat.dropped).toEqual([]);
  });
});

describe('namespaces', () => {
  const tools = [
    { type: 'namespace', name: 'mcp__files', description: 'Files', tools: [fn, custom] },
  ];

  it('are written into the names of their functions, and found again', () => {
    expect(ask(chatOnly, { tools }).body?.tools).toMatchObject([
      { function: { name: 'mcp__files__f' } },
      { function: { name: 'mcp__files__apply_patch' } },
    ]);
    const found = { name: 'f', namespace: 'mcp__files', arguments: '{}' };
    expect(answered(tools, 'mcp__files__f', '{}')).toMatchObject([found]);
    const events = streamed(tools, 'mcp__files__f', '{}');
    expect(itemsOf(events)).toMatchObject([{ type: 'function_call', ...found }]);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'response.function_call_arguments.done', name: 'f' }),
    );
    expect(answered(tools, 'mcp__files__apply_patch', '{"input":"x"}')).toMatchObject([
      { type: 'custom_tool_call', name: 'apply_patch', namespace: 'mcp__files', input: 'x' },
    ]);
    const turn = { type: 'function_call', call_id: 'c', ...found };
    expect(JSON.stringify(ask(chatOnly, { tools, input: [turn] }).body)).toContain('mcp__files__f');
  });
});

describe('tools told of in the conversation', () => {
  const told: JsonObject = {
    type: 'additional_tools',
    role: 'developer',
    tools: [
      {
        type: 'namespace',
        name: 'functions',
        description: '',
        tools: [{ ...custom, name: 'exec' }],
      },
      { type: 'namespace', name: 'clock', tools: [{ ...fn, name: 'sleep' }] },
    ],
  };
  const user = { role: 'user', content: 'x' };

  it('are tools of the request to every other provider', () => {
    for (const provider of providers) {
      const { body, dropped } = ask(provider, { input: [told, user] });
      const text = JSON.stringify(body);
      expect(text).toContain('functions__exec');
      expect(text).toContain('clock__sleep');
      expect(dropped).toEqual(['input[0].tools[0].tools[0].format']);
    }
  });

  it('are named by where they stand, where nobody runs them', () => {
    const item = { ...told, tools: [fn, { type: 'image_generation' }] };
    expect(ask(chatOnly, { input: [user, item] }).dropped).toEqual(['input[1].tools[1]']);
  });

  it('are answered in their own items', () => {
    const input = [told, user];
    expect(answered(undefined, 'functions__exec', '{"input":"x"}', input)).toMatchObject([
      { type: 'custom_tool_call', name: 'exec', namespace: 'functions', input: 'x' },
    ]);
    expect(itemsOf(streamed(undefined, 'clock__sleep', '{}', input))).toMatchObject([
      { type: 'function_call', name: 'sleep', namespace: 'clock' },
    ]);
  });

  it('stand beside those of the request, the last of a name alone', () => {
    const found = { type: 'tool_search_output', tools: [{ ...fn, description: 'later' }] };
    const { body } = ask(chatOnly, { tools: [fn, custom], input: [user, found] });
    expect(body?.tools).toMatchObject([
      { function: { name: 'f', description: 'later' } },
      { function: { name: 'apply_patch' } },
    ]);
  });
});

describe('tools that providers run', () => {
  const search = {
    type: 'web_search',
    filters: { allowed_domains: ['a.example'] },
    user_location: { type: 'approximate', city: 'Oslo' },
  };
  const interpreter = { type: 'code_interpreter', container: { type: 'auto' } };

  it('are the provider’s own where it has them', () => {
    const claude = ask(anthropic, { tools: [fn, search, interpreter] });
    expect(claude.body?.tools).toMatchObject([
      { name: 'f' },
      {
        type: 'web_search_20250305',
        name: 'web_search',
        allowed_domains: ['a.example'],
        user_location: { type: 'approximate', city: 'Oslo' },
      },
      { type: 'code_execution_20250825', name: 'code_execution' },
    ]);
    expect(claude.headers?.['anthropic-beta']).toContain('code-execution-2025-08-25');
    expect(claude.dropped).toEqual([]);
    expect(ask(google, { tools: [search, interpreter] }).body?.tools).toEqual([
      { googleSearch: {} },
      { codeExecution: {} },
    ]);
  });

  it('are left out where another provider has one of the same name, which searches its own stores', () => {
    const tools = [{ type: 'file_search', vector_store_ids: ['vs_1'] }];
    const { body, dropped } = ask(findProvider('google')!, { tools });
    expect(body).not.toHaveProperty('tools');
    expect(dropped).toEqual(['tools[0]']);
  });

  it('are left out and named where nobody runs them, with the wish that one must be used', () => {
    const left: JsonObject[] = [
      search,
      { type: 'mcp', server_label: 'x', server_url: 'https://mcp.example' },
      { type: 'image_generation' },
      { type: 'tool_search' },
    ];
    const tool_choice = { type: 'web_search_preview' };
    for (const provider of [chatOnly, bedrock]) {
      const { body, dropped } = ask(provider, { tools: [fn, ...left], tool_choice });
      expect(JSON.stringify(body)).not.toContain('web_search');
      expect(dropped).toEqual(
        expect.arrayContaining(['tool_choice', 'tools[1]', 'tools[2]', 'tools[3]', 'tools[4]']),
      );
    }
    const alone = ask(chatOnly, {
      tools: [search],
      tool_choice: 'auto',
      parallel_tool_calls: false,
    });
    expect(alone.body).not.toHaveProperty('tools');
    expect(alone.body).not.toHaveProperty('tool_choice');
    expect(alone.body).not.toHaveProperty('parallel_tool_calls');
    expect(alone.dropped).toEqual(['tools[0]', 'tool_choice', 'parallel_tool_calls']);
  });

  it('leave functions alone where a model takes no tools of its own beside them', () => {
    const { body, dropped } = ask(google, { tools: [fn, search] });
    expect(body?.tools).toMatchObject([{ functionDeclarations: [{ name: 'f' }] }]);
    expect(dropped).toEqual(['tools[1]']);
  });

  it('give way to a function of the same name', () => {
    const own = { ...fn, name: 'web_search' };
    const { body, dropped } = ask(anthropic, { tools: [own, search] });
    expect(body?.tools).toMatchObject([{ name: 'web_search', input_schema: {} }]);
    expect(dropped).toEqual(['tools[1]']);
  });

  it('are those of OpenAI for a caller of messages', () => {
    const openai = responsesOnly(findProvider('openai')!);
    const request = {
      model: 'm',
      max_tokens: 64,
      messages: [{ role: 'user', content: 'x' }],
      tools: [{ type: 'web_search_20250305', name: 'web_search', allowed_domains: ['a.example'] }],
    };
    const { body, dropped } = findTranslation(openai, 'messages').encode(
      request,
      contextFor(openai, true, { model: 'm', request }),
    );
    expect(body?.tools).toEqual([
      { type: 'web_search', filters: { allowed_domains: ['a.example'] } },
    ]);
    expect(dropped).toEqual([]);
  });

  it('are never told as calls to answer, though xAI tells its search as calls of custom tools', () => {
    const call = (name: string) => ({
      type: 'custom_tool_call',
      id: `ctc_${name}`,
      call_id: `xs_${name}`,
      name,
      input: '{"query":"news"}',
      status: 'completed',
    });
    const answer = {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Here', annotations: [] }],
    };
    const response = {
      id: 'resp_1',
      model: 'm',
      status: 'completed',
      tools: [{ type: 'x_search' }, custom],
      output: [call('x_keyword_search'), call('apply_patch'), answer],
    };
    const events = [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      ...response.output.flatMap((item, output_index) => [
        { type: 'response.output_item.added', output_index, item: { ...item, content: [] } },
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: 'response.completed', response },
    ];
    const xai = findProvider('x-ai')!;
    const request = { model: 'm', max_tokens: 64, messages: [{ role: 'user', content: 'x' }] };
    const translation = findTranslation(responsesOnly(xai), 'messages');
    const context = contextFor(xai, true, { model: 'm', request });
    const whole = translation.decode(Buffer.from(JSON.stringify(response)), context, okHead);
    const blocks: JsonObject[] = JSON.parse(String(whole.body)).content;
    expect(blocks.map(({ type, name }) => name ?? type)).toEqual(['apply_patch', 'text']);

    const bytes = Buffer.from(
      events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
    );
    const { bytes: out } = play(translation.openStream(context, request), bytes, [bytes.length]);
    const calls = [...parseSseEvents(out)]
      .map(({ data }) => JSON.parse(data))
      .filter(({ content_block }) => content_block?.type === 'tool_use');
    expect(calls.map(({ content_block }) => content_block.name)).toEqual(['apply_patch']);
  });

  it('mean nothing to the next provider, whatever kind of item they left', () => {
    const input: JsonObject[] = [
      { role: 'user', content: 'x' },
      { type: 'custom_tool_call', call_id: 'xs_1', name: 'x_keyword_search', input: '{}' },
      { role: 'assistant', content: 'Here' },
      { role: 'user', content: 'Thanks' },
    ];
    const { body, dropped } = ask(chatOnly, { input });
    expect(body?.messages).toMatchObject([{ role: 'user' }, { content: 'Here' }, { role: 'user' }]);
    expect(JSON.stringify(body)).not.toContain('x_keyword_search');
    expect(dropped).toEqual(['input[1]']);
  });
});
