import { gzipSync } from 'node:zlib';
import {
  type ObjectOperationId,
  type OperationId,
  objectOperations,
  operationIds,
  operations,
} from '@sluice/contracts';
import { freshName, json, sse } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { saveConfig } from '../lab.ts';
import { type CallOptions, chatReply, type Scenario, startScenario } from '../scenario.ts';
import { openAiEvents } from '../vendor-replies.ts';

/** No way around a guardrail that an organisation or workspace enforces. */

const word = 'forbidden';
const forbid = (subjects: string[]) => ({
  id: 'default.regexMatch',
  parameters: { rule: word, not: true, subjects },
});

let scenario: Scenario;
let inputSlug: string;
const calls: string[] = [];

beforeAll(async () => {
  scenario = await startScenario({ gateways: 3 });
  scenario.upstream.handle(({ method, path, body }) => {
    calls.push(`${method} ${path}`);
    if (body.includes('fails at the provider')) return json(500, { error: { message: 'down' } });
    if (body.toString('latin1').includes('"stream":true')) return sse(openAiEvents('Hi'));
    return json(200, chatReply);
  });
  inputSlug = await save('Input', forbid(['all']));
  await enforce({ input_guardrails: [inputSlug] });
});
afterAll(() => scenario.stop());

async function save(
  name: string,
  check: object,
  level: 'workspace' | 'organisation' = 'workspace',
) {
  const { workspace_id } = scenario.stack.credentials;
  const made = await scenario.admin<{ slug: string }>('POST', '/guardrails', {
    name,
    ...(level === 'workspace' ? { workspace_id } : {}),
    checks: [check],
    actions: { deny: true },
  });
  return made.slug;
}

/** In force at every gateway when it is answered. */
async function enforce(defaults: object): Promise<void> {
  const { workspace_slug } = scenario.stack.credentials;
  await scenario.admin('PUT', `/admin/workspaces/${workspace_slug}`, { defaults });
}

/** Asks; says the status, and whether anybody was called. */
async function outcomeOf(path: string, options: CallOptions = {}) {
  calls.length = 0;
  const response = await scenario.call(path, options);
  const text = await response.text();
  return { status: response.status, calls: [...calls], text };
}

const chat = (content: unknown, more: object = {}) => ({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content }],
  ...more,
});

/** A form as its bytes, whose type says where its parts begin. */
async function form(fields: Record<string, string | Blob>): Promise<CallOptions> {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'string') data.append(name, value);
    else data.append(name, value, value instanceof File ? value.name : 'sound.mp3');
  const encoded = new Response(data);
  const type = encoded.headers.get('content-type') ?? '';
  return { rawBody: Buffer.from(await encoded.arrayBuffer()), headers: { 'content-type': type } };
}

const sound = new Blob([Buffer.from([0xff, 0xfb, 0x90, 0x00, 0x80])], { type: 'audio/mpeg' });

interface Way {
  path: string;
  /** With the word where the operation takes text, and without it. */
  body?: (text: string) => object;
  form?: (text: string) => Record<string, string | Blob>;
  /** Who offers it. */
  provider?: string;
  /** Asked as a stream as well. */
  streams?: boolean;
}

/** One row an operation; what carries no text to a model says why. */
const ways: Record<Exclude<OperationId, ObjectOperationId>, Way | string> = {
  chatComplete: { path: '/v1/chat/completions', body: chat, streams: true },
  complete: { path: '/v1/completions', body: (prompt) => ({ model: 'm', prompt }), streams: true },
  messages: {
    path: '/v1/messages',
    body: (text) => ({ ...chat(text), max_tokens: 10 }),
    streams: true,
  },
  createModelResponse: {
    path: '/v1/responses',
    body: (input) => ({ model: 'm', input }),
    streams: true,
  },
  embed: { path: '/v1/embeddings', body: (input) => ({ model: 'm', input }) },
  messagesCountTokens: {
    path: '/v1/messages/count_tokens',
    body: chat,
    provider: 'anthropic',
  },
  rerank: {
    path: '/v1/rerank',
    provider: 'cohere',
    body: (text) => ({ model: 'm', query: 'q', documents: ['a', text] }),
  },
  moderate: { path: '/v1/moderations', body: (input) => ({ model: 'm', input }) },
  imageGenerate: {
    path: '/v1/images/generations',
    body: (prompt) => ({ model: 'm', prompt }),
    streams: true,
  },
  imageEdit: {
    path: '/v1/images/edits',
    form: (prompt) => ({ model: 'm', prompt, image: sound }),
  },
  imageVariation: {
    path: '/v1/images/variations',
    form: (user) => ({ model: 'm', user, image: sound }),
  },
  createSpeech: { path: '/v1/audio/speech', body: (input) => ({ model: 'm', voice: 'v', input }) },
  createTranscription: {
    path: '/v1/audio/transcriptions',
    form: (prompt) => ({ model: 'm', prompt, file: sound }),
  },
  createTranslation: {
    path: '/v1/audio/translations',
    form: (prompt) => ({ model: 'm', prompt, file: sound }),
  },
  ocr: {
    path: '/v1/ocr',
    provider: 'mistral-ai',
    body: (text) => ({ model: 'm', document: { type: 'document_url', document_url: text } }),
  },
  listModels: 'has no body',
  proxy: { path: '/v1/proxy/chat/completions', body: chat, streams: true },
  realtime: 'what is said in it is not read: test/realtime has it denied',
  realtimeTranslation: 'the same',
  responseSession: 'the same',
  promptComplete: 'becomes a chat or completion with the text that is checked; see below',
  promptRender: 'asks no model',
  estimate: 'asks no model',
  explain: 'asks no model',
  tokenize: 'asks no model',
  mcpMessage: 'asks no model',
  mcpStream: 'asks no model',
  mcpEnd: 'asks no model',
  agentCall: 'asks an agent; see below',
};

/** Paths that pass through and carry text, beside the one of the table. */
const passing: [path: string, body: (text: string) => object][] = [
  ['/v1/threads/thread_1/messages', (content) => ({ role: 'user', content })],
  ['/v1/threads/thread_1/runs', (instructions) => ({ assistant_id: 'a', instructions })],
  ['/v1/conversations', (content) => ({ items: [{ type: 'message', role: 'user', content }] })],
  ['/v1/assistants', (instructions) => ({ model: 'm', instructions })],
  [
    '/v1/proxy/v1beta/models/gemini:generateContent',
    (text) => ({ contents: [{ parts: [{ text }] }] }),
  ],
  ['/v1/proxy/responses', (input) => ({ model: 'm', input })],
  ['/v1/proxy/embeddings', (input) => ({ model: 'm', input })],
  ['/v1/unheard/of', (text) => ({ a: { b: [{ c: text }] } })],
  ['/v1/batches', (text) => ({ requests: [{ body: chat(text) }] })],
];

type SaidToAgent = [what: string, protocol: string, path: string, body: (text: string) => object];

/** By each protocol and binding, as JSON and as a stream; `test/agents/agent-guards.test.ts` has what can be said where. */
const saidToAgents: SaidToAgent[] = [
  ...['message/send', 'message/stream', 'SendMessage', 'SendStreamingMessage'].map(
    (method): SaidToAgent => [
      method,
      'a2a',
      '',
      (text) => ({ jsonrpc: '2.0', id: 1, method, params: { message: { parts: [{ text }] } } }),
    ],
  ),
  ...['v1/message:send', 'v1/message:stream', 'message:send', 'message:stream', 'else'].map(
    (path): SaidToAgent => [path, 'a2a', path, (text) => ({ message: { parts: [{ text }] } })],
  ),
  ['chat', 'openai', 'chat/completions', chat],
  ['a stream of chat', 'openai', 'chat/completions', (text) => chat(text, { stream: true })],
  ['anything', 'raw', 'any', (text) => [{ say: text }]],
];

const agentSlugs = new Map<string, string>();
async function agentOf(protocol: string): Promise<string> {
  const known = agentSlugs.get(protocol);
  if (known !== undefined) return known;
  const { workspace_id } = scenario.stack.credentials;
  const slug = `agent-${protocol}`;
  const { id } = await scenario.admin<{ id: string }>('POST', '/agent-integrations', {
    name: slug,
    slug,
    url: `${scenario.upstream.url}/${protocol}`,
    protocol,
  });
  await scenario.admin('PUT', `/agent-integrations/${id}/workspaces`, {
    workspaces: [{ id: workspace_id, enabled: true }],
  });
  await scenario.admin('POST', '/agent-servers', {
    name: slug,
    slug,
    agent_integration_id: id,
    workspace_id,
  });
  agentSlugs.set(protocol, slug);
  return slug;
}

async function optionsOf(way: Way, text: string, more: object = {}): Promise<CallOptions> {
  const { provider = 'openai' } = way;
  const asked =
    way.form === undefined
      ? { body: { ...way.body?.(text), ...more } }
      : await form(way.form(text));
  return { ...asked, headers: { ...asked.headers, 'x-service-provider': provider } };
}

describe('an enforced guardrail that denies', () => {
  it('has a row for every operation', () => {
    const kept = objectOperations.map(({ id }) => id);
    expect([...Object.keys(ways), ...kept].sort()).toEqual([...operationIds].sort());
    for (const [id, way] of Object.entries(ways))
      if (typeof way === 'string') continue;
      else {
        const { at } = operations[id as OperationId];
        const prefix = at.split(' ')[1]?.replace('*', '') ?? '';
        expect(way.path.startsWith(prefix), id).toBe(true);
      }
  });

  const rows = Object.entries(ways).flatMap(([id, way]) =>
    typeof way === 'string' ? [] : [[id, way] as const],
  );

  it.each(rows)(
    'stops %s, as JSON and as a stream, and lets other texts pass',
    async (_id, way) => {
      for (const more of way.streams === true ? [{}, { stream: true }] : [{}]) {
        const denied = await outcomeOf(way.path, await optionsOf(way, `it is ${word}`, more));
        expect([denied.status, denied.calls], denied.text).toEqual([446, []]);
        expect(JSON.parse(denied.text)).toMatchObject({
          hook_results: { before_request_hooks: [{ id: inputSlug, verdict: false, deny: true }] },
        });
        const passed = await outcomeOf(way.path, await optionsOf(way, 'it is fine', more));
        expect(passed.status, passed.text).not.toBe(446);
        expect(passed.calls.length, passed.text).toBe(1);
      }
    },
  );

  it('stops whatever is said to what stays at a provider', async () => {
    const text = `it is ${word}`;
    for (const { id, at, of, takes } of objectOperations) {
      const [method = '', pattern = ''] = at.split(' ');
      if (method !== 'POST') continue;
      const path = pattern.replaceAll(':', 'the-');
      // A call is refused unless it is one.
      const isOffer = of === 'realtime calls' && takes === 'anything';
      const offer = { sdp: 'v=0', session: { model: 'm', instructions: text } };
      const denied = await outcomeOf(path, { body: isOffer ? offer : { deep: [{ text }] } });
      expect([denied.status, denied.calls], id).toEqual([446, []]);
    }
  });

  it.each(passing)('stops %s', async (path, body) => {
    const denied = await outcomeOf(path, { body: body(`it is ${word}`) });
    expect([denied.status, denied.calls], denied.text).toEqual([446, []]);
    const passed = await outcomeOf(path, { body: body('it is fine') });
    expect([passed.status, passed.calls.length], passed.text).toEqual([200, 1]);
  });

  it.each(saidToAgents)(
    'stops what is said to an agent: %s',
    async (_what, protocol, path, body) => {
      const slug = await agentOf(protocol);
      const ask = (text: string) => outcomeOf(`/v1/agent/${slug}/${path}`, { body: body(text) });
      const denied = await ask(`it is ${word}`);
      expect([denied.status, denied.calls], denied.text).toEqual([446, []]);
      expect(denied.text).toContain(inputSlug);
      const passed = await ask('it is fine');
      expect([passed.status, passed.calls.length], passed.text).toEqual([200, 1]);
    },
  );

  const config = (over: object) => ({
    'x-service-config': JSON.stringify({
      provider: 'openai',
      api_key: 'sk',
      custom_host: `${scenario.upstream.url}/v1`,
      ...over,
    }),
  });
  const passes = { 'default.regexMatch': { rule: '.' } };
  const tricks: [string, () => CallOptions][] = [
    ['an inline config without guardrails', () => ({ headers: config({}) })],
    ['one with guardrails of its own', () => ({ headers: config({ input_guardrails: [passes] }) })],
    [
      'an empty list of enforced ones',
      () => ({ headers: config({ default_input_guardrails: [] }) }),
    ],
    [
      'the enforced one, named and made harmless',
      () => ({
        headers: config({ input_guardrails: [{ id: inputSlug, deny: false, async: true }] }),
      }),
    ],
    ['the enforced one, named', () => ({ headers: config({ input_guardrails: [inputSlug] }) })],
    [
      'a guardrail of the same id',
      () => ({ headers: config({ input_guardrails: [{ id: inputSlug, ...passes }] }) }),
    ],
    [
      'nested targets',
      () => ({
        headers: {
          'x-service-config': JSON.stringify({
            strategy: { mode: 'fallback' },
            targets: [
              { strategy: { mode: 'loadbalance' }, targets: [target(), target()] },
              target(),
            ],
          }),
        },
      }),
    ],
    [
      'a mutator that makes the word of what is none',
      () => ({
        body: chat('it is for-bidden'),
        headers: config({ input_mutators: [{ regexReplace: { rule: '/-/g', redactText: '' } }] }),
      }),
    ],
    [
      'a guardrail that does so',
      () => ({
        body: chat('it is for-bidden'),
        headers: config({ input_guardrails: [{ regexReplace: { rule: '/-/g', redactText: '' } }] }),
      }),
    ],
    [
      'parameters of the config',
      () => ({
        body: chat('it is fine'),
        headers: config({ override_params: { messages: chat(word).messages } }),
      }),
    ],
    ['headers', () => ({ headers: { 'x-service-default-input-guardrails': '[]' } })],
    ['not being tracked', () => ({ headers: { 'x-service-debug': 'false' } })],
    ['metadata', () => ({ headers: { 'x-service-metadata': '{"_guardrails":"off"}' } })],
    [
      'a later message',
      () => ({ body: { ...chat('x'), messages: [...chat(word).messages, ...chat('x').messages] } }),
    ],
    ['a system prompt', () => ({ body: chat('x', { system: word }) })],
    [
      'a tool',
      () => ({
        body: chat('x', {
          tools: [{ type: 'function', function: { name: 'f', description: word } }],
        }),
      }),
    ],
    ['the name of a member', () => ({ body: chat('x', { [`it is ${word}!`]: 1 }) })],
    [
      'arguments of a tool, escaped',
      () => ({
        body: {
          model: 'm',
          messages: [
            {
              role: 'assistant',
              tool_calls: [
                {
                  id: 'c',
                  type: 'function',
                  function: { name: 'f', arguments: '{"a":"\\u0066orbidden"}' },
                },
              ],
            },
          ],
        },
      }),
    ],
  ];
  const target = () => ({
    provider: 'openai',
    api_key: 'sk',
    custom_host: `${scenario.upstream.url}/v1`,
  });

  it.each(tricks)('is not undone by %s', async (_what, options) => {
    const denied = await outcomeOf('/v1/chat/completions', {
      body: chat(`it is ${word}`),
      ...options(),
    });
    expect([denied.status, denied.calls], denied.text).toEqual([446, []]);
  });

  const text = JSON.stringify(chat(`it is ${word}`));
  const fine = JSON.stringify(chat('it is fine'));
  const bodies: [string, CallOptions][] = [
    [
      'two members, the first says it',
      {
        rawBody: `${fine.slice(0, -1)},"messages":${JSON.stringify(chat('x').messages)}}`.replace(
          'it is fine',
          word,
        ),
      },
    ],
    [
      'two members in a message',
      { rawBody: text.replace('"content":', '"content":"fine","content":') },
    ],
    [
      'two members in another case',
      { rawBody: fine.replace('"content"', `"Content":"${word}","content"`) },
    ],
    ['escapes', { rawBody: text.replace(word, '\\u0066orbidden') }],
    ['a byte order mark', { rawBody: `\ufeff${text}` }],
    ['UTF-16', { rawBody: Buffer.from(text, 'utf16le') }],
    ['gzip', { rawBody: gzipSync(text), headers: { 'content-encoding': 'gzip' } }],
    ['NUL', { rawBody: `${text}\0` }],
    ['another content type', { rawBody: text, headers: { 'content-type': 'text/plain' } }],
    [
      'no content type that is known',
      { rawBody: text, headers: { 'content-type': 'application/x-unknown' } },
    ],
    ['a large text', { rawBody: JSON.stringify(chat(`${'fine '.repeat(900_000)}`)) }],
    ['a query', { body: chat('x') }],
  ];

  it.each(bodies)('is not blinded by %s', async (what, options) => {
    for (const path of ['/v1/chat/completions', '/v1/proxy/chat/completions']) {
      const query = what === 'a query' ? '?q=how%20it%20is' : '';
      if (query !== '' && !path.includes('proxy')) continue;
      const { status, calls: made, text: told } = await outcomeOf(path + query, options);
      expect(made, `${path}: ${told.slice(0, 300)}`).toEqual([]);
      expect([400, 415, 446], told).toContain(status);
    }
  });

  it.each([
    ['a query', '/v1/proxy/chat/completions?q=it-is-forbidden-by-us', { body: chat('x') }],
    ['a name in a query', '/v1/proxy/chat/completions?it.is.forbidden', { body: chat('x') }],
    ['a path', '/v1/proxy/notes/it_is_forbidden_by_us', { method: 'GET' }],
    ['a path of escapes', '/v1/proxy/notes/it-is-%66orbidden-by-us', { rawBody: '[1]' }],
  ] as const)('reads words that no blanks part in %s', async (_what, path, options) => {
    const { status, calls: made, text: told } = await outcomeOf(path, options as CallOptions);
    expect([status, made], told.slice(0, 300)).toEqual([446, []]);
  });

  it('takes names of models and resources for none', async () => {
    const path = '/v1/proxy/models/forbidden-latest?after=file-forbidden&limit=20';
    expect((await outcomeOf(path, { method: 'GET' })).status).toBe(200);
  });

  it.each([
    ['tokens to embed', '/v1/embeddings', { model: 'm', input: [[1, 2, 3]] }],
    ['tokens of a prompt', '/v1/completions', { model: 'm', prompt: [1, 2, 3] }],
    ['tokens that pass through', '/v1/proxy/embeddings', { model: 'm', input: [1, 2] }],
  ])('takes no %s, in which nobody reads words', async (_what, path, body) => {
    expect(await outcomeOf(path, { body })).toMatchObject({ status: 446, calls: [] });
  });

  it('reads files of text that pass through, and takes none that nobody can read', async () => {
    const upload = async (file: Blob) =>
      outcomeOf('/v1/files', await form({ purpose: 'batch', file }));
    const line = (text: string) => new Blob([`${JSON.stringify(chat(text))}\n`]);
    expect((await upload(line('fine'))).status).toBe(200);
    expect(await upload(line(word))).toMatchObject({ status: 446, calls: [] });
    const escaped = new Blob([`{"a":"\\u0066orbidden"}\n{"b":1}`]);
    expect(await upload(escaped)).toMatchObject({ status: 446, calls: [] });
    const utf16 = new Blob([Buffer.from(word, 'utf16le')]);
    expect(await upload(utf16)).toMatchObject({ status: 446, calls: [] });
    // What is named as a text is read as one, whatever its type says.
    const noUtf8 = Buffer.concat([Buffer.from(word), Buffer.from([0xe9])]);
    const sent = async (type: string, name: string) =>
      outcomeOf('/v1/files', await form({ file: new File([noUtf8], name, { type }) }));
    for (const [type, name] of [
      ['image/png', 'a.txt'],
      ['audio/mpeg', 'a.pdf'],
      ['text/plain', 'a.png'],
    ] as const)
      expect(await sent(type, name), name).toMatchObject({ status: 446, calls: [] });
    expect((await sent('image/png', 'a.PNG')).status).toBe(200);
    const prompt = new File([noUtf8], 'p.txt', { type: 'image/png' });
    const edited = await form({ model: 'm', prompt, image: sound });
    expect(await outcomeOf('/v1/images/edits', edited)).toMatchObject({ status: 446, calls: [] });
  });

  it('is explained: what would run, in which order, and that it denies', async () => {
    const explained = async (text: string) => {
      const headers = config({ input_guardrails: [{ id: 'own', ...passes }] });
      const { text: told } = await outcomeOf('/v1/explain/chat/completions', {
        body: chat(text),
        headers,
        host: null,
      });
      return JSON.parse(told);
    };
    const denied = await explained(word);
    expect(denied.would_fail).toMatchObject({ status: 446, code: 'guardrail.denied' });
    expect(denied.plan[0].guardrails.input).toMatchObject([
      { id: inputSlug, enforced: true, deny: true, verdict: false },
      { id: 'own', enforced: false, verdict: true, checks: [{ verdict: true }] },
    ]);
    const passed = await explained('fine');
    expect(passed.would_fail).toBeUndefined();
    expect(passed.plan[0].guardrails.input[0]).toMatchObject({ verdict: true });
  });

  it('is in force, or out of it, at every gateway when its change is answered', async () => {
    const statuses = async () => {
      const answers = [0, 1, 2].map((gateway) =>
        scenario.chat({ body: chat('it is secret'), gateway }),
      );
      return (await Promise.all(answers)).map(({ status }) => status);
    };
    for (let round = 0; round < 3; round++) {
      await scenario.admin('PUT', `/guardrails/${inputSlug}`, {
        checks: [{ id: 'default.regexMatch', parameters: { rule: 'secret', not: true } }],
      });
      expect(await statuses()).toEqual([446, 446, 446]);
      await scenario.admin('PUT', `/guardrails/${inputSlug}`, { checks: [forbid(['all'])] });
      expect(await statuses()).toEqual([200, 200, 200]);
    }
  });
});

describe('an enforced guardrail of answers', () => {
  let slug: string;
  beforeAll(async () => {
    slug = await save('Output', {
      id: 'default.regexMatch',
      parameters: { rule: 'Hi there', not: true, subjects: ['all'] },
    });
    await enforce({ input_guardrails: [], output_guardrails: [slug] });
  });

  const heard = Object.entries(ways).flatMap(([id, way]) =>
    typeof way === 'string' || id === 'embed' || id === 'createSpeech' ? [] : [[id, way] as const],
  );

  it.each(heard)('keeps back what %s is answered', async (_id, way) => {
    const denied = await outcomeOf(way.path, await optionsOf(way, 'fine'));
    // Some formats are translated, and do not know the answer of a chat.
    expect(denied.text).not.toMatch(/"content":"Hi there"/);
    expect([446, 502]).toContain(denied.status);
  });

  it.each(saidToAgents)(
    'keeps back what an agent answers: %s',
    async (_what, protocol, path, body) => {
      const slug = await agentOf(protocol);
      const denied = await outcomeOf(`/v1/agent/${slug}/${path}`, { body: body('fine') });
      expect([denied.status, denied.calls.length], denied.text).toEqual([446, 1]);
      expect(denied.text).not.toContain('Hi there');
    },
  );

  it('keeps back a stream that passes through, which nobody hears', async () => {
    const body = chat('fine', { stream: true });
    expect((await outcomeOf('/v1/proxy/chat/completions', { body })).status).toBe(446);
  });

  it('is not told to hooks of the caller’s before it has looked', async () => {
    const { text, status } = await outcomeOf('/v1/chat/completions', {
      body: chat('fine'),
      headers: {
        'x-service-config': JSON.stringify({
          provider: 'openai',
          api_key: 'sk',
          custom_host: `${scenario.upstream.url}/v1`,
          output_guardrails: [{ id: 'own', regexMatch: { rule: 'Hi' } }],
        }),
      },
      host: null,
    });
    expect(status).toBe(446);
    expect(JSON.parse(text).hook_results.after_request_hooks).toMatchObject([
      { id: 'own', skipped: true },
      { id: slug, deny: true },
    ]);
  });

  it('lets a workspace without any pay nothing, and see nothing', async () => {
    await enforce({ output_guardrails: [] });
    const { status, text } = await outcomeOf('/v1/chat/completions', { body: chat('fine') });
    expect([status, JSON.parse(text).hook_results]).toEqual([200, undefined]);
  });
});

describe('a guardrail of the organisation', () => {
  it('holds in each workspace that is not exempt, input and output apart', async () => {
    const check = (rule: string) => ({
      id: 'default.regexMatch',
      parameters: { rule, not: true },
    });
    const [input, output] = [
      await save('Input', check('forbidden'), 'organisation'),
      await save('Output', check('Hi there'), 'organisation'),
    ];
    await scenario.admin('PUT', '/admin/organisation/defaults', {
      input_guardrails: [input],
      output_guardrails: [output],
    });
    const { workspace_id } = scenario.stack.credentials;
    const exempt = (side: string, excluded: boolean) =>
      scenario.admin('PUT', `/workspace-exclusions/${side}-guardrails`, {
        workspaces: [{ workspace_id, excluded }],
      });
    /** Who denies what is asked with the word, and without it. */
    const deniers = async () => {
      const ids = [];
      for (const text of [`it is ${word}`, 'fine']) {
        const { text: told } = await outcomeOf('/v1/chat/completions', { body: chat(text) });
        const { hook_results: results = {} } = JSON.parse(told);
        const all = [results.before_request_hooks ?? [], results.after_request_hooks ?? []].flat();
        ids.push(all.flatMap(({ id, deny }: { id: string; deny: boolean }) => (deny ? [id] : [])));
      }
      return ids;
    };
    expect(await deniers()).toEqual([[input], [output]]);
    await exempt('input', true);
    expect(await deniers()).toEqual([[output], [output]]);
    await exempt('output', true);
    expect(await deniers()).toEqual([[], []]);
    await exempt('input', false);
    expect(await deniers()).toEqual([[input], []]);
    await exempt('output', false);
    expect(await deniers()).toEqual([[input], [output]]);
    await scenario.admin('PUT', '/admin/organisation/defaults', {
      input_guardrails: [],
      output_guardrails: [],
    });
  });
});

describe('what comes of a verdict', () => {
  const rule = (pattern: string, over: object = {}) => ({ regexMatch: { rule: pattern }, ...over });
  const passes = rule('.');
  const fails = (over: object = {}) => rule('never said', { id: 'fails', ...over });
  const asked = 'fails at the provider';

  it.each<[what: string, status: number, config: object, text?: string, called?: number]>([
    ['all pass', 200, { input_guardrails: [passes], output_guardrails: [passes] }],
    ['the input fails', 246, { input_guardrails: [fails()] }],
    ['the output fails', 246, { output_guardrails: [fails()] }],
    ['the input fails, and so does the provider', 500, { input_guardrails: [fails()] }, asked],
    ['there is no output', 500, { output_guardrails: [fails({ deny: true })] }, asked],
    ['the input is denied', 446, { input_guardrails: [fails({ deny: true })] }, 'fine', 0],
    ['the output is denied', 446, { output_guardrails: [fails({ deny: true })] }],
    [
      'the input is denied softly',
      200,
      { input_guardrails: [fails({ soft_deny_200: true })] },
      'fine',
      0,
    ],
    ['the output is denied softly', 200, { output_guardrails: [fails({ soft_deny_200: true })] }],
    ['nobody waits', 200, { input_guardrails: [fails({ deny: true, async: true })] }],
  ])('when %s: %i', async (what, status, hooks, text = 'fine', called = 1) => {
    const outcome = await outcomeOf('/v1/chat/completions', {
      body: chat(text),
      headers: {
        'x-service-config': JSON.stringify({
          provider: 'openai',
          api_key: 'sk',
          custom_host: `${scenario.upstream.url}/v1`,
          ...hooks,
        }),
      },
      host: null,
    });
    expect([outcome.status, outcome.calls.length], outcome.text).toEqual([status, called]);
    const told = JSON.parse(outcome.text);
    // Where nothing ran, or nobody waited, there is nothing to tell.
    const isTold = what !== 'nobody waits' && what !== 'there is no output';
    expect('hook_results' in told).toBe(isTold);
    expect('error' in told).toBe(status >= 400);
    const isSoft = what.endsWith('softly');
    expect(told.choices?.[0].message.content.includes('hook_results') ?? false).toBe(isSoft);
  });
});

// Last: afterwards there is no control plane.
describe('what is held on disk', () => {
  it('has configs, prompts, partials and guardrails with their versions, and enforces them', async () => {
    const { workspace_id } = scenario.stack.credentials;
    const forbids = (rule: string) => [
      { id: 'default.regexMatch', parameters: { rule, not: true } },
    ];
    const made = async (path: string, body: object) =>
      (await scenario.admin<{ slug: string }>('POST', path, { workspace_id, ...body })).slug;
    const guardrail = await made('/guardrails', {
      name: 'Versions',
      checks: forbids('first'),
      actions: { deny: true },
    });
    await scenario.admin('PUT', `/guardrails/${guardrail}`, { checks: forbids('second') });
    const slug = freshName('saved');
    await made('/integrations', {
      name: 'saved',
      slug,
      ai_provider_id: 'openai',
      key: 'sk',
      configurations: { custom_host: `${scenario.upstream.url}/v1` },
      create_default_provider: false,
    });
    const provider = await made('/providers', {
      name: 'saved',
      slug,
      integration_id: slug,
    });
    const configs: string[] = [];
    for (const reference of [`${guardrail}@1`, `${guardrail}@2`, guardrail])
      configs.push(
        await saveConfig(scenario, reference, {
          provider: `@${provider}`,
          input_guardrails: [reference],
        }),
      );
    const partial = await made('/prompts/partials', { name: 'Word', string: word });
    const prompt = await made('/prompts', {
      name: 'Saying',
      collection_id: 'default',
      string: JSON.stringify([{ role: 'user', content: `{{what}} {{>${partial}}}` }]),
      parameters: {},
      model: 'gpt-4o-mini',
      virtual_key: provider,
    });
    await enforce({ input_guardrails: [inputSlug] });

    const statuses = async () => {
      const found: unknown[] = [];
      for (const config of configs)
        for (const text of ['first', 'second', 'third']) {
          const headers = { 'x-service-config': config };
          const asked = { body: chat(text), headers, host: null };
          const { status, text: told } = await outcomeOf('/v1/chat/completions', asked);
          found.push([200, 446].includes(status) ? status : told);
        }
      const denied = await outcomeOf('/v1/chat/completions', { body: chat(word) });
      const rendered = await outcomeOf(`/v1/prompts/${prompt}/render`, {
        body: { variables: { what: 'it is' } },
      });
      return [...found, denied.status, JSON.parse(rendered.text).data.messages[0].content];
    };
    const expected = [446, 200, 200, 200, 446, 200, 200, 446, 200, 446, `it is ${word}`];
    expect(await statuses()).toEqual(expected);
    await scenario.stack.part('control-plane').stop();
    await scenario.stack.part('gateway').stop();
    await scenario.stack.part('gateway').start();
    expect(await statuses()).toEqual(expected);
  });
});
