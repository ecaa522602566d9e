import { gunzipSync, gzipSync } from 'node:zlib';
import { GoogleGenAI } from '@google/genai';
import {
  freePort,
  json,
  sse,
  startUpstream,
  type Upstream,
  type UpstreamReply,
} from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { googleUploads } from './google-uploads.ts';
import { grpcClient } from './grpc.ts';
import { chatReply, errorOf, type Scenario, startScenario } from './scenario.ts';
import { shareAccount } from './share-account.ts';

/** Bodies that nobody reads, at an account that two workspaces share: what they name is seen all the same. */

const secret = 'what the other workspace wrote';
/** Ids of what the account has. */
const kept = new Set<string>();

function keep(kind: string): string {
  const id = `${kind}_${kept.size + 1}`;
  kept.add(id);
  return id;
}

/** What else an account has, in the words of its vendor: openai 7.59, @anthropic-ai/sdk 1.14, @google/genai 3.3. */
const collections: Record<string, () => UpstreamReply> = {
  '/v1/agents': () => json(200, { id: keep('agent'), object: 'agent' }),
  '/v1/agents/sessions': () => json(200, { id: keep('agentsess'), object: 'agent.session' }),
  '/v1/agents/environments': () => json(200, { id: keep('agentenv'), object: 'agent.environment' }),
  '/v1/agents/automations': () => json(200, { id: keep('agentauto'), object: 'agent.automation' }),
  '/v1/sessions': () => json(200, { id: keep('sesn'), type: 'session' }),
  '/v1/environments': () => json(200, { id: keep('env'), type: 'environment' }),
  '/v1/memory_stores': () => json(200, { id: keep('memstore'), type: 'memory_store' }),
  '/v1/vaults': () => json(200, { id: keep('vlt'), type: 'vault' }),
  '/v1/interactions': () =>
    sse([
      {
        event_type: 'interaction.created',
        interaction: { id: keep('v1_interaction'), status: 'in_progress' },
      },
      { event_type: 'step.delta', delta: { text: 'a' } },
    ]),
  '/v1/cachedContents': () => json(200, { name: `cachedContents/${keep('cache')}` }),
  '/v1/fileSearchStores': () => json(200, { name: `fileSearchStores/${keep('store')}` }),
};

/** A vendor that reads whatever can be read, and tells of what it keeps where it is shown its id. */
async function startVendor(): Promise<Upstream> {
  const vendor = await startUpstream();
  const uploads = googleUploads((id) => kept.add(id));
  vendor.handle((request) => {
    const { method, path, headers, body } = request;
    if (path.startsWith('/v1/upload/')) return uploads.answer(request);
    if (method === 'GET' && path.startsWith('/v1/v1beta/files?'))
      return json(400, { error: { message: 'Unknown name: cannot bind query parameter.' } });
    if (method === 'GET' && path === '/v1/v1beta/files')
      return json(200, { files: [...kept].map((id) => ({ name: `files/${id}`, secret })) });
    if (
      method === 'GET' &&
      (path.replace(/\?.*/, '') in collections || path.endsWith('/credentials'))
    )
      return json(200, { items: [...kept].map((id) => ({ id, secret })) });
    if (method === 'GET' || body.length === 0)
      return json(200, { id: path.split('/').at(-1), secret });
    const make = method === 'POST' ? collections[path] : undefined;
    if (make !== undefined) {
      const asked = body.toString();
      if ([...kept].some((id) => new RegExp(`\\b${id}\\b`).test(asked)))
        return json(200, { secret });
      return make();
    }
    if (path === '/v1/files')
      return json(200, { id: keep('file'), object: 'file', bytes: 3, purpose: 'user_data' });
    if (path === '/v1/files?in=bucket') {
      const id = keep('gs://bucket/file');
      return json(200, { id: encodeURIComponent(id), object: 'file', bytes: 3 });
    }
    if (path === '/v1/containers') return json(200, { id: keep('cntr'), object: 'container' });
    const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    const text = bytes.includes(0) ? bytes.toString('utf16le') : bytes.toString();
    const isForm = headers['content-type']?.startsWith('multipart/') === true;
    const asked = isForm ? text : JSON.stringify(JSON.parse(text));
    const shown = [...kept].some((id) =>
      new RegExp(`\\b${id}\\b`).test(asked.replaceAll('\\"', '')),
    );
    if (path.endsWith(':generateContent'))
      return json(200, {
        candidates: [{ content: { role: 'model', parts: [{ text: shown ? secret : 'a' }] } }],
      });
    return json(200, { ...replyTo(path, asked), secret: shown ? secret : '' });
  });
  return vendor;
}

function replyTo(path: string, asked: string): object {
  if (path.startsWith('/v1/responses'))
    return {
      id: keep('resp'),
      object: 'response',
      output: [{ type: 'code_interpreter_call', container_id: keep('cntr') }],
    };
  if (!path.startsWith('/v1/messages')) return { ...chatReply, id: keep('chatcmpl') };
  return {
    id: keep('msg'),
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [],
    container: asked.includes('code_execution') ? { id: keep('container') } : null,
  };
}

let scenario: Scenario;
let vendors: Record<'openai' | 'anthropic' | 'google', Upstream>;
let other: Record<'openai' | 'anthropic' | 'google', string>;
let grpcPort: number;
beforeAll(async () => {
  grpcPort = await freePort();
  const [running, openai, anthropic, google] = await Promise.all([
    startScenario({
      environment: { gateway: { GRPC_ENABLED: 'true', GRPC_PORT: String(grpcPort) } },
    }),
    startVendor(),
    startVendor(),
    startVendor(),
  ]);
  scenario = running;
  vendors = { openai, anthropic, google };
  other = {
    openai: await shareAccount(scenario, 'passing-openai', openai),
    anthropic: await shareAccount(scenario, 'passing-anthropic', anthropic, 'anthropic'),
    google: await shareAccount(scenario, 'passing-google', google, 'google'),
  };
});
afterAll(async () => {
  await Promise.all([scenario.stop(), ...Object.values(vendors).map((one) => one.close())]);
});

type Vendor = 'openai' | 'anthropic';
type Kind = 'file' | 'address' | 'container' | 'thread';
interface Over {
  key?: string;
  headers?: Record<string, string>;
}

const ask = (vendor: Vendor, path: string, body: RequestInit['body'], over: Over = {}) =>
  fetch(`${scenario.stack.gatewayUrls[0]}${path}`, {
    method: 'POST',
    headers: {
      'x-service-api-key': over.key ?? scenario.stack.credentials.workspace_key,
      'x-service-provider': `@passing-${vendor}`,
      'content-type': 'application/json',
      ...over.headers,
    },
    body,
    duplex: 'half',
  } as RequestInit);

async function upload(vendor: Vendor, query = ''): Promise<string> {
  const form = new FormData();
  form.set('purpose', 'user_data');
  form.set('file', new Blob(['abc']), 'a.txt');
  const made = await fetch(`${scenario.stack.gatewayUrls[0]}/v1/files${query}`, {
    method: 'POST',
    headers: {
      'x-service-api-key': scenario.stack.credentials.workspace_key,
      'x-service-provider': `@passing-${vendor}`,
      ...(vendor === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {}),
    },
    body: form,
  });
  const { id } = (await made.json()) as { id: string };
  expect(made.status).toBe(200);
  return id;
}

const chat = (content: unknown) => ({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content }],
});
const naming = (vendor: Vendor, id: string) =>
  vendor === 'openai'
    ? chat([{ type: 'file', file: { file_id: id } }])
    : { ...chat([{ type: 'document', source: { type: 'file', file_id: id } }]), max_tokens: 9 };

const nitro = { 'x-service-nitro-mode': 'true' };
/** Each way on which nobody reads what is sent. */
const ways: [string, Vendor, string, Record<string, string>][] = [
  ['nitro', 'openai', '/v1/chat/completions', nitro],
  ['nitro', 'anthropic', '/v1/messages', nitro],
  ['a proxied path', 'openai', '/v1/proxy/chat/completions', {}],
  ['a proxied path', 'anthropic', '/v1/proxy/messages', {}],
  ['a proxied path', 'anthropic', '/v1/proxy/messages/count_tokens', {}],
  ['an odd path', 'openai', '/v1//Chat/%63ompletions/', {}],
  ['an odd path', 'anthropic', '/v1/anthropic/v1/messages', {}],
];

/** How a body may come, so that it is not read. */
const forms: [string, (text: string) => [RequestInit['body'], Record<string, string>?]][] = [
  ['as it is', (text) => [text]],
  ['in pieces', (text) => [piecesOf(text)]],
  ['behind five megabytes', (text) => [text.replace('{', `{"pad":"${'a'.repeat(5 << 20)}",`)]],
  ['with escaped letters', (text) => [piecesOf(text.replaceAll('file_id', 'fil\\u0065_\\u0069d'))]],
  ['as plain text', (text) => [text, { 'content-type': 'text/plain' }]],
  ['as UTF-16', (text) => [Buffer.from(text, 'utf16le')]],
  ['gzipped', (text) => [gzipSync(text), { 'content-encoding': 'gzip' }]],
  ['as deep as no parser of ours goes', (text) => [text.replace('{', `{"pad":${deep(3000)},`)]],
];

const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

function piecesOf(text: string): ReadableStream<Uint8Array> {
  const bytes = Buffer.from(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(at, at + 7));
      at += 7;
    },
  });
}

type Asked = [method: 'GET' | 'POST' | 'DELETE' | 'PATCH', path: string, body?: object];
/** Where each is made, and each way to name it. */
const namings: [string, (id: string) => Asked[]][] = [
  [
    '/v1/agents',
    (id) => [
      ['GET', `/v1/agents/${id}`],
      ['POST', `/v1/agents/${id}/archive`, {}],
      ['POST', '/v1/agents/sessions', { agent_id: id, environment: {} }],
      ['POST', '/v1/sessions', { agent: id }],
      ['POST', '/v1/sessions', { agent: { type: 'agent', id, version: 1 } }],
      ['POST', '/v1/agents/automations', { target: { agent_id: id } }],
      ['POST', '/v1/interactions', { agent: id, input: 'a' }],
    ],
  ],
  [
    '/v1/agents/sessions',
    (id) => [
      ['GET', `/v1/agents/sessions/${id}/items`],
      ['POST', `/v1/agents/sessions/${id}/events`, { events: [] }],
      ['DELETE', `/v1/proxy/v1//Agents/%53essions/${id}`],
      ['POST', '/v1/agents/automations', { target: { session_id: id } }],
      ['GET', `/v1/agents/automations?session_id=${id}`],
    ],
  ],
  [
    '/v1/agents/environments',
    (id) => [
      ['GET', `/v1/agents/environments/${id}/files`],
      ['POST', '/v1/agents/sessions', { environment: { type: 'hosted', environment_id: id } }],
    ],
  ],
  [
    '/v1/sessions',
    (id) => [
      ['GET', `/v1/sessions/${id}/events/stream`],
      ['POST', `/v1/sessions/${id}/events`, { events: [] }],
      ['GET', `/v1/sessions/${id}/anything/new`],
      ['POST', '/v1/dreams', { inputs: [{ type: 'sessions', session_ids: [id] }] }],
    ],
  ],
  ['/v1/environments', (id) => [['POST', '/v1/sessions', { agent: 'a', environment_id: id }]]],
  [
    '/v1/memory_stores',
    (id) => [
      ['GET', `/v1/memory_stores/${id}/memories`],
      ['POST', '/v1/sessions/made-elsewhere/resources', { memory_store_id: id }],
      ['POST', '/v1/sessions', { resources: [{ type: 'memory_store', memory_store_id: id }] }],
      ['GET', `/v1/sessions?memory_store_id=${id}`],
    ],
  ],
  [
    '/v1/vaults',
    (id) => [
      ['GET', `/v1/vaults/${id}/credentials`],
      ['POST', '/v1/sessions', { vault_ids: ['other', id] }],
    ],
  ],
  [
    '/v1/interactions',
    (id) => [
      ['GET', `/v1/proxy/v1beta/interactions/${id}`],
      [
        'POST',
        '/v1/proxy/v1beta/interactions',
        { model: 'm', input: 'a', previous_interaction_id: id },
      ],
    ],
  ],
  [
    '/v1/cachedContents',
    (id) => [
      ['PATCH', `/v1/proxy/v1beta/cachedContents/${id}`, {}],
      [
        'POST',
        '/v1/proxy/v1beta/models/gemini-3-pro:generateContent',
        { cachedContent: `cachedContents/${id}` },
      ],
      [
        'POST',
        '/v1/proxy/v1beta/interactions',
        { model: 'm', cached_content: `cachedContents/${id}` },
      ],
    ],
  ],
  [
    '/v1/fileSearchStores',
    (id) => [
      ['POST', `/v1/proxy/v1beta/fileSearchStores/${id}:importFile`, {}],
      ['GET', `/v1/proxy/v1beta/fileSearchStores/${id}/documents`],
      [
        'POST',
        '/v1/proxy/v1beta/models/gemini-3-pro:generateContent',
        { tools: [{ fileSearch: { fileSearchStoreNames: [`fileSearchStores/${id}`] } }] },
      ],
    ],
  ],
];

describe.each(namings)('what was made at %s', (at, waysOf) => {
  const call = ([method, path, body]: Asked, key?: string) =>
    fetch(`${scenario.stack.gatewayUrls[0]}${path}`, {
      method,
      headers: {
        'x-service-api-key': key ?? scenario.stack.credentials.workspace_key,
        'x-service-provider': '@passing-openai',
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const make = async (): Promise<string> => {
    const before = new Set(kept);
    const made = await call(['POST', at, { model: 'm' }]);
    expect([made.status, await made.text()]).toEqual([200, expect.stringMatching(/\w/)]);
    return [...kept].find((id) => !before.has(id)) ?? '';
  };

  it('is shown to no other workspace, however it is named', async () => {
    const id = await make();
    for (const way of waysOf(id)) {
      const answer = await call(way, other.openai);
      const told = await answer.text();
      expect([way, answer.status, told]).toEqual([way, 404, expect.not.stringContaining(secret)]);
      expect(told).toContain('object.owner_unknown');
    }
  });

  it('is one’s own, and so is whatever nobody made here', async () => {
    const id = await make();
    for (const name of [id, 'made-elsewhere'])
      for (const way of waysOf(name)) {
        const answer = await call(way);
        expect([way, answer.status, await answer.text()]).toEqual([way, 200, expect.anything()]);
      }
  });

  it('is listed for its workspace alone', async () => {
    const id = await make();
    const mine = await (await call(['GET', at])).text();
    const theirs = await (await call(['GET', at], other.openai)).text();
    expect([mine, theirs]).toEqual([
      expect.stringContaining(id),
      expect.not.stringContaining(secret),
    ]);
  });
});

describe('a file that went up to Google in pieces', () => {
  const root = () => scenario.stack.gatewayUrls[0] ?? '';
  const headersOf = (key = scenario.stack.credentials.workspace_key) => ({
    'x-service-api-key': key,
    'x-service-provider': '@passing-google',
  });
  const google = () =>
    new GoogleGenAI({
      apiKey: 'none-of-it',
      httpOptions: { baseUrl: `${root()}/v1/proxy`, headers: headersOf() },
    });
  const call = ([method, path, body]: Asked, key?: string) =>
    fetch(`${root()}${path}`, {
      method,
      headers: { ...headersOf(key), 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const waysOf = (id: string): Asked[] => [
    ['GET', `/v1/proxy/v1beta/files/${id}`],
    ['GET', `/v1/proxy/v1beta/files/${id}:download?alt=media`],
    ['POST', '/v1/proxy/v1beta/fileSearchStores/a:importFile', { fileName: `files/${id}` }],
    [
      'POST',
      '/v1/proxy/v1beta/models/gemini-3-pro:batchGenerateContent',
      { batch: { inputConfig: { fileName: `files/${id}` } } },
    ],
    ...['generateContent', 'countTokens'].map(
      (verb): Asked => [
        'POST',
        `/v1/proxy/v1beta/models/gemini-3-pro:${verb}`,
        { contents: [{ role: 'user', parts: [{ fileData: { fileUri: addressOf(id) } }] }] },
      ],
    ),
    [
      'POST',
      '/v1/chat/completions',
      chat([{ type: 'image_url', image_url: { url: addressOf(id) } }]),
    ],
  ];
  const addressOf = (id: string) => `https://generativelanguage.googleapis.com/v1beta/files/${id}`;

  it('is its workspace’s, however it is named', async () => {
    const file = new Blob(['abc']);
    const made = await google().files.upload({ file, config: { mimeType: 'text/plain' } });
    const [, id = ''] = /^files\/(.+)$/.exec(made.name ?? '') ?? [];
    expect(kept.has(id)).toBe(true);
    for (const way of waysOf(id)) {
      const theirs = await call(way, other.google);
      const told = await theirs.text();
      expect([way, theirs.status, told]).toEqual([way, 404, expect.not.stringContaining(secret)]);
      const mine = await call(way);
      expect([way, mine.status, await mine.text()]).toEqual([way, 200, expect.anything()]);
      const [, , body] = way;
      const elsewhere = JSON.parse(JSON.stringify(body ?? {}).replaceAll(id, 'elsewhere'));
      const path = way[1].replace(id, 'elsewhere');
      const common = await call([way[0], path, body && elsewhere], other.google);
      expect([way, common.status]).toEqual([way, 200]);
    }
    const list = ['GET', '/v1/proxy/v1beta/files'] as const;
    expect(await (await call([...list])).text()).toContain(id);
    expect(await (await call([...list], other.google)).text()).not.toContain(secret);
  });

  it('goes into no store of another workspace', async () => {
    const { name = '' } = (await (await call(['POST', '/v1/fileSearchStores', {}])).json()) as {
      name?: string;
    };
    for (const prefix of ['', '/v1', '/v1/proxy']) {
      const path = `${prefix}/upload/v1beta/${name}:uploadToFileSearchStore`;
      const theirs = await call(['POST', path, {}], other.google);
      expect([path, theirs.status]).toEqual([path, 404]);
      expect(await theirs.text()).toContain('object.owner_unknown');
    }
  });
});

describe.each([
  [
    'openai',
    '/v1/responses',
    { model: 'gpt-6.2', input: 'a' },
    (id: string) => ({ prompt_cache_options: { comparison_response_id: id } }),
  ],
  [
    'anthropic',
    '/v1/messages',
    { model: 'claude-sonnet-4-5', max_tokens: 9, messages: [], diagnostics: {} },
    (id: string) => ({ diagnostics: { previous_message_id: id } }),
  ],
] as const)('what a prompt is compared with at %s', (vendor, path, body, comparing) => {
  // Responses are always read.
  it.each(vendor === 'openai' ? [{}] : [{}, nitro])(
    'is none of another workspace’s: %j',
    async (headers) => {
      const made = await ask(vendor, path, JSON.stringify(body));
      const { id } = (await made.json()) as { id: string };
      const compared = JSON.stringify({ ...body, ...comparing(id) });
      const theirs = await ask(vendor, path, compared, { key: other[vendor], headers });
      const told = await theirs.text();
      expect([theirs.status, told]).toEqual([404, expect.not.stringContaining(secret)]);
      expect((await ask(vendor, path, compared, { headers })).status).toBe(200);
      const unknown = JSON.stringify({ ...body, ...comparing('made-elsewhere') });
      expect((await ask(vendor, path, unknown, { headers })).status).toBe(200);
    },
  );
});

describe.each(ways)('by %s at %s, %s', (_way, vendor, path, headers) => {
  it.each(forms)('another workspace’s file is shown to nobody, %s', async (_form, formOf) => {
    const id = await upload(vendor);
    const [body, more] = formOf(JSON.stringify(naming(vendor, id)));
    const answer = await ask(vendor, path, body, {
      key: other[vendor],
      headers: { ...headers, ...more },
    });
    const told = await answer.text();
    expect([400, 404], told).toContain(answer.status);
    expect(told).not.toContain(secret);
  });

  it('one’s own is, and so is a request that names none, whatever it is like', async () => {
    const id = await upload(vendor);
    for (const text of [
      JSON.stringify(naming(vendor, id)),
      JSON.stringify(pictured(`data:image/png;base64,${'A'.repeat(50_000)}`)),
      // Of a tool, a question about JSON, and an argument.
      JSON.stringify({
        ...chat(`What is {"file_id":"${id}"}?`),
        tools: [{ name: 'look', input_schema: { properties: { file_id: { type: 'string' } } } }],
      }),
    ])
      for (const body of [text, piecesOf(text), text.replace('{', `{"pad":${deep(30)},`)]) {
        const answer = await ask(vendor, path, body, { headers });
        expect(answer.status, await answer.text()).toBe(200);
      }
    const quoted = chat(`What is {"file_id":"${id}"}?`);
    const asked = await ask(vendor, path, piecesOf(JSON.stringify(quoted)), {
      key: other[vendor],
      headers,
    });
    expect(asked.status, await asked.text()).toBe(200);
  });
});

/** Those at which the vendors of the test make something. */
const making = ways.filter(
  ([, , path]) => /messages$|ompletions\/?$/.test(path) && !/c\/v1/.test(path),
);

describe.each(making)('what is made by %s at %s, %s', (_way, vendor, path, headers) => {
  const made = async (over: object) => {
    const body = JSON.stringify({ ...chat('Hi'), max_tokens: 9, ...over });
    const answer = await ask(vendor, path, piecesOf(body), { headers });
    const told = (await answer.json()) as { id: string; container?: { id: string } };
    expect(answer.status, JSON.stringify(told)).toBe(200);
    return told;
  };
  const named = (body: object) =>
    ask('anthropic', '/v1/messages', JSON.stringify({ ...hi, ...body }), {
      key: other.anthropic,
      headers: { 'anthropic-version': '2023-06-01' },
    });

  if (vendor === 'anthropic') {
    it('is its workspace’s: containers and threads', async () => {
      const tools = [{ name: 'code_execution', type: 'code_execution_20250825' }];
      const { container } = await made({ tools });
      expect((await named({ container: container?.id })).status).toBe(404);
      const { id } = await made({ thread: { type: 'create' } });
      expect((await named(goingOn(id))).status).toBe(404);
      // Of one that is not kept nobody is asked, and the vendor says that it has none.
      const plain = await made({});
      expect((await named(goingOn(plain.id))).status).toBe(200);
    });
  } else {
    it('is its workspace’s: completions that are stored', async () => {
      const seen = async (id: string) => {
        const answer = await fetch(`${scenario.stack.gatewayUrls[0]}/v1/chat/completions/${id}`, {
          headers: { 'x-service-api-key': other.openai, 'x-service-provider': '@passing-openai' },
        });
        return answer.status;
      };
      expect(await seen((await made({ store: true })).id)).toBe(404);
      for (const over of [{}, { store: false }, { store: 'true' }, { x: { store: true } }])
        expect(await seen((await made(over)).id)).toBe(200);
    });
  }
});

const hi = { model: 'gpt-5', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 9 };
const blocks = (content: unknown) => ({ ...hi, messages: [{ role: 'user', content: [content] }] });
/** Each place of a body that names something, beside those above: what it names, and where. */
const places: [string, Vendor, string, (id: string) => object, Kind][] = [
  ['prompt.variables', 'openai', '/v1/responses', prompted, 'file'],
  ['tools.container', 'openai', '/v1/responses', (id) => given({ container: id }), 'container'],
  ['tools.environment', 'openai', '/v1/responses', shell, 'container'],
  ['tools.input_image_mask', 'openai', '/v1/responses', masked, 'file'],
  ['tools that were found', 'openai', '/v1/responses', found, 'container'],
  ['tools of a compaction', 'openai', '/v1/responses/compact', shell, 'container'],
  ['items.tools', 'openai', '/v1/conversations', (id) => ({ items: found(id).input }), 'container'],
  ['images', 'openai', '/v1/images/edits', (id) => edit({ images: [{ file_id: id }] }), 'file'],
  ['mask', 'openai', '/v1/images/edits', (id) => edit({ mask: { file_id: id } }), 'file'],
  ['mask', 'openai', '/v1/proxy/images/edits', (id) => edit({ mask: { file_id: id } }), 'file'],
  ['image_url', 'openai', '/v1/chat/completions', pictured, 'address'],
  ['image_url', 'openai', '/v1/proxy/chat/completions', pictured, 'address'],
  ['image_url', 'openai', '/v1/responses', viewed, 'address'],
  ['source.url', 'anthropic', '/v1/messages', linked, 'address'],
  ['container', 'anthropic', '/v1/messages', (id) => ({ ...hi, container: id }), 'container'],
  [
    'container.id',
    'anthropic',
    '/v1/messages',
    (id) => ({ ...hi, container: { id } }),
    'container',
  ],
  [
    'container.id',
    'anthropic',
    '/v1/proxy/messages',
    (id) => ({ ...hi, container: { id } }),
    'container',
  ],
  ['thread', 'anthropic', '/v1/messages', goingOn, 'thread'],
  ['thread', 'anthropic', '/v1/proxy/messages', goingOn, 'thread'],
  ['a document of blocks', 'anthropic', '/v1/messages', (id) => blocks(documentOf(id)), 'file'],
  [
    'a document that a tool gave',
    'anthropic',
    '/v1/messages',
    (id) => blocks({ type: 'tool_result', tool_use_id: 't', content: [documentOf(id)] }),
    'file',
  ],
  ['a batch', 'anthropic', '/v1/messages/batches', (id) => batchOf(blocks(documentOf(id))), 'file'],
  ['a batch', 'anthropic', '/v1/messages/batches', (id) => batchOf(goingOn(id)), 'thread'],
];

function pictured(url: string) {
  return chat([{ type: 'image_url', image_url: { url } }]);
}
function viewed(image_url: string) {
  return {
    model: 'gpt-5',
    input: [{ role: 'user', content: [{ type: 'input_image', image_url }] }],
  };
}
function linked(url: string) {
  return blocks({ type: 'image', source: { type: 'url', url } });
}
function given(tool: object) {
  return { model: 'gpt-5', input: 'Hi', tools: [{ type: 'code_interpreter', ...tool }] };
}
function prompted(id: string) {
  const variables = { a: 'text', manual: { type: 'input_file', file_id: id } };
  return { prompt: { id: 'pmpt_1', variables } };
}
function shell(id: string) {
  return given({ type: 'shell', environment: { type: 'container_reference', container_id: id } });
}
function masked(id: string) {
  return given({ type: 'image_generation', input_image_mask: { file_id: id } });
}
function found(id: string) {
  const { tools } = shell(id);
  return { model: 'gpt-5', input: [{ type: 'tool_search_output', tools }] };
}
function edit(over: object) {
  return { model: 'gpt-image-2', prompt: 'Brighter', ...over };
}
function goingOn(id: string) {
  return { ...hi, thread: { type: 'continue', previous_message_id: id } };
}
function documentOf(id: string) {
  const image = { type: 'image', source: { type: 'file', file_id: id } };
  return { type: 'document', source: { type: 'content', content: [image] } };
}
function batchOf(params: object) {
  return { requests: [{ custom_id: 'a', params }] };
}

async function make(vendor: Vendor, kind: Kind): Promise<string> {
  if (kind === 'file') return upload(vendor);
  if (kind === 'address') return decodeURIComponent(await upload(vendor, '?in=bucket'));
  const body = {
    ...hi,
    ...(kind === 'thread'
      ? { thread: { type: 'create' } }
      : { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] }),
  };
  const made = await (vendor === 'openai'
    ? ask(vendor, '/v1/responses', JSON.stringify(given({ container: { type: 'auto' } })))
    : ask(vendor, '/v1/messages', JSON.stringify(body)));
  const { id, container, output } = (await made.json()) as {
    id: string;
    container?: { id: string };
    output?: { container_id: string }[];
  };
  return (kind === 'thread' ? id : (container?.id ?? output?.[0]?.container_id)) ?? '';
}

it.each(places)('%s at %s, %s: names nothing of another workspace', async (...place) => {
  const [, vendor, path, bodyOf, kind] = place;
  const id = await make(vendor, kind);
  expect(kept, 'it is the vendor’s').toContain(id);
  const text = JSON.stringify(bodyOf(id));
  const headers: Record<string, string> =
    vendor === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {};
  const before = vendors[vendor].requests.length;
  const refused = await ask(vendor, path, text, { key: other[vendor], headers });
  expect(await errorOf(refused)).toMatchObject({ status: 404, code: 'object.owner_unknown' });
  expect(vendors[vendor].requests.length).toBe(before);
  const own = await ask(vendor, path, text, { headers });
  expect(own.status, await own.clone().text()).toBe(200);
  expect(await own.text()).toContain(secret);
});

it('sees what a form spells with brackets', async () => {
  const id = await upload('openai');
  for (const [path, field] of [
    ['/v1/images/edits', 'images[0][file_id]'],
    ['/v1/images/edits', 'images[][file_id]'],
    ['/v1/images/edits', 'mask[file_id]'],
    ['/v1/videos', 'input_reference[file_id]'],
  ] as const) {
    const form = new FormData();
    form.set('model', 'm');
    form.set('prompt', 'p');
    form.set(field, id);
    const asked = await fetch(`${scenario.stack.gatewayUrls[0]}${path}`, {
      method: 'POST',
      headers: { 'x-service-api-key': other.openai, 'x-service-provider': '@passing-openai' },
      body: form,
    });
    expect(await errorOf(asked), field).toMatchObject({
      status: 404,
      code: 'object.owner_unknown',
    });
  }
});

it('says which field names what is another’s, as where the body is read', async () => {
  const id = await upload('openai');
  const text = JSON.stringify(naming('openai', id));
  for (const [path, headers] of [
    ['/v1/chat/completions', {}],
    ['/v1/chat/completions', nitro],
    ['/v1/proxy/chat/completions', {}],
  ] as [string, Record<string, string>][])
    for (const body of [text, piecesOf(text)]) {
      const refused = await ask('openai', path, body, { key: other.openai, headers });
      expect(await errorOf(refused)).toMatchObject({
        status: 404,
        code: 'object.owner_unknown',
        param: 'body.messages.*.content.*.file.file_id',
      });
    }
});

it('refuses compressed bodies beside a credential that is shared alone', async () => {
  const body = gzipSync(JSON.stringify(chat('Hi')));
  const headers = { 'content-encoding': 'gzip' };
  const refused = await ask('openai', '/v1/proxy/chat/completions', body, { headers });
  expect(await errorOf(refused)).toMatchObject({
    status: 400,
    code: 'request.unsupported_content_type',
    param: 'content-encoding',
  });
  const own = {
    ...headers,
    'x-service-provider': 'openai',
    'x-service-custom-host': `${vendors.openai.url}/v1`,
    authorization: 'Bearer sk-own',
  };
  const passed = await ask('openai', '/v1/proxy/chat/completions', body, { headers: own });
  expect(passed.status).toBe(200);
});

it('holds over gRPC', async () => {
  const id = await upload('openai');
  const grpc = grpcClient(`127.0.0.1:${grpcPort}`);
  const answer = await grpc.call('chatCompletions', JSON.stringify(naming('openai', id)), {
    'x-service-api-key': other.openai,
    'x-service-provider': '@passing-openai',
    ...nitro,
  });
  expect(answer.trailing['x-service-error-code']).toBe('object.owner_unknown');
  grpc.close();
});
