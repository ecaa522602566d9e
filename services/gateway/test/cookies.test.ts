import { json, sse } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CallOptions, chatBody, chatReply, type Scenario, startScenario } from './scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario.stop());

/** As providers behind Cloudflare and the like answer. */
const ofHost = {
  'set-cookie': '__cf_bm=secret; path=/; HttpOnly',
  'clear-site-data': '"cookies"',
  'access-control-allow-origin': 'https://provider.example',
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers': 'x-request-id',
  'access-control-allow-private-network': 'true',
};
const kept = { 'x-ratelimit-limit-requests': '7' };

const anthropic: CallOptions = { headers: { 'x-service-provider': 'anthropic' } };
const stream = { body: { model: 'gpt-4o-mini', stream: true, messages: [] } };
const chunk = { choices: [{ index: 0, delta: { content: 'Hi' } }] };

const ways: [string, string, CallOptions][] = [
  ['an answer as it came', '/v1/chat/completions', {}],
  ['a translated answer', '/v1/messages', { body: { ...chatBody, max_tokens: 10 } }],
  ['a stream', '/v1/chat/completions', stream],
  ['a translated refusal', '/v1/chat/completions', anthropic],
  ['a path that passes through', '/v1/threads/1', { method: 'GET' }],
  ['a path of the provider’s own', '/v1/proxy/anything', { body: { a: 1 } }],
  ['a stream of the provider’s own', '/v1/proxy/anything', stream],
];

beforeEach(() =>
  scenario.upstream.handle((request) => {
    const headers = { ...ofHost, ...kept };
    if (request.headers['x-api-key'] !== undefined)
      return json(
        429,
        { type: 'error', error: { type: 'rate_limit_error', message: 'later' } },
        headers,
      );
    return JSON.parse(request.body.toString() || '{}').stream === true
      ? sse([chunk, '[DONE]'], { headers })
      : json(200, chatReply, headers);
  }),
);

describe('what belongs to the host that was asked', () => {
  it.each(ways)('does not come from a provider with %s', async (_name, path, options) => {
    const answer = await scenario.call(path, options);
    await answer.arrayBuffer();
    expect(answer.headers.get('x-ratelimit-limit-requests')).toBe('7');
    const names = [...answer.headers.keys()];
    expect(names.filter((name) => name in ofHost || name.startsWith('access-control'))).toEqual([]);
  });

  it.each(ways)('does not go to a provider: %s', async (_name, path, options) => {
    const before = scenario.upstream.requests.length;
    const headers = { ...options.headers, cookie: 'session=of-the-gateway', 'x-other': 'of-mine' };
    await (await scenario.call(path, { ...options, headers })).arrayBuffer();
    const [asked] = scenario.upstream.requests.slice(before);
    expect(asked?.headers.cookie).toBeUndefined();
    if (path.startsWith('/v1/proxy')) expect(asked?.headers['x-other']).toBe('of-mine');
  });

  it.each(ways.filter(([, path]) => path !== '/v1/threads/1'))(
    'goes to a provider where a list of headers names it: %s',
    async (_name, path, options) => {
      const before = scenario.upstream.requests.length;
      const headers = {
        ...options.headers,
        cookie: 'session=meant',
        'x-service-forward-headers': 'Cookie',
      };
      await (await scenario.call(path, { ...options, headers })).arrayBuffer();
      expect(scenario.upstream.requests[before]?.headers.cookie).toBe('session=meant');
    },
  );
});
