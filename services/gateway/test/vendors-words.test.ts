import { ApiError, GoogleGenAI } from '@google/genai';
import { freshName, hang, json } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aiSdkGoogle } from './frameworks/ai-sdk.ts';
import { type Scenario, startScenario } from './scenario.ts';
import { answerOfVendor } from './vendor-models/answer-of-vendor.ts';
import { spoken } from './vendor-models/model.ts';

/** What Sluice itself refuses at the paths of vendors' own clients, in the vendors' words; and where those clients find it. */
let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario.stop());
beforeEach(() => scenario.upstream.handle(answerOfVendor));

type Headers = Record<string, string>;

const newKey = async (over: object) => {
  const { key } = await scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
    name: freshName('key'),
    scopes: ['completions.write'],
    workspace_id: scenario.stack.credentials.workspace_id,
    ...over,
  });
  return key;
};
const oneAnHour = { rate_limits: [{ type: 'requests', unit: 'rph', value: 1 }] };
const denies = {
  input_guardrails: [{ 'default.allowedRequestTypes': { allowedTypes: ['complete'] }, deny: true }],
};
const inline = (config: object): Headers => ({ 'x-service-config': JSON.stringify(config) });

const model = 'gemini-3-pro-preview';

interface GoogleDetails {
  code: number;
  status: string;
  message: string;
  details: { '@type': string; metadata?: { code: string }; retryDelay?: string }[];
}

describe('the @google/genai client', () => {
  const client = (
    key: string,
    { base = '/v1', headers = {} as Headers, apiVersion = undefined as string | undefined } = {},
  ) =>
    new GoogleGenAI({
      apiKey: key,
      ...(apiVersion !== undefined && { apiVersion }),
      httpOptions: {
        baseUrl: `${scenario.stack.gatewayUrls[0]}${base}`,
        headers: {
          'x-service-provider': 'google',
          'x-service-custom-host': scenario.upstream.url,
          ...headers,
        },
      },
    });
  const ask = (of: GoogleGenAI) => of.models.generateContent({ model, contents: 'Hello' });
  const failure = async (asked: Promise<unknown>) => {
    const error = await asked.then(
      () => undefined,
      (caught: unknown) => caught,
    );
    expect(error).toBeInstanceOf(ApiError);
    const { status, message } = error as ApiError;
    const body = JSON.parse(message) as { error: GoogleDetails; hook_results?: object };
    expect(body.error.code).toBe(status);
    expect(body).not.toHaveProperty('status');
    expect(body).not.toHaveProperty('message');
    return { ...body.error, body };
  };
  const codeOf = ({ details }: GoogleDetails) => details[0]?.metadata?.code;

  it.each([
    ['an unknown key', 401, 'UNAUTHENTICATED', 'auth.invalid_key', {}],
    [
      'an unknown provider',
      400,
      'INVALID_ARGUMENT',
      'provider.unknown',
      { 'x-service-provider': 'nobody' },
    ],
    [
      'a config that is none',
      400,
      'INVALID_ARGUMENT',
      'config.invalid',
      inline({ retry: { attempts: 'x' } }),
    ],
    [
      'a guardrail',
      446,
      'FAILED_PRECONDITION',
      'guardrail.denied',
      inline({ ...denies, provider: 'google' }),
    ],
  ] as const)('reads the refusal of %s', async (_what, status, name, code, headers) => {
    const { workspace_key } = scenario.stack.credentials;
    const key = code === 'auth.invalid_key' ? 'sl_nobody' : workspace_key;
    const refused = await failure(ask(client(key, { headers: headers as Headers })));
    expect(refused).toMatchObject({ code: status, status: name });
    expect(codeOf(refused)).toBe(code);
    if (status === 446) expect(refused.body).toHaveProperty('hook_results');
  });

  it('reads when it may come again after a limit, and that a budget is spent', async () => {
    const limited = client(await newKey(oneAnHour));
    await ask(limited);
    const refused = await failure(ask(limited));
    expect(refused).toMatchObject({ code: 429, status: 'RESOURCE_EXHAUSTED' });
    expect(codeOf(refused)).toBe('limit.rate_exceeded');
    expect(refused.details[1]?.['@type']).toBe('type.googleapis.com/google.rpc.RetryInfo');
    expect(Number.parseInt(refused.details[1]?.retryDelay ?? '', 10)).toBeGreaterThan(0);
    const spent = client(await newKey({ usage_limits: { type: 'tokens', credit_limit: 1 } }));
    await ask(spent);
    expect(codeOf(await failure(ask(spent)))).toBe('limit.budget_exhausted');
  });

  it('reads that a provider did not answer in time, of a stream as well', async () => {
    scenario.upstream.handle(hang());
    const { workspace_key } = scenario.stack.credentials;
    const slow = client(workspace_key, { headers: { 'x-service-request-timeout': '200' } });
    const asked = slow.models.generateContentStream({ model, contents: 'Hello' });
    const refused = await failure(asked);
    expect(refused.status).toBe('DEADLINE_EXCEEDED');
    expect(codeOf(refused)).toBe('upstream.timeout');
  });

  it.each([
    ['', undefined, '/v1beta/'],
    ['', 'v1beta', '/v1beta/'],
    ['', 'v1alpha', '/v1alpha/'],
    ['/v1', undefined, '/v1/'],
    ['/v1', 'v1beta', '/v1beta/'],
    ['/v1/proxy', 'v1beta', '/v1beta/'],
  ])('finds Google with the base address %j and the version %s', async (base, apiVersion, at) => {
    const { workspace_key } = scenario.stack.credentials;
    const of = client(workspace_key, { base, apiVersion });
    expect((await ask(of)).text).toBe(spoken);
    expect(scenario.upstream.requests.at(-1)?.path).toBe(`${at}models/${model}:generateContent`);
    let text = '';
    for await (const chunk of await of.models.generateContentStream({ model, contents: 'Hello' }))
      text += chunk.text ?? '';
    expect(text).toBe(spoken);
  });
});

it.each(['', '/v1', '/v1/v1beta', '/v1beta'] as const)(
  'the AI SDK finds Google at %s',
  async (base) => {
    const { workspace_key } = scenario.stack.credentials;
    const seat = {
      url: scenario.stack.gatewayUrls[0] ?? '',
      model,
      headers: {
        'x-service-api-key': workspace_key,
        'x-service-provider': 'google',
        'x-service-custom-host': scenario.upstream.url,
      },
    };
    expect(await aiSdkGoogle(seat, base).plain()).toBe(spoken);
  },
);

describe('Bedrock’s clients', () => {
  const paths = [
    '/v1/model/amazon.nova-lite-v1%3A0/converse',
    '/v1/proxy/model/us.anthropic.claude-opus-5-5/invoke-with-response-stream',
    '/model/us.anthropic.claude-opus-5-5/invoke',
  ];
  const headers = {
    'x-service-provider': 'bedrock',
    'x-service-aws-access-key-id': 'AKID',
    'x-service-aws-secret-access-key': 'SECRET',
    'x-service-aws-region': 'eu-central-1',
  };
  const ask = (path: string, key: string, over: Headers = {}) =>
    scenario.call(path, {
      key,
      body: { messages: [{ role: 'user', content: [{ text: 'Hello' }] }] },
      host: null,
      headers: { ...headers, 'x-service-custom-host': scenario.upstream.url, ...over },
    });

  it.each(paths)('know refusals by their exceptions at %s', async (path) => {
    const { workspace_key } = scenario.stack.credentials;
    const limited = await newKey(oneAnHour);
    await (await ask(path, limited)).arrayBuffer();
    for (const [response, status, exception, code] of [
      [await ask(path, 'sl_nobody'), 401, 'AccessDeniedException', 'auth.invalid_key'],
      [await ask(path, limited), 429, 'ThrottlingException', 'limit.rate_exceeded'],
      [
        await ask(path, workspace_key, inline({ ...denies, provider: 'bedrock' })),
        446,
        'ValidationException',
        null,
      ],
    ] as const) {
      expect(response.status).toBe(status);
      expect(response.headers.get('x-amzn-errortype')).toBe(exception);
      expect(response.headers.get('x-amzn-requestid')).toBe(
        response.headers.get('x-service-request-id'),
      );
      expect(await response.json()).toMatchObject({
        __type: exception,
        message: expect.any(String),
        error: { code },
      });
    }
  });

  it('have the words of the vendor itself as they are', async () => {
    const { workspace_key } = scenario.stack.credentials;
    scenario.upstream.handle(
      json(400, { message: 'No.' }, { 'x-amzn-errortype': 'ModelErrorException' }),
    );
    const response = await ask(paths[0] ?? '', workspace_key);
    expect(response.headers.get('x-amzn-errortype')).toBe('ModelErrorException');
    expect(await response.json()).toEqual({ message: 'No.' });
  });
});

it('Claude’s client on Vertex AI reads Anthropic’s words, and finds what has a version', async () => {
  const path =
    '/v1/projects/p/locations/us-east5/publishers/anthropic/models/claude-opus-5-5:rawPredict';
  const ask = (key: string, at = path) =>
    scenario.call(at, {
      key,
      body: {
        anthropic_version: 'vertex-2023-10-16',
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Hello' }],
      },
      host: null,
      headers: {
        'x-service-provider': 'vertex-ai',
        'x-service-custom-host': scenario.upstream.url,
        authorization: 'Bearer ya29',
      },
    });
  const served = await ask(scenario.stack.credentials.workspace_key);
  expect(await served.json()).toMatchObject({ type: 'message' });
  expect(scenario.upstream.requests.at(-1)?.path).toBe(path);
  const { workspace_key } = scenario.stack.credentials;
  const atRoot = await ask(workspace_key, path.replace('/v1', ''));
  expect(await atRoot.json()).toMatchObject({ type: 'message' });
  expect(scenario.upstream.requests.at(-1)?.path).toBe(path);
  expect(await (await ask('sl_nobody')).json()).toMatchObject({
    type: 'error',
    error: { type: 'authentication_error' },
  });
});
