import { createHash, randomBytes } from 'node:crypto';
import { bytes, isLongForm, type UpstreamReply } from '@sluice/testkit';
import fc from 'fast-check';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { oddMembers, rawObject } from './raw-json.ts';
import { type Scenario, startScenario } from './scenario.ts';

/**
 * Where the caller speaks the upstream's format, what arrives is what was sent,
 * both ways, to the byte. Hashes are taken at the caller and at a real upstream.
 */
let scenario: Scenario;

/** Of the texts that chance makes the suite tries a tenth, `npm run abuse` all. */
const runs = (all: number): number => (isLongForm ? all : Math.ceil(all / 10));

beforeAll(async () => {
  scenario = await startScenario();
  const { workspace_id } = scenario.stack.credentials;
  for (const provider of ['openai', 'anthropic'])
    await scenario.admin('POST', '/integrations', {
      name: `Saved ${provider}`,
      slug: `saved-${provider}`,
      ai_provider_id: provider,
      key: 'sk-saved',
      workspace_id,
      configurations: { custom_host: `${scenario.upstream.url}/v1` },
      create_default_provider: true,
      default_provider_slug: `saved-${provider}`,
    });
});
afterAll(() => scenario.stop());

const sha = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');

/** A format that caller and upstream share, with the least that makes a request and a reply of it. */
interface Road {
  name: string;
  path: string;
  provider: 'openai' | 'anthropic';
  model: string;
  /** Members beside the model, as JSON text. */
  request: Record<string, string>;
  reply: Record<string, string>;
}

const messages = '[{"role":"user","content":"Hi"}]';
const roads: readonly Road[] = [
  {
    name: 'chat',
    path: '/v1/chat/completions',
    provider: 'openai',
    model: 'gpt-4o-mini',
    request: { messages },
    reply: {
      choices: '[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}]',
      usage: '{"prompt_tokens":1.0,"completion_tokens":2e0,"total_tokens":3}',
    },
  },
  {
    name: 'messages',
    path: '/v1/messages',
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    request: { messages, max_tokens: '1e2' },
    reply: {
      content: '[{"type":"text","text":"x"}]',
      usage: '{"input_tokens":1,"output_tokens":2}',
    },
  },
  {
    name: 'embeddings',
    path: '/v1/embeddings',
    provider: 'openai',
    model: 'text-embedding-3-small',
    request: { input: '["a", 1.50]' },
    reply: { data: '[{"embedding":[0.10,-0,1e-7]}]', usage: '{"prompt_tokens":2}' },
  },
  {
    name: 'responses',
    path: '/v1/responses',
    provider: 'openai',
    model: 'gpt-4o-mini',
    request: { input: '"Hi"' },
    reply: {
      id: '"resp_1"',
      object: '"response"',
      status: '"completed"',
      output:
        '[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]}]',
      usage: '{"input_tokens":1,"output_tokens":2,"total_tokens":3}',
    },
  },
  {
    name: 'completions',
    path: '/v1/completions',
    provider: 'openai',
    model: 'gpt-3.5-turbo-instruct',
    request: { prompt: '"Hi"' },
    reply: { choices: '[{"index":0,"text":"x","finish_reason":"stop"}]' },
  },
  {
    name: 'pass-through of a known path',
    path: '/v1/proxy/chat/completions',
    provider: 'openai',
    model: 'gpt-4o-mini',
    request: { messages },
    reply: { choices: '[]' },
  },
  {
    name: 'pass-through of an unknown path',
    path: '/v1/threads/runs?order=%61sc&order=x',
    provider: 'openai',
    model: 'gpt-4o-mini',
    request: { messages },
    reply: { object: '"thread"' },
  },
];

interface Passage {
  status: number;
  /** What the upstream got. */
  arrived: Buffer;
  /** What the caller got. */
  received: Buffer;
  path: string;
}

/** Sends these very bytes; undici neither asks for compression nor undoes it. */
async function pass(
  road: Pick<Road, 'path' | 'provider'>,
  body: Buffer | undefined,
  headers: Record<string, string> = {},
): Promise<Passage> {
  const before = scenario.upstream.requests.length;
  const response = await request(`${scenario.stack.gatewayUrls[0]}${road.path}`, {
    method: 'POST',
    headers: {
      'x-service-api-key': scenario.stack.credentials.workspace_key,
      'x-service-provider': road.provider,
      'x-service-custom-host': `${scenario.upstream.url}/v1`,
      'content-type': 'application/json',
      ...headers,
    },
    body,
  });
  const received = Buffer.from(await response.body.arrayBuffer());
  const seen = scenario.upstream.requests.slice(before);
  expect(seen, `${response.statusCode} ${received.toString().slice(0, 300)}`).toHaveLength(1);
  return {
    status: response.statusCode,
    arrived: seen[0]?.body as Buffer,
    received,
    path: seen[0]?.path ?? '',
  };
}

function expectSame(passage: Passage, sent: Buffer, answered: Buffer, status = 200): void {
  expect(passage.status).toBe(status);
  // The texts are compared first only because a difference between them can be read.
  if (sent.length < 100_000) expect(passage.arrived.toString()).toBe(sent.toString());
  if (answered.length < 100_000) expect(passage.received.toString()).toBe(answered.toString());
  expect(sha(passage.arrived)).toBe(sha(sent));
  expect(sha(passage.received)).toBe(sha(answered));
}

/** A stream of these very bytes, in writes of these sizes. */
function inPieces(data: Buffer, sizes: readonly number[]): UpstreamReply {
  return {
    async send(response) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let at = 0, turn = 0; at < data.length; turn++) {
        const size = sizes[turn % sizes.length] ?? 1;
        response.write(data.subarray(at, at + size));
        at += size;
        await new Promise(setImmediate);
      }
      response.end();
    },
  };
}

const jsonType = { 'content-type': 'application/json' };
const withMembers = (members: Record<string, string>, more: string) =>
  `{ ${Object.entries(members)
    .map(([key, value]) => `"${key}" :${value}`)
    .join('\n, ')},${more}}\n`;

describe.each(roads)('$name', (road) => {
  const known = { model: `"${road.model}"`, ...road.request };

  it('carries what a parser would lose, both ways', async () => {
    const sent = Buffer.from(withMembers(known, oddMembers));
    const answered = Buffer.from(withMembers(road.reply, oddMembers));
    scenario.upstream.handle(bytes(200, answered, jsonType));
    expectSame(await pass(road, sent), sent, answered);
  });

  it('carries any JSON text, both ways', async () => {
    await fc.assert(
      fc.asyncProperty(rawObject(known), rawObject(road.reply), async (asked, replied) => {
        const sent = Buffer.from(asked.text);
        const answered = Buffer.from(replied.text);
        scenario.upstream.handle(bytes(200, answered, jsonType));
        expectSame(await pass(road, sent), sent, answered);
      }),
      { numRuns: runs(200) },
    );
  });

  it('changes the bytes of the model alone for `@slug/model`', async () => {
    const answered = Buffer.from(withMembers(road.reply, oddMembers));
    scenario.upstream.handle(bytes(200, answered, jsonType));
    await fc.assert(
      fc.asyncProperty(rawObject(known), async ({ splice }) => {
        const model = `"@saved-${road.provider}\\u002f${road.model}"`;
        const sent = Buffer.from(splice({ ...known, model }));
        const passage = await pass(road, sent, {
          'x-service-provider': '',
          'x-service-custom-host': '',
        });
        expectSame(passage, Buffer.from(splice(known)), answered);
      }),
      { numRuns: runs(40) },
    );
  });

  it('carries it unchanged through a config that changes nothing', async () => {
    const sent = Buffer.from(withMembers(known, oddMembers));
    const answered = Buffer.from(withMembers(road.reply, oddMembers));
    scenario.upstream.handle(bytes(200, answered, jsonType));
    const config = {
      strategy: { mode: 'fallback' },
      retry: { attempts: 2 },
      // A default for what the caller sends, and a field it does not.
      default_params: { model: 'another' },
      drop_params: ['x_never_sent'],
      targets: [{ provider: road.provider, api_key: 'sk-config' }],
    };
    const headers = { 'x-service-provider': '', 'x-service-config': JSON.stringify(config) };
    expectSame(await pass(road, sent, headers), sent, answered);
  });

  it('carries an error as the provider wrote it', async () => {
    const sent = Buffer.from(withMembers(known, oddMembers));
    const answered = Buffer.from(`{"error" :{"message":"\\u00e9","code":1.50},${oddMembers}}`);
    scenario.upstream.handle(bytes(422, answered, jsonType));
    expectSame(await pass(road, sent), sent, answered, 422);
  });

  it('carries bodies of megabytes', async () => {
    const filler = `"x_large":["${'é😀\\u00e9 '.repeat(400_000)}",1.50]`;
    const sent = Buffer.from(withMembers(known, `${oddMembers},${filler}`));
    const answered = Buffer.from(withMembers(road.reply, `${filler},${oddMembers}`));
    expect(sent.length).toBeGreaterThan(5_000_000);
    scenario.upstream.handle(bytes(200, answered, jsonType));
    expectSame(await pass(road, sent), sent, answered);
  });
});

describe('a look at what stays at a provider', () => {
  const answered = Buffer.from(
    withMembers({ id: '"resp_1"', object: '"response"', background: 'false' }, oddMembers),
  );
  const length = { 'content-length': String(answered.length) };
  const ofThisRequest = /^(?:date|connection|keep-alive|transfer-encoding|content-length)$|-id$/;

  async function look(reply: UpstreamReply) {
    scenario.upstream.handle(reply);
    const response = await request(`${scenario.stack.gatewayUrls[0]}/v1/responses/resp_1`, {
      headers: {
        'x-service-api-key': scenario.stack.credentials.workspace_key,
        'x-service-provider': '@saved-openai',
      },
    });
    const received = Buffer.from(await response.body.arrayBuffer());
    expect(received.toString()).toBe(answered.toString());
    const told = Object.entries(response.headers).filter(([name]) => !ofThisRequest.test(name));
    return { status: response.statusCode, told: told.toSorted() };
  }

  it('passes as it came, and tells the same however its answer was cut', async () => {
    const whole = await look(bytes(200, answered, { ...jsonType, ...length }));
    expect(whole.status).toBe(200);
    for (const framing of [length, {}])
      for (const cut of [0, 1, answered.length - 1])
        expect(
          await look({
            async send(response) {
              response.writeHead(200, { ...jsonType, ...framing });
              response.flushHeaders();
              await new Promise((later) => setTimeout(later, 20));
              if (cut > 0) response.write(answered.subarray(0, cut));
              await new Promise((later) => setTimeout(later, 20));
              response.end(answered.subarray(cut));
            },
          }),
        ).toStrictEqual(whole);
  });
});

describe('streams', () => {
  const events = {
    openai: [
      'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}\n\n',
      'data:{"choices" : [{"index":0,"delta":{"content":"\\u00e9 😀"},"finish_reason":null}],"n":1.50,"n":1e2}\r\n\r\n',
      'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
      'data: [DONE]\n\n',
    ],
    anthropic: [
      'event: message_start\ndata: {"type":"message_start","message":{"id":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}\n\n',
      'event: content_block_start\ndata: {"type":"content_block_start" , "index":0,"content_block":{"type":"text","text":""}}\n\n',
      'event: content_block_delta\r\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\\u00e9 😀"},"n":1.50,"n":1e2}\r\n\r\n',
      'event: something_new\ndata: {"type":"something_new","n":12345678901234567890}\n\n',
      'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}\n\n',
      'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    ],
    responses: [
      'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"r","status":"in_progress"}}\n\n',
      'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"\\u00e9 😀","n":1.50,"n":1e2}\r\n\r\n',
      'event: response.completed\ndata: {"type":"response.completed","response":{"id":"r","status":"completed","usage":{"input_tokens":1,"output_tokens":2}}}\n\n',
    ],
    completions: [
      'data: {"choices" : [{"index":0,"text":"\\u00e9 😀","finish_reason":null}],"n":1.50,"n":1e2}\r\n\r\n',
      'data: {"choices":[{"index":0,"text":"","finish_reason":"stop"}]}\n\n',
      'data: [DONE]\n\n',
    ],
  } as const;
  const noise = [
    ': a comment\n\n',
    'retry: 1500\n\n',
    'id: 7\n: 😀\n',
    '\n',
    ':\r\n\r\n',
    ': then a field that nobody knows\nx-field: 1\n\n',
  ];
  const streams = roads
    .filter(({ name }) => name !== 'embeddings')
    .map((road) => ({
      ...road,
      events:
        road.provider === 'anthropic'
          ? events.anthropic
          : road.name === 'responses'
            ? events.responses
            : road.name === 'completions'
              ? events.completions
              : events.openai,
    }));

  it.each(streams)(
    '$name: any framing, cut anywhere, and what follows the end',
    { timeout: 60_000 },
    async (road) => {
      await fc.assert(
        fc.asyncProperty(
          rawObject({ model: `"${road.model}"`, ...road.request, stream: 'true' }),
          fc.array(fc.constantFrom('', '', ...noise), {
            minLength: road.events.length + 1,
            maxLength: road.events.length + 1,
          }),
          fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 4 }),
          async ({ text }, between, chunking) => {
            const sent = Buffer.from(text);
            const parts = road.events.map((event, index) => `${between[index]}${event}`);
            const answered = Buffer.from(`${parts.join('')}${between.at(-1)}`);
            scenario.upstream.handle(inPieces(answered, chunking));
            expectSame(await pass(road, sent), sent, answered);
          },
        ),
        { numRuns: runs(30) },
      );
    },
  );
});

describe('forms', () => {
  const boundary = '----odd"boundary'.replace('"', "'");
  const file = randomBytes(300_000);
  const part = (head: string, data: string | Buffer) => [
    Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
    Buffer.from(data),
    Buffer.from('\r\n'),
  ];
  const form = (model: string) =>
    Buffer.concat([
      Buffer.from('a preamble that nobody reads\r\n'),
      ...part('content-disposition: form-data; name="x_unknown"', '1.50'),
      ...part('Content-Disposition:form-data;name="x_unknown"', 'twice'),
      ...part(
        'Content-Disposition: form-data; name="file"; filename="s\u00f6und.mp3"\r\nContent-Type: audio/mpeg\r\nX-Odd: yes',
        file,
      ),
      ...part('Content-Disposition: form-data; name="model"', model),
      Buffer.from(`--${boundary}--\r\nan epilogue`),
    ]);
  const formType = { 'content-type': `multipart/form-data; boundary="${boundary}"` };
  const answered = Buffer.from(
    `{"text" :"\\u00e9", "data":[{ "b64_json":"\\u0041" }],${oddMembers}}`,
  );

  it.each([
    '/v1/audio/transcriptions',
    '/v1/audio/translations',
    '/v1/images/edits',
    '/v1/images/variations',
    '/v1/files',
  ])('%s: preamble, order, odd headers and file arrive as they were', async (path) => {
    scenario.upstream.handle(bytes(200, answered, jsonType));
    const sent = form('whisper-1');
    expectSame(await pass({ path, provider: 'openai' }, sent, formType), sent, answered);
  });

  it('with `@slug/model` the file arrives as it was', async () => {
    scenario.upstream.handle(bytes(200, answered, jsonType));
    const passage = await pass(
      { path: '/v1/audio/transcriptions', provider: 'openai' },
      form('@saved-openai/whisper-1'),
      { ...formType, 'x-service-provider': '', 'x-service-custom-host': '' },
    );
    expect(passage.arrived.includes(file)).toBe(true);
    expect(passage.arrived.includes('@saved-openai')).toBe(false);
    expect(sha(passage.received)).toBe(sha(answered));
  });
});

describe('binary', () => {
  const sound = randomBytes(2_000_000);

  it('speech: JSON goes, sound comes back', async () => {
    const sent = Buffer.from(`{"model":"tts-1","input":"\\u00e9","voice":"alloy",${oddMembers}}`);
    scenario.upstream.handle(bytes(200, sound, { 'content-type': 'audio/mpeg' }));
    const passage = await pass({ path: '/v1/audio/speech', provider: 'openai' }, sent);
    expectSame(passage, sent, sound);
  });

  it.each([
    ['bytes', 'application/octet-stream', randomBytes(3_000_000)],
    ['JSON that is none', 'application/json', Buffer.from('{"a":1,}\xff\x00', 'latin1')],
    ['JSON in UTF-16', 'application/json', Buffer.from('{"model":"x"}', 'utf16le')],
    ['JSON with a BOM', 'application/json', Buffer.from('\ufeff{"model":"x"}')],
    ['JSON that is no object', 'application/json', Buffer.from(' [1.50, "model"] ')],
    ['form fields', 'application/x-www-form-urlencoded', Buffer.from('a=1&a=%20+%zz')],
  ])('pass-through: %s', async (_name, type, sent) => {
    scenario.upstream.handle(bytes(200, sound, { 'content-type': 'application/octet-stream' }));
    const passage = await pass({ path: '/v1/anything', provider: 'openai' }, sent, {
      'content-type': type,
    });
    expectSame(passage, sent, sound);
  });

  it('pass-through: the query arrives as it was written', async () => {
    scenario.upstream.handle(bytes(200, sound));
    const query = '?a=%7e&a=~&b=%2F/&c=+%20&d=é'.replace('é', '%c3%A9');
    const passage = await pass({ path: `/v1/anything${query}`, provider: 'openai' }, undefined);
    expect(passage.path).toBe(`/v1/anything${query}`);
  });
});
