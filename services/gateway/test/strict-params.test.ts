import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallOptions, chatBody, errorOf, type Scenario, startScenario } from './scenario.ts';
import { anthropicEvents, anthropicReply, openAiReply, stream } from './vendor-replies.ts';

/** What a provider's format cannot carry is told, or refused where anybody asks for that. */
let scenario: Scenario;
/** The first gateway leaves it to others; the second is strict. */
const strictGateway = 1;
beforeAll(async () => {
  scenario = await startScenario({
    gateways: 2,
    environment: { 'gateway-2': { STRICT_PARAMS: 'true', PASS_VENDOR_SECRETS: 'true' } },
  });
});
afterAll(() => scenario.stop());

const odd = {
  ...chatBody,
  model: 'claude-sonnet-4-5',
  seed: 7,
  logit_bias: { '50256': -100 },
  messages: [{ role: 'user', content: 'Hello', vendor_flag: 1 }],
};
const namesOfOdd = 'messages[0].vendor_flag,logit_bias,seed';

function ask(over: CallOptions & { config?: object } = {}): Promise<Response> {
  const { config, headers, ...rest } = over;
  scenario.upstream.handle(anthropicReply);
  return scenario.chat({
    body: odd,
    ...rest,
    headers: {
      'x-service-provider': 'anthropic',
      ...(config === undefined ? {} : { 'x-service-config': JSON.stringify(config) }),
      ...headers,
    },
  });
}

async function expectTold(asking: Promise<Response>): Promise<void> {
  const response = await asking;
  await response.arrayBuffer();
  expect(response.status).toBe(200);
  expect(response.headers.get('x-service-dropped-params')).toBe(namesOfOdd);
}

async function expectRefused(asking: () => Promise<Response>): Promise<void> {
  const seen = scenario.upstream.requests.length;
  const error = await errorOf(await asking());
  expect(error).toMatchObject({
    status: 400,
    code: 'request.params_dropped',
    param: 'messages[0].vendor_flag',
  });
  for (const name of namesOfOdd.split(',')) expect(error.message).toContain(name);
  expect(scenario.upstream.requests).toHaveLength(seen);
}

const strictly = { 'x-service-strict-params': 'true' };

describe('x-service-dropped-params', () => {
  it('names what was left out, of answers and of streams', async () => {
    await expectTold(ask());
    const asking = ask({ body: { ...odd, stream: true } });
    scenario.upstream.handle(stream(anthropicEvents('Hi')));
    await expectTold(asking);
  });

  it('names it for answers from the cache as well', async () => {
    const config = { provider: 'anthropic', api_key: 'sk-a', cache: { mode: 'simple' } };
    for (const status of ['MISS', 'HIT']) {
      const response = ask({ config });
      await expectTold(response);
      expect((await response).headers.get('x-service-cache-status')).toBe(status);
    }
  });

  it('is absent where all was carried, and where nothing was translated', async () => {
    const carried = await ask({ body: { ...chatBody, model: 'claude-sonnet-4-5' } });
    expect([carried.status, carried.headers.get('x-service-dropped-params')]).toEqual([200, null]);
    scenario.upstream.handle(openAiReply);
    const native = await scenario.chat({ body: odd, headers: strictly });
    expect([native.status, native.headers.get('x-service-dropped-params')]).toEqual([200, null]);
  });

  it('names what a messages request loses on its way to an openai-chat upstream', async () => {
    scenario.upstream.handle(openAiReply);
    const response = await scenario.call('/v1/messages', {
      body: {
        model: 'gpt-4o-mini',
        max_tokens: 10,
        top_k: 3,
        messages: [
          {
            role: 'user',
            content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }],
          },
        ],
      },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-service-dropped-params')?.split(',').sort()).toEqual([
      'messages[0].cache_control',
      'top_k',
    ]);
  });
});

describe('strict params', () => {
  it('refuse, by header, a request that would lose something, and name it all', async () => {
    await expectRefused(() => ask({ headers: strictly }));
    await expectRefused(() => ask({ headers: strictly, body: { ...odd, stream: true } }));
    const harmless = ask({
      headers: strictly,
      body: { ...chatBody, model: 'claude-sonnet-4-5' },
    });
    expect((await harmless).status).toBe(200);
  });

  it.each(['false', '1', 'TRUE', ''])('are not asked for by the header %j', (value) =>
    expectTold(ask({ headers: { 'x-service-strict-params': value } })),
  );

  it('refuse by the config, the nearest word winning, whatever the header says', async () => {
    const target = { provider: 'anthropic', api_key: 'sk-a' };
    const config = (root: object, leaf: object) => ({ ...root, targets: [{ ...target, ...leaf }] });
    const strict = { strict_params: true };
    const lax = { strict_params: false };
    await expectRefused(() => ask({ config: config(strict, {}) }));
    await expectRefused(() => ask({ config: config(lax, strict) }));
    await expectRefused(() => ask({ config: config({ strictParams: true }, {}) }));
    await expectRefused(() =>
      ask({ config: config(strict, {}), headers: { 'x-service-strict-params': 'false' } }),
    );
    await expectRefused(() => ask({ config: config(lax, {}), headers: strictly }));
    await expectTold(ask({ config: config(strict, lax) }));
  });

  it('refuse by STRICT_PARAMS, which nobody can switch off', async () => {
    const gateway = strictGateway;
    await expectRefused(() => ask({ gateway }));
    await expectRefused(() => ask({ gateway, headers: { 'x-service-strict-params': 'false' } }));
    await expectRefused(() =>
      ask({
        gateway,
        config: { provider: 'anthropic', api_key: 'sk-a', strict_params: false },
      }),
    );
  });

  it('let a fallback find a target that can take everything', async () => {
    const host = `${scenario.upstream.url}/v1`;
    const config = {
      strategy: { mode: 'fallback' },
      strict_params: true,
      targets: [
        { provider: 'anthropic', api_key: 'sk-a', custom_host: host },
        { provider: 'openai', api_key: 'sk-o', custom_host: host },
      ],
    };
    const seen = scenario.upstream.requests.length;
    const asking = ask({ host: null, config, headers: { 'x-service-provider': '' } });
    scenario.upstream.handle(openAiReply);
    const response = await asking;
    expect(response.status).toBe(200);
    expect(response.headers.get('x-service-last-used-option-index')).toBe('config.targets[1]');
    expect(scenario.upstream.requests).toHaveLength(seen + 1);
    expect(scenario.upstream.requests.at(-1)?.json()).toEqual(odd);
  });
});

describe('x-service-ignored-config', () => {
  const config = {
    provider: 'anthropic',
    api_key: 'sk-a',
    retyr: { attempts: 2 },
    before_request_hooks: [{ id: 'h', checks: [], dney: true }],
  };
  const paths = ['config.before_request_hooks[0].dney', 'config.retyr'];
  const body = { ...chatBody, model: 'claude-sonnet-4-5' };
  const ignoredOf = (response: Response) => response.headers.get('x-service-ignored-config');

  it('names the keys of an inline config that nobody knows, and explain does', async () => {
    const answered = await ask({ body, config });
    expect([answered.status, ignoredOf(answered)]).toEqual([200, paths.join(',')]);
    const failed = await ask({ body: { ...body, messages: 5 }, config });
    expect([failed.status, ignoredOf(failed)]).toEqual([400, paths.join(',')]);
    const known = await ask({ body, config: { provider: 'anthropic', api_key: 'sk-a' } });
    expect([known.status, ignoredOf(known)]).toEqual([200, null]);
    const explained = await scenario.call('/v1/explain/chat/completions', {
      body,
      headers: { 'x-service-config': JSON.stringify(config) },
    });
    expect(await explained.json()).toMatchObject({ config: { source: 'inline', ignored: paths } });
  });

  it('is a refusal where anybody asks for one', async () => {
    for (const asking of [
      { headers: strictly },
      { gateway: strictGateway },
      { config: { ...config, strict_params: true } },
    ]) {
      const error = await errorOf(await ask({ body, config, ...asking }));
      expect(error).toMatchObject({ status: 400, code: 'config.invalid', param: paths[0] });
      expect(error.message).toContain('is no field here');
    }
  });
});

it('what a provider hands out for a stored credential passes where the operator lets it', async () => {
  const { workspace_id } = scenario.stack.credentials;
  const custom_host = `${scenario.upstream.url}/v1`;
  const config = { provider: 'openai', api_key: 'sk-stored', custom_host };
  const saved = await scenario.admin<{ data: { slug: string } }>('POST', '/configs', {
    name: 'Hands out',
    workspace_id,
    config,
  });
  scenario.upstream.handle(openAiReply);
  const askAt = (gateway: number) =>
    scenario.call('/v1/live/sessions', {
      gateway,
      host: null,
      headers: { 'x-service-config': saved.data.slug },
    });
  expect((await errorOf(await askAt(0))).code).toBe('credential.handed_out');
  expect((await askAt(strictGateway)).status).toBe(200);
});
