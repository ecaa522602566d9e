import { gzipSync } from 'node:zlib';
import { usage } from '@sluice/proto-stubs';
import { bytes, inTurns, json, sse, startUpstream, type Upstream } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AgentLab, type AskOptions, type SavedAgent, startAgentLab } from './agent-lab.ts';
import { describeStrangers } from './strangers.ts';

/** What enforced guardrails do with messages to agents and their answers, for clients that know nothing of it. */

let lab: AgentLab;
let agent: Upstream;
const agents: Record<'a2a' | 'raw' | 'openai', SavedAgent> = {} as never;
const slugs: Record<
  'denies' | 'masks' | 'denies held' | 'masks held' | 'by sentence' | 'denies digits',
  string
> = {} as never;

const word = 'forbidden';
const mail = 'ada@example.org';
const { Outcome } = usage;

beforeAll(async () => {
  [lab, agent] = await Promise.all([startAgentLab(), startUpstream()]);
  const denies = { id: 'default.regexMatch', parameters: { rule: word, not: true } };
  const masks = {
    id: 'default.regexReplace',
    parameters: { rule: '[\\w.]+@[\\w.]+', redactText: '[mail]' },
  };
  const held = { stream_mode: 'window', hold_chars: 64 };
  [
    agents.a2a,
    agents.raw,
    agents.openai,
    slugs.denies,
    slugs.masks,
    slugs['denies held'],
    slugs['masks held'],
    slugs['by sentence'],
    slugs['denies digits'],
  ] = await Promise.all([
    lab.save(`${agent.url}/a2a`),
    lab.save(`${agent.url}/raw`, { protocol: 'raw' }),
    lab.save(`${agent.url}/openai`, { protocol: 'openai' }),
    guardrail('Denies', denies, { deny: true }),
    guardrail('Masks', masks, { deny: false }),
    guardrail('Denies held', denies, { deny: true, ...held }),
    guardrail('Masks held', masks, { deny: false, ...held }),
    guardrail('By sentence', denies, { deny: true, stream_mode: 'sentence' }),
    guardrail(
      'Denies digits',
      { id: 'default.regexMatch', parameters: { rule: '41111111', not: true } },
      { deny: true, ...held },
    ),
  ]);
});
afterAll(() => Promise.all([lab?.stop(), agent?.close()]));
beforeEach(() => agent.handle(result({ kind: 'message', parts: [{ kind: 'text', text: 'Hi' }] })));

async function guardrail(name: string, check: object, actions: object): Promise<string> {
  const { workspace_id } = lab.scenario.stack.credentials;
  const made = await lab.scenario.admin<{ slug: string }>('POST', '/guardrails', {
    name,
    workspace_id,
    checks: [check],
    actions,
  });
  return made.slug;
}

function enforce(input: (keyof typeof slugs)[], output: (keyof typeof slugs)[] = []) {
  const { workspace_slug } = lab.scenario.stack.credentials;
  const defaults = {
    input_guardrails: input.map((name) => slugs[name]),
    output_guardrails: output.map((name) => slugs[name]),
  };
  return lab.scenario.admin('PUT', `/admin/workspaces/${workspace_slug}`, { defaults });
}

const result = (value: unknown) => json(200, { jsonrpc: '2.0', id: 'call-1', result: value });
const message = (text: string, more: object = {}) => ({
  message: {
    kind: 'message',
    messageId: '0b5f3ac1-6f0e-4c5e-9d0e-2a4b6c8d0e1f',
    role: 'user',
    parts: [{ kind: 'text', text }],
    ...more,
  },
});
const rpc = (method: string, params: unknown): AskOptions => ({
  method: 'POST',
  body: JSON.stringify({ jsonrpc: '2.0', id: 'call-1', method, params }),
});
const post = (body: unknown): AskOptions => ({ method: 'POST', body: JSON.stringify(body) });
const encoded = (text: string) => Buffer.from(text).toString('base64');

async function recordOf(answer: Response) {
  const id = answer.headers.get('x-service-request-id') ?? '';
  const [record, ...more] = await lab.records.of(id, 1);
  expect(more).toEqual([]);
  return record ?? expect.fail('no record');
}

const hookOf = (slug: string, event: string, verdict: boolean) =>
  `"id":"${slug}","event":"${event}","verdict":${verdict}`;

/** Everything by which a text comes to an agent. */
const ways: [what: string, of: keyof typeof agents, path: string, (text: string) => AskOptions][] =
  [
    ['message/send', 'a2a', '', (text) => rpc('message/send', message(text))],
    ['message/stream', 'a2a', '', (text) => rpc('message/stream', message(text))],
    ['SendMessage', 'a2a', '', (text) => rpc('SendMessage', message(text))],
    ['tasks/send', 'a2a', '', (text) => rpc('tasks/send', message(text))],
    ['a method that nobody knows', 'a2a', '', (text) => rpc('x/y', { deep: [{ a: text }] })],
    ['the name of a method', 'a2a', '', (text) => rpc(text, {})],
    ['REST of 0.3', 'a2a', 'v1/message:send', (text) => post(message(text))],
    ['REST of 1.0', 'a2a', 'message:send', (text) => post(message(text))],
    ['a stream of REST', 'a2a', 'message:stream', (text) => post(message(text))],
    ['another path', 'a2a', 'ext/other', (text) => post({ say: text })],
    [
      'data',
      'a2a',
      '',
      (text) => rpc('message/send', message('x', { parts: [{ data: { a: text } }] })),
    ],
    [
      'a name of data',
      'a2a',
      '',
      (text) => rpc('message/send', message('x', { parts: [{ data: { [`it is ${text}!`]: 1 } }] })),
    ],
    [
      'metadata',
      'a2a',
      '',
      (text) => rpc('message/send', message('x', { metadata: { id: text } })),
    ],
    [
      'the name of a message',
      'a2a',
      '',
      (text) => rpc('message/send', message('x', { messageId: text })),
    ],
    [
      'the name of a conversation',
      'a2a',
      '',
      (text) => rpc('message/send', message('x', { contextId: text })),
    ],
    [
      'a file',
      'a2a',
      '',
      (text) =>
        rpc(
          'message/send',
          message('x', {
            parts: [{ kind: 'file', file: { mimeType: 'text/plain', bytes: encoded(text) } }],
          }),
        ),
    ],
    [
      'a file of 1.0',
      'a2a',
      '',
      (text) =>
        rpc(
          'SendMessage',
          message('x', { parts: [{ raw: encoded(text), mediaType: 'text/plain' }] }),
        ),
    ],
    [
      'members that others spell so',
      'a2a',
      '',
      (text) => rpc('message/send', message('x', { Parts: [{ Text: text }] })),
    ],
    [
      'escapes',
      'a2a',
      '',
      (text) => ({
        method: 'POST',
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 'call-1',
          method: 'message/send',
          params: message(text),
        }).replace('forbidden', '\\u0066orbidden'),
      }),
    ],
    [
      'chat',
      'openai',
      'v1/chat/completions',
      (content) => post({ messages: [{ role: 'user', content }] }),
    ],
    ['JSON', 'raw', 'any', (text) => post([{ say: text }])],
    [
      'text',
      'raw',
      'any',
      (text) => ({ method: 'PUT', body: text, headers: { 'content-type': 'text/plain' } }),
    ],
    [
      'a form',
      'raw',
      'any',
      (text) => ({
        method: 'POST',
        body: new URLSearchParams({ a: text }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    ],
    [
      'an address',
      'raw',
      `any?q=it%20is`,
      (text) => ({ method: 'GET', ...(text === 'fine' ? {} : {}) }),
    ],
  ];

describe('what a guardrail of requests denies', () => {
  beforeAll(() => enforce(['denies']));

  it.each(ways)('is not sent: %s', async (what, of, path, options) => {
    const before = agent.requests.length;
    const denied = await lab.ask(agents[of].slug, path, options(word));
    const text = await denied.text();
    expect([denied.status, agent.requests.length], text).toEqual([446, before]);
    expect(text).toContain(slugs.denies);
    const told = JSON.parse(text);
    const checks = [{ id: 'default.regexMatch', verdict: false }];
    const hook_results = {
      before_request_hooks: [{ id: slugs.denies, verdict: false, deny: true, checks }],
      after_request_hooks: [],
    };
    if (path === '' && of === 'a2a')
      expect(told).toMatchObject({
        jsonrpc: '2.0',
        id: 'call-1',
        error: {
          code: -32000,
          data: [{ metadata: { code: 'guardrail.denied' } }, { value: { hook_results } }],
        },
      });
    else expect(told).toMatchObject({ error: { type: 'hooks_failed' }, hook_results });
    const record = await recordOf(denied);
    expect([record.outcome, record.errorCode]).toEqual([Outcome.DENIED, 'guardrail.denied']);
    expect(record.decisionJson).toContain(hookOf(slugs.denies, 'before', false));
    if (what === 'an address') return;
    // In the suite of every third way (`npm run test:long`: of all).
    if (!inTurns(ways, 3).some(([name]) => name === what)) return;
    const passed = await lab.ask(agents[of].slug, path, options('fine'));
    expect([passed.status, agent.requests.length]).toEqual([200, before + 1]);
    await passed.text();
    const good = await recordOf(passed);
    expect(good.outcome).toBe(Outcome.SUCCESS);
    expect(good.decisionJson).toContain(hookOf(slugs.denies, 'before', true));
  });

  it('is not sent by headers, inline configs and compression', async () => {
    const before = agent.requests.length;
    const config = JSON.stringify({ input_guardrails: [], default_input_guardrails: [] });
    const headers = { 'x-service-config': config, 'x-service-guardrails': 'none' };
    for (const answer of [
      await lab.ask(agents.a2a.slug, '', { ...rpc('message/send', message(word)), headers }),
      await lab.ask(agents.raw.slug, 'any', {
        method: 'POST',
        body: gzipSync(JSON.stringify({ say: word })) as never,
        headers: { 'content-encoding': 'gzip' },
      }),
    ])
      expect([answer.status, await answer.text()]).toEqual([446, expect.any(String)]);
    expect(agent.requests.length).toBe(before);
  });

  it('leaves cards and looking at tasks alone', async () => {
    agent.handle(
      result({ kind: 'task', id: 'task-g', contextId: 'c-g', status: { state: 'working' } }),
    );
    const begun = await lab.ask(agents.a2a.slug, '', rpc('message/send', message('fine')));
    expect(begun.status, await begun.text()).toBe(200);
    const looked = await lab.ask(agents.a2a.slug, '', {
      method: 'POST',
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 7,
        method: 'tasks/get',
        params: { id: 'task-g' },
      }),
    });
    expect(looked.status).toBe(200);
    await looked.text();
    expect((await recordOf(looked)).decisionJson).not.toContain(slugs.denies);
    const rest = await lab.ask(agents.a2a.slug, 'v1/tasks/task-g');
    expect(rest.status, await rest.text()).toBe(200);
    const card = {
      name: 'A',
      url: `${agent.url}/a2a`,
      skills: [],
      capabilities: {},
      description: word,
    };
    agent.handle(json(200, card));
    const shown = await lab.ask(agents.a2a.slug, '.well-known/agent-card.json');
    expect([shown.status, (await shown.text()).includes(word)]).toEqual([200, true]);
  });
});

it('a request whose body is announced and empty says nothing', async () => {
  await enforce(['denies']);
  const answer = await lab.ask(agents.raw.slug, 'any', { method: 'POST', body: '' });
  expect(answer.status, await answer.text()).toBe(200);
  const chunked = await fetch(
    `${lab.scenario.stack.gatewayUrls[0]}/v1/agent/${agents.raw.slug}/any`,
    {
      method: 'POST',
      headers: { 'x-service-api-key': lab.scenario.stack.credentials.workspace_key },
      body: new ReadableStream({ start: (controller) => controller.close() }),
      duplex: 'half',
    } as RequestInit,
  );
  expect(chunked.status, await chunked.text()).toBe(200);
});

describe('what a guardrail of requests redacts', () => {
  beforeAll(() => enforce(['masks']));

  it('is sent so, and every other byte as it came', async () => {
    const body = (text: string) =>
      `{ "jsonrpc":"2.0", "id": 12345678901234567890,"method":"message/send","params":{"message":{"messageId":"m","n":1.50,"role":"user","parts":[{"kind":"text","text":"to ${text}"},{"kind":"data","data":{"to":["${text}"]}}]}}}`;
    const answer = await lab.ask(agents.a2a.slug, '', { method: 'POST', body: body(mail) });
    expect(answer.status, await answer.text()).toBe(200);
    expect(agent.requests.at(-1)?.body.toString()).toBe(body('[mail]'));
    await lab.ask(agents.raw.slug, 'any', post({ say: mail, n: 1 }));
    expect(JSON.parse(String(agent.requests.at(-1)?.body))).toEqual({ say: '[mail]', n: 1 });
    await lab.ask(agents.raw.slug, 'any', post([mail]));
    expect(JSON.parse(String(agent.requests.at(-1)?.body))).toEqual(['[mail]']);
  });

  it('is not sent where it cannot be taken out, or names something', async () => {
    const before = agent.requests.length;
    for (const answer of [
      await lab.ask(agents.raw.slug, 'any', {
        method: 'POST',
        body: `to ${mail}`,
        headers: { 'content-type': 'text/plain' },
      }),
      await lab.ask(agents.a2a.slug, '', rpc('message/send', message('x', { contextId: mail }))),
    ])
      expect([answer.status, await answer.text()]).toEqual([
        446,
        expect.stringContaining('more than'),
      ]);
    expect(agent.requests.length).toBe(before);
  });
});

describe('what an agent answers', () => {
  beforeAll(() => enforce([], ['denies', 'masks']));
  const said = (text: string) => ({
    kind: 'message',
    messageId: 'a',
    parts: [{ kind: 'text', text }],
  });

  it.each<
    [
      string,
      keyof typeof agents,
      string,
      AskOptions,
      (text: string) => Parameters<Upstream['handle']>[0],
    ]
  >([
    ['a message', 'a2a', '', rpc('message/send', message('x')), (text) => result(said(text))],
    [
      'an error',
      'a2a',
      '',
      rpc('message/send', message('x')),
      (text) => json(200, { jsonrpc: '2.0', id: 'call-1', error: { code: -32000, message: text } }),
    ],
    [
      'a failure',
      'a2a',
      'message:send',
      post(message('x')),
      (text) => json(500, { message: text }),
    ],
    [
      'what looks like a card',
      'a2a',
      '',
      rpc('message/send', message('x')),
      (text) => result({ name: text, url: agent.url, skills: [], capabilities: {} }),
    ],
    [
      'text',
      'a2a',
      'message:send',
      post(message('x')),
      (text) => bytes(200, Buffer.from(text), { 'content-type': 'text/plain' }),
    ],
    [
      'a file',
      'a2a',
      '',
      rpc('message/send', message('x')),
      (text) =>
        result({
          kind: 'message',
          parts: [{ kind: 'file', file: { mimeType: 'text/plain', bytes: encoded(text) } }],
        }),
    ],
    ['JSON', 'raw', 'any', { method: 'GET' }, (text) => json(200, [text])],
    [
      'JSON in escapes',
      'raw',
      'any',
      { method: 'GET' },
      (text) => json(200, `{"a":"${text.replace('f', '\\u0066')}"}`),
    ],
    [
      'chat',
      'openai',
      'v1/chat/completions',
      post({}),
      (content) => json(200, { choices: [{ message: { content } }] }),
    ],
  ])('is kept back where a guardrail denies: %s', async (what, of, path, options, answer) => {
    agent.handle(answer(word));
    const denied = await lab.ask(agents[of].slug, path, options);
    const text = await denied.text();
    expect([denied.status, text.includes(slugs.denies), text.includes(word)], text).toEqual([
      446,
      true,
      false,
    ]);
    const record = await recordOf(denied);
    expect([record.outcome, record.errorCode]).toEqual([Outcome.DENIED, 'guardrail.denied']);
    expect(record.decisionJson).toContain(hookOf(slugs.denies, 'after', false));
    agent.handle(answer('fine'));
    const passed = await lab.ask(agents[of].slug, path, options);
    const given = await passed.text();
    expect(passed.status, given).toBe(what === 'a failure' ? 500 : 200);
    if (what !== 'a file') expect(given).toMatch(/(f|\\u0066)ine/);
  });

  it('is redacted, and its names and other bytes stay', async () => {
    const reply = (text: string) =>
      `{"jsonrpc":"2.0","id":"call-1", "result":{"kind":"task","id":"t-r","contextId":"c-r","n":1.0,"status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[{"kind":"text","text":"to ${text}"}]}]}}`;
    agent.handle(json(200, reply(mail)));
    const begun = await lab.ask(agents.a2a.slug, '', rpc('message/send', message('x')));
    expect(await begun.text()).toBe(reply('[mail]'));
    agent.handle(json(200, reply(mail)));
    const again = await lab.ask(agents.a2a.slug, '', rpc('tasks/get', { id: 't-r' }));
    expect(await again.text()).toBe(reply('[mail]'));
  });

  it('is given where there are no words in it: pictures, and nothing at all', async () => {
    const picture = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff]);
    agent.handle(bytes(200, picture, { 'content-type': 'image/png' }));
    const shown = await lab.ask(agents.raw.slug, 'a.png');
    expect([shown.status, Buffer.from(await shown.arrayBuffer())]).toEqual([200, picture]);
    agent.handle(bytes(204, Buffer.alloc(0)));
    expect((await lab.ask(agents.raw.slug, 'any', post({ say: 'x' }))).status).toBe(204);
    agent.handle(json(200, {}));
    expect((await lab.ask(agents.raw.slug, 'any')).status).toBe(200);
    agent.handle(json(200, picture.toString(), { 'content-type': 'text/plain' }));
    expect((await lab.ask(agents.raw.slug, 'any', { method: 'HEAD' })).status).toBe(200);
  });

  it('is kept back where nobody can read it', async () => {
    const gone = async (reply: Parameters<Upstream['handle']>[0], of: keyof typeof agents) => {
      agent.handle(reply);
      const answer = await lab.ask(
        agents[of].slug,
        of === 'a2a' ? '' : 'any',
        rpc('message/send', message('x')),
      );
      return [answer.status, await answer.text()];
    };
    const packed = (body: Buffer) =>
      bytes(200, body, { 'content-encoding': 'gzip', 'content-type': 'application/json' });
    // What can be unpacked is looked at.
    expect(await gone(packed(gzipSync('{}')), 'a2a')).toEqual([200, '{}']);
    const worded = packed(gzipSync(JSON.stringify({ say: word })));
    expect(await gone(worded, 'a2a')).toEqual([446, expect.any(String)]);
    expect(await gone(worded, 'raw')).toEqual([446, expect.any(String)]);
    expect(await gone(packed(Buffer.from('{}')), 'a2a')).toEqual([502, expect.any(String)]);
    expect(await gone(packed(Buffer.from('{}')), 'raw')).toEqual([446, expect.any(String)]);
    const binary = bytes(200, Buffer.from([0xff, 0, 1]), {
      'content-type': 'application/octet-stream',
    });
    expect(await gone(binary, 'raw')).toEqual([446, expect.any(String)]);
    const twice = json(200, `{"jsonrpc":"2.0","id":"call-1","result":{"a":"x","a":"y"}}`);
    expect(await gone(twice, 'a2a')).toEqual([446, expect.any(String)]);
    // Nobody can look at a stream of words that nobody knows.
    expect(await gone(sse([{ say: 'fine' }]), 'raw')).toEqual([446, expect.any(String)]);
    expect(await gone(sse([{ choices: [{ delta: { content: 'fine' } }] }]), 'openai')).toEqual([
      446,
      expect.any(String),
    ]);
  });
});

it('a word that one of two artifacts says in pieces is found, whatever the other says between them', async () => {
  const piece = (artifactId: string, text: string) => ({
    jsonrpc: '2.0',
    id: 'call-1',
    result: {
      kind: 'artifact-update',
      taskId: 't-two',
      contextId: 'c-two',
      append: true,
      artifact: { artifactId, parts: [{ kind: 'text', text }] },
    },
  });
  for (const looks of ['denies', 'denies held', 'by sentence'] as const) {
    await enforce([], [looks]);
    agent.handle(
      sse([
        piece('one', `it is ${word.slice(0, 4)}`),
        piece('two', 'or '),
        piece('one', word.slice(4)),
      ]),
    );
    const answer = await lab.ask(agents.a2a.slug, '', rpc('message/stream', message('x')));
    expect(await answer.text(), looks).toContain('"code":-32000');
  }
});

it('numbers and names in data are looked at as what is said there', async () => {
  await enforce(['denies digits'], ['denies digits']);
  const parts = (data: unknown) => ({
    kind: 'message',
    role: 'agent',
    parts: [{ kind: 'data', data }],
  });
  for (const data of [{ n: 41111111 }, [41111111], { '41111111': 1 }]) {
    const sent = rpc('message/send', {
      message: { ...message('x').message, parts: parts(data).parts },
    });
    expect((await lab.ask(agents.a2a.slug, '', sent)).status).toBe(446);
    agent.handle(result(parts(data)));
    const asked = rpc('message/send', message('x'));
    expect((await lab.ask(agents.a2a.slug, '', asked)).status).toBe(446);
  }
  agent.handle(sse([{ jsonrpc: '2.0', id: 'call-1', result: parts({ n: 41111111 }) }]));
  const answer = await lab.ask(agents.a2a.slug, '', rpc('message/stream', message('x')));
  expect(await answer.text()).toContain('"code":-32000');
});

it('a task whose answer is kept back was paid for, and stays its caller’s', async () => {
  await enforce([], ['denies']);
  const task = (text: string) => ({
    kind: 'task',
    id: 't-paid',
    contextId: 'c-paid',
    status: { state: 'working', message: { role: 'agent', parts: [{ kind: 'text', text }] } },
    metadata: { usage: { prompt_tokens: 7, completion_tokens: 5 } },
  });
  agent.handle(result(task(word)));
  const denied = await lab.ask(agents.a2a.slug, '', rpc('message/send', message('x')));
  expect(denied.status, await denied.text()).toBe(446);
  const record = await recordOf(denied);
  expect([record.inputTokens, record.outputTokens].map(Number)).toEqual([7, 5]);
  expect(record).toMatchObject({ outcome: Outcome.DENIED, taskId: 't-paid', upstreamStatus: 200 });
  agent.handle(result(task('fine')));
  const cancelled = await lab.ask(agents.a2a.slug, '', rpc('tasks/cancel', { id: 't-paid' }));
  expect(await cancelled.json()).toMatchObject({ result: { id: 't-paid' } });
});

/** An event of a task, of either generation and binding. */
const forms = {
  'JSON-RPC of 0.3': (text: string) => ({
    jsonrpc: '2.0',
    id: 'call-1',
    result: {
      kind: 'artifact-update',
      taskId: 't-s',
      contextId: 'c-s',
      append: true,
      artifact: { artifactId: 'a', parts: [{ kind: 'text', text }] },
    },
  }),
  'messages of a status': (text: string) => ({
    jsonrpc: '2.0',
    id: 'call-1',
    result: {
      kind: 'status-update',
      taskId: 't-s',
      contextId: 'c-s',
      status: {
        state: 'working',
        message: { role: 'agent', messageId: `m-${text.length}`, parts: [{ kind: 'text', text }] },
      },
    },
  }),
  'REST of 1.0': (text: string) => ({
    artifactUpdate: {
      taskId: 't-s',
      contextId: 'c-s',
      artifact: { artifactId: 'a', parts: [{ text }] },
    },
  }),
};
const pathOf = (form: string) => (form.startsWith('REST') ? 'message:stream' : '');
const asked = (form: string) =>
  form.startsWith('REST') ? post(message('x')) : rpc('message/stream', message('x'));
const events = (text: string) =>
  text
    .split('\n\n')
    .flatMap((event) => /^data: (.+)$/m.exec(event)?.[1] ?? [])
    .map((data) => JSON.parse(data));
interface Saying {
  readonly artifact?: { readonly parts?: readonly { readonly text?: string }[] };
}
/** What an event of a task says. */
const wordsIn = (event: {
  result?: Saying & { status?: { message?: Saying['artifact'] } };
  artifactUpdate?: Saying;
}): string => {
  const { artifact, status } = event.result ?? {};
  const { parts = [] } = event.artifactUpdate?.artifact ?? artifact ?? status?.message ?? {};
  return parts.map(({ text }) => text).join('');
};

describe.each(Object.entries(forms))('what an agent streams, in %s', (form, event) => {
  const pieces = ['This is for', 'bidden and ', 'more of it ', 'until the end.'];
  async function stream(texts: string[]) {
    agent.handle(sse(texts.map((text) => `data: ${JSON.stringify(event(text))}\n\n`)));
    const answer = await lab.ask(agents.a2a.slug, pathOf(form), asked(form));
    return { answer, text: await answer.text() };
  }

  it('passes as it came where nothing is found, whoever looks', async () => {
    await enforce([], ['denies', 'masks']);
    const first = await stream(['It is ', 'fine.']);
    expect(first.text).toBe(
      ['It is ', 'fine.'].map((text) => `data: ${JSON.stringify(event(text))}\n\n`).join(''),
    );
    const record = await recordOf(first.answer);
    expect(record.outcome).toBe(Outcome.SUCCESS);
    expect(record.decisionJson).toContain(hookOf(slugs.denies, 'after', true));
    await enforce([], ['denies held', 'masks held']);
    expect((await stream(['It is ', 'fine.'])).text).toBe(first.text);
  });

  it.each(['denies held', 'by sentence'] as const)(
    'ends by an error before a denied word: %s',
    async (name) => {
      await enforce([], [name]);
      const { answer, text } = await stream(pieces);
      const told = events(text);
      expect(told.slice(0, -1).map(wordsIn).join('')).not.toContain('bidden');
      expect(JSON.stringify(told.at(-1))).toContain(slugs[name]);
      if (form.startsWith('JSON-RPC'))
        expect(told.at(-1)).toMatchObject({
          jsonrpc: '2.0',
          id: 'call-1',
          error: { code: -32000 },
        });
      const record = await recordOf(answer);
      expect([record.outcome, record.errorCode]).toEqual([Outcome.DENIED, 'guardrail.denied']);
      expect(record.decisionJson).toContain(hookOf(slugs[name], 'after', false));
    },
  );

  it('ends by an error where what denies looks at its end', async () => {
    await enforce([], ['denies']);
    const { answer, text } = await stream(pieces);
    const told = events(text);
    expect(told.length).toBe(pieces.length + 1);
    expect(JSON.stringify(told.at(-1))).toContain(slugs.denies);
    expect((await recordOf(answer)).outcome).toBe(Outcome.DENIED);
  });

  it('is redacted across its events, wherever they cut it', async () => {
    await enforce([], ['masks held']);
    const whole = `Write to ${mail} and to others, too.`;
    const { length } = `Write to ${mail}`;
    const cuts = Array.from({ length: mail.length + 1 }, (_, at) => 'Write to '.length + at);
    expect(cuts.at(-1)).toBe(length);
    // In the suite every fifth, and another form the next (`npm run test:long`: all).
    for (const at of inTurns(cuts, 5, Object.keys(forms).indexOf(form))) {
      const { text } = await stream([
        whole.slice(0, at),
        whole.slice(at, at + 12),
        whole.slice(at + 12),
      ]);
      expect(events(text).map(wordsIn).join('')).toBe('Write to [mail] and to others, too.');
    }
  });

  it('is heard however its lines end, and wherever its bytes are cut', async () => {
    await enforce([], ['denies held']);
    const bytesOf = pieces
      .map((text) => JSON.stringify(event(text), null, 1).split('\n'))
      .map((lines) => `id: 1\r\n${lines.map((line) => `data: ${line}\r\n`).join('')}\r\n`);
    agent.handle(sse(bytesOf, { chunking: [1, 7, 3] }));
    const answer = await lab.ask(agents.a2a.slug, pathOf(form), asked(form));
    const text = await answer.text();
    expect(text).toContain(slugs['denies held']);
    expect(text).not.toContain('bidden');
    expect((await recordOf(answer)).outcome).toBe(Outcome.DENIED);
  });
});

describe('an event of a stream that readers could take for something else', () => {
  const said = (text: string) => JSON.stringify(forms['JSON-RPC of 0.3'](text));
  const odd: Record<string, string> = {
    'a list': `[${said(word)}]`,
    'a text': JSON.stringify(`it is ${word}`),
    words: `it is ${word}`,
    'cut off': said(word).slice(0, -2),
    'a doubled text': said('fine').replace('"text":"fine"', `"text":"${word}","text":"fine"`),
    'a doubled name in other letters': said('fine').replace(
      '"text":"fine"',
      `"text":"${word}","\\u0074ext":"fine"`,
    ),
  };
  it.each(Object.entries(odd))('ends it: %s', async (what, data) => {
    const ways = ['denies held', 'masks held', 'by sentence', 'denies'] as const;
    // In the suite half of those that look, in turns (`npm run test:long`: all).
    for (const looks of inTurns(ways, 2, Object.keys(odd).indexOf(what))) {
      await enforce([], [looks]);
      agent.handle(sse([said('Hello there. '), data, said('more')].map((e) => `data: ${e}\n\n`)));
      const answer = await lab.ask(agents.a2a.slug, '', rpc('message/stream', message('x')));
      const told = (await answer.text()).trimEnd().split('\n\n');
      expect(JSON.parse(told.at(-1)?.replace(/^data: /, '') ?? ''), looks).toMatchObject({
        jsonrpc: '2.0',
        id: 'call-1',
        error: expect.anything(),
      });
      // What is looked at when it is over has passed by then.
      if (looks !== 'denies') expect(told.join('')).not.toContain(word);
      expect((await recordOf(answer)).outcome, looks).not.toBe(Outcome.SUCCESS);
    }
  });

  it('is none without a guardrail, nor at the end of a stream', async () => {
    await enforce([], []);
    const all = [odd['a list'], said('end')].map((e) => `data: ${e}\n\n`);
    agent.handle(sse(all));
    const asked = () => lab.ask(agents.a2a.slug, '', rpc('message/stream', message('x')));
    expect(await (await asked()).text()).toBe(all.join(''));
    await enforce([], ['denies held', 'denies']);
    const done = [`data: ${said('end')}\n\n`, 'data: [DONE]\n\n'];
    agent.handle(sse(done));
    expect(await (await asked()).text()).toBe(done.join(''));
  });
});

it('names of members are looked at in streams as well', async () => {
  const event = (more: object) => ({
    jsonrpc: '2.0',
    id: 'call-1',
    result: {
      kind: 'artifact-update',
      taskId: 't-n',
      contextId: 'c-n',
      artifact: { artifactId: 'a', parts: [], ...more },
    },
  });
  const denied: [keyof typeof slugs, object][] = [
    ['denies held', { parts: [{ kind: 'data', data: { [word]: 1 } }] }],
    ['denies', { parts: [{ kind: 'data', data: { deep: [{ [word]: 1 }] } }] }],
    ['denies held', { metadata: { [word]: true } }],
    ['by sentence', { [`it is ${word}!`]: 1 }],
    // Nobody finds a member under another name.
    ['masks held', { parts: [{ kind: 'data', data: { [mail]: 1 } }] }],
  ];
  for (const [looks, more] of denied) {
    await enforce([], [looks]);
    agent.handle(sse([event({}), event(more)]));
    const answer = await lab.ask(agents.a2a.slug, '', rpc('message/stream', message('x')));
    const text = await answer.text();
    expect(text, JSON.stringify(more)).toContain('"code":-32000');
    if (looks !== 'denies') expect(text).not.toContain(JSON.stringify(more));
    expect((await recordOf(answer)).errorCode).toBe('guardrail.denied');
  }
  await enforce([], ['denies held', 'masks held']);
  const fine = [event({ metadata: { n: 1 } }), event({ parts: [{ data: { a: { b: 2 } } }] })];
  agent.handle(sse(fine));
  const answer = await lab.ask(agents.a2a.slug, '', rpc('message/stream', message('x')));
  expect(events(await answer.text())).toEqual(fine);
});

it('streams of agents that speak as OpenAI are held in its words', async () => {
  await enforce([], ['denies held', 'masks held']);
  const chunk = (content: string) => ({ choices: [{ index: 0, delta: { content } }] });
  const ask = async (texts: string[]) => {
    agent.handle(
      sse(
        [...texts.map(chunk), '[DONE]'].map(
          (e) => `data: ${typeof e === 'string' ? e : JSON.stringify(e)}\n\n`,
        ),
      ),
    );
    const answer = await lab.ask(agents.openai.slug, 'v1/chat/completions', post({ stream: true }));
    return answer.text();
  };
  const masked = await ask(['to ada@ex', 'ample.org now']);
  expect(masked).toContain('[mail]');
  expect(masked).toContain('[DONE]');
  const denied = await ask(['it is for', 'bidden']);
  expect(denied).toContain('hooks_failed');
  expect(denied).not.toMatch(/bidden"/);
});

describe('agents and clients of strangers, with guardrails on both sides', () => {
  beforeAll(() => enforce(['masks'], ['denies held', 'masks held']));
  describeStrangers(() => lab, word);
});

describe('however a stream ends', () => {
  const event = forms['JSON-RPC of 0.3'];
  beforeAll(() => enforce([], ['denies held', 'denies']));

  it('it has one record: cut by the agent, or left by its caller', async () => {
    const texts = ['fine. ', 'and '.repeat(40), 'more'];
    agent.handle(
      sse(
        texts.map((text) => `data: ${JSON.stringify(event(text))}\n\n`),
        { cutAfter: 2, delayMs: 20 },
      ),
    );
    const cut = await lab.ask(agents.a2a.slug, '', rpc('message/stream', message('x')));
    await cut.text().catch(() => '');
    expect((await recordOf(cut)).outcome).toBe(Outcome.PARTIAL);

    agent.handle(
      sse(
        texts.map((text) => `data: ${JSON.stringify(event(text))}\n\n`),
        { stallAfter: 2, delayMs: 20 },
      ),
    );
    const leaving = new AbortController();
    const left = await lab.ask(agents.a2a.slug, '', {
      ...rpc('message/stream', message('x')),
      signal: leaving.signal,
    });
    setTimeout(() => leaving.abort(), 200);
    await left.text().catch(() => '');
    expect((await recordOf(left)).outcome).toBe(Outcome.CALLER_GONE);
  });

  it('events are given in time while their agent says nothing more', async () => {
    agent.handle(
      sse(
        [`data: ${JSON.stringify(event('fine'))}\n\n`, `data: ${JSON.stringify(event('x'))}\n\n`],
        {
          delayMs: 20_000,
        },
      ),
    );
    const leaving = new AbortController();
    const answer = await lab.ask(agents.a2a.slug, '', {
      ...rpc('message/stream', message('x')),
      signal: leaving.signal,
    });
    const startedAt = performance.now();
    for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>)
      if (Buffer.from(piece).includes('fine')) break;
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    leaving.abort();
  });
});

it('a large message is looked at to its end, and its answer too', async () => {
  await enforce(['denies'], ['denies']);
  const data = Array.from({ length: 30_000 }, (_, at) => 1_000_000_000 + at);
  const large = (text: string) => message('x', { metadata: { data }, parts: [{ text }] });
  agent.handle(result(large('fine').message));
  const passed = await lab.ask(agents.a2a.slug, '', rpc('message/send', large('fine')));
  expect([passed.status, (await passed.text()).length > 256 * 1024]).toEqual([200, true]);
  const before = agent.requests.length;
  const denied = await lab.ask(agents.a2a.slug, '', rpc('message/send', large(word)));
  expect([denied.status, agent.requests.length], await denied.text()).toEqual([446, before]);
  agent.handle(result(large(word).message));
  const kept = await lab.ask(agents.a2a.slug, '', rpc('message/send', large('fine')));
  expect(kept.status, (await kept.text()).slice(0, 300)).toBe(446);
});

it('a workspace without any has nothing looked at', async () => {
  await enforce([]);
  const free = await lab.ask(agents.a2a.slug, '', rpc('message/send', message(word)));
  expect(free.status).toBe(200);
  await free.text();
  expect((await recordOf(free)).decisionJson).not.toContain('"event"');
});

describe('what an agent tells by calling back through the gateway', () => {
  it('is judged and redacted as its answers are', async () => {
    const hook = await startUpstream();
    const saved = await lab.save(`${agent.url}/a2a`, {
      configurations: { push_notifications: 'relay' },
    });
    await enforce([], ['denies', 'masks']);
    const configuration = { pushNotificationConfig: { url: `${hook.url}/hook` } };
    await lab.ask(saved.slug, '', rpc('message/send', { ...message('Hi'), configuration }));
    const { params } = JSON.parse(String(agent.requests.at(-1)?.body));
    const { url } = params.configuration.pushNotificationConfig;
    const tell = (text: string) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ kind: 'message', parts: [{ kind: 'text', text }] }),
      });
    expect((await tell(`write to ${mail}`)).status).toBe(200);
    expect(JSON.parse(String(hook.requests.at(-1)?.body))).toMatchObject({
      parts: [{ text: 'write to [mail]' }],
    });
    const before = hook.requests.length;
    const denied = await tell(`a ${word} word`);
    expect(denied.status).toBe(446);
    const record = await recordOf(denied);
    expect([record.endpoint, record.outcome]).toEqual(['agent:callback', Outcome.DENIED]);
    expect(record.decisionJson).toContain(hookOf(slugs.denies, 'after', false));
    expect(hook.requests.length).toBe(before);
    await enforce([]);
    await hook.close();
  });
});
