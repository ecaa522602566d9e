import { setTimeout as delay } from 'node:timers/promises';
import { bytes, eventually, freshName, isLongForm, json } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { type Lab, startLab } from './lab.ts';
import { type Answers, type DnsServer, startDns } from './outbound/dns-server.ts';
import { probesOf } from './probe.ts';
import { chatBody, chatReply } from './scenario.ts';
import {
  anthropicEvent,
  anthropicEvents,
  anthropicOverloaded,
  eventsOf,
  openAiEvents,
  openAiReply,
  stream,
  streamRoads,
  textOf,
} from './vendor-replies.ts';

/** Cache and limits, hosts, formats, and what passes through. */
let lab: Lab;
let dns: DnsServer;
const savedOnly = 1;
beforeAll(async () => {
  dns = await startDns(changeMind);
  lab = await startLab({
    gateways: 2,
    environment: {
      gateway: { DNS_SERVERS: `127.0.0.1:${dns.port}` },
      'gateway-2': { BLOCK_INLINE_CONFIG: 'true' },
    },
  });
});
afterAll(async () => {
  await lab.stop();
  dns.close();
});

/** Global unicast that was never assigned to anybody, and this machine from the second question on. */
const changeMind: Answers = (_name, family, nth) => {
  if (nth === 0) return family === 6 ? ['2000::1'] : [];
  return family === 4 ? ['127.0.0.1'] : [];
};
const probe = probesOf(() => lab);

const bodySaying = (content: string) => ({ ...chatBody, messages: [{ role: 'user', content }] });
const cache = { mode: 'simple' };

describe.concurrent('probes of limits', () => {
  probe(
    33,
    'a token limit of 100 admits an answer of 500, then nothing until its minute ends',
    async (trial) => {
      const usage = { prompt_tokens: 300, completion_tokens: 200, total_tokens: 500 };
      const upstream = await trial.upstream('first', json(200, { ...chatReply, usage }));
      const { workspace_id } = lab.scenario.stack.credentials;
      const { key } = await lab.scenario.admin<{ key: string }>(
        'POST',
        '/api-keys/workspace/service',
        {
          name: 'a hundred tokens',
          scopes: ['completions.write'],
          workspace_id,
          rate_limits: [{ type: 'tokens', unit: 'rpm', value: 100 }],
        },
      );
      const ask = () => trial.ask({ config: upstream.target(), key });
      // Both of the first two calls must fall into one minute of the wall clock.
      const leftMs = 60_000 - (Date.now() % 60_000);
      if (leftMs < 5000) await delay(leftMs);

      expect((await ask()).answer.status).toBe(200);
      const refused = await ask();
      expect(refused.answer.status).toBe(429);
      expect(refused.answer.json).toMatchObject({ error: { code: 'limit.rate_exceeded' } });
      expect(refused.calls).toEqual([]);
      const waitS = Number(refused.answer.headers.get('retry-after'));
      expect(Math.abs(waitS - (60 - (Date.now() % 60_000) / 1000))).toBeLessThan(2);
      // Minutes are the clock's; `npm run test:long` waits for the end of this one.
      if (!isLongForm) return;
      await delay(60_000 - (Date.now() % 60_000) + 200);
      expect((await ask()).answer.status).toBe(200);
    },
    90_000,
  );

  probe(9, 'the cache answers though the provider’s limit is exhausted', async (trial) => {
    const upstream = await trial.upstream('first', openAiReply);
    const provider = await lab.saveProvider({
      aiProviderId: 'openai',
      key: 'sk-saved',
      customHost: `${upstream.url}/v1`,
      // Two gateways without Redis: this one's share is one, once it knows of the other.
      rateLimits: [{ type: 'requests', unit: 'rpd', value: 2 }],
    });
    const ask = (content: string) =>
      trial.ask({ config: { provider, cache }, body: bodySaying(content) });
    await eventually(async () => {
      const metrics = await (await fetch(lab.scenario.stack.gatewayMetricsUrl)).text();
      expect(metrics).toMatch(/^sluice_limits_degraded(?:\{.*\})? 1$/m);
    });
    const filled = await ask('kept');
    expect([filled.answer.status, filled.answer.own('cache-status')]).toEqual([200, 'MISS']);
    expect((await ask('other')).answer.status).toBe(429);
    const kept = await ask('kept');
    expect([kept.answer.status, kept.answer.own('cache-status')]).toEqual([200, 'HIT']);
    expect(kept.answer.json).toEqual(chatReply);
    expect(upstream.requests).toHaveLength(1);
  });
});

describe.concurrent('probes of the cache', () => {
  probe(10, 'force-refresh: false is no refresh', async (trial) => {
    const upstream = await trial.upstream('first', openAiReply);
    const ask = async (refresh?: string) => {
      const { answer } = await trial.ask({
        config: upstream.target({ cache }),
        headers: refresh === undefined ? {} : { 'x-service-cache-force-refresh': refresh },
      });
      return answer.own('cache-status');
    };
    expect(await ask()).toBe('MISS');
    expect(await ask('false')).toBe('HIT');
    expect(await ask('true')).toBe('REFRESH');
    expect(await ask()).toBe('HIT');
    expect(upstream.requests).toHaveLength(2);
  });

  probe(11, 'another provider has not answered yet', async (trial) => {
    const upstream = await trial.upstream('first', openAiReply);
    const statusAt = async (provider: string) => {
      const { answer } = await trial.ask({ config: upstream.target({ provider, cache }) });
      return answer.own('cache-status');
    };
    expect(await statusAt('openai')).toBe('MISS');
    expect(await statusAt('vllm')).toBe('MISS');
    expect(await statusAt('openai')).toBe('HIT');
    expect(upstream.requests).toHaveLength(2);
  });
});

describe.concurrent('probes of hosts', () => {
  probe(18, 'odd spellings of this machine are refused, though it is trusted', async (trial) => {
    const upstream = await trial.upstream('first', openAiReply);
    // The plain spelling is allowed here: what follows is refused for its spelling.
    expect((await trial.ask({ config: upstream.target() })).answer.status).toBe(200);
    for (const host of [
      'http://2130706433',
      'http://127.1',
      'http://[::ffff:127.0.0.1]',
      'http://x.nip.io',
    ]) {
      const at = `${host}:${upstream.port}/v1`;
      const inHeader = await trial.ask({
        config: upstream.target(),
        headers: { 'x-service-custom-host': at },
      });
      const inConfig = await trial.ask({ config: upstream.target({ custom_host: at }) });
      for (const { answer } of [inHeader, inConfig]) {
        expect(answer.status, host).toBe(400);
        expect(answer.json, host).toMatchObject({ error: { code: 'host.invalid' } });
      }
    }
    expect(upstream.requests).toHaveLength(1);
  });

  probe(19, 'a name that turns private is refused when connecting', async (trial) => {
    const upstream = await trial.upstream('first', openAiReply);
    const host = `${freshName('rebind')}.flips.example`;
    const ask = () =>
      trial.ask({
        config: upstream.target({ custom_host: `http://${host}:${upstream.port}/v1` }),
        headers: { 'x-service-request-timeout': '700' },
      });
    // While it is public the gateway tries to go there, and finds nobody.
    expect([408, 503]).toContain((await ask()).answer.status);
    const flipped = await ask();
    expect(flipped.answer.status).toBe(400);
    expect(flipped.answer.json).toMatchObject({ error: { code: 'host.invalid' } });
    expect(flipped.answer.text).not.toContain('127.0.0.1');
    expect(upstream.requests).toHaveLength(0);
  });

  probe(28, 'saved-only mode names the inline config first, and only that', async (trial) => {
    const upstream = await trial.upstream('first', openAiReply);
    const { answer } = await trial.ask({
      gateway: savedOnly,
      config: upstream.target(),
      headers: { 'x-service-provider': 'openai' },
    });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      status: 'failure',
      error: { code: 'inline_config_blocked', field: 'x-service-config' },
    });
    expect(answer.text).not.toContain('inline_provider_blocked');
    expect(upstream.requests).toHaveLength(0);
  });
});

describe.concurrent('probes of streams', () => {
  probe(20, 'comments in a stream disturb nothing', async (trial) => {
    for (const road of streamRoads) {
      const events = road
        .events('Hel', 'lo')
        .flatMap((event) => [': ping\n\n', event, ': PROCESSING - 1\n\n']);
      const upstream = await trial.upstream('first', stream(events));
      const { answer, records } = await trial.ask({
        config: upstream.target({ provider: road.provider }),
        path: road.path,
        body: road.body,
        records: 1,
      });
      expect(answer.status, road.name).toBe(200);
      expect(textOf(answer.text), road.name).toBe('Hello');
      expect(eventsOf(answer.text).at(-1), road.name).toEqual(
        road.callerFormat === 'openai' ? '[DONE]' : { type: 'message_stop' },
      );
      expect(records, road.name).toMatchObject([{ outcome: 'SUCCESS', tokens: [1000, 500] }]);
    }
  });

  probe(21, 'an overloaded Anthropic is 529 with the flag, a stream without', async (trial) => {
    const ping = anthropicEvent({ type: 'ping' });
    const overloaded = stream([ping, anthropicOverloaded]);
    const whole = anthropicEvents('Hello');
    const saved = async (name: string, flag: boolean, ...replies: (typeof overloaded)[]) => {
      const upstream = await trial.upstream(name, ...replies);
      return lab.saveProvider({
        aiProviderId: 'anthropic',
        key: 'sk-ant',
        customHost: `${upstream.url}/v1`,
        configurations: { anthropic_inspect_stream_for_overloaded_error: flag },
      });
    };
    const ask = (config: object) =>
      trial.ask({
        config,
        path: '/v1/messages',
        body: { ...chatBody, model: 'claude-sonnet-4-5', max_tokens: 10, stream: true },
      });

    const flagged = await ask({ provider: await saved('flagged', true, overloaded) });
    expect(flagged.answer.status).toBe(529);
    expect(flagged.answer.json).toMatchObject({ error: { type: 'overloaded_error' } });

    const plain = await ask({ provider: await saved('plain', false, overloaded) });
    expect(plain.answer.status).toBe(200);
    expect(plain.answer.text).toBe(ping + anthropicOverloaded);

    // It is among the codes that are retried; what is not overloaded loses nothing.
    const retried = await ask({
      provider: await saved('retried', true, overloaded, stream([ping, ...whole])),
      retry: { attempts: 1 },
    });
    const { status, text } = retried.answer;
    const seen = { status, text, tries: retried.answer.own('retry-attempt-count') };
    expect(seen).toEqual({
      status: 200,
      text: ping + whole.join(''),
      tries: '1',
    });
  });

  probe(34, 'a messages stream from an OpenAI upstream has Anthropic’s order', async (trial) => {
    const upstream = await trial.upstream('first', stream(openAiEvents('Hel', 'lo')));
    const { answer } = await trial.ask({
      config: upstream.target(),
      path: '/v1/messages',
      body: { ...chatBody, max_tokens: 10, stream: true },
    });
    expect(answer.status).toBe(200);
    const types = eventsOf(answer.text).map((event) => (event as { type: string }).type);
    expect(types).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    const names = [...answer.text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    expect(names).toEqual(types);
    expect(textOf(answer.text)).toBe('Hello');
  });
});

describe.concurrent('probes of pass-through', () => {
  probe(24, 'the provider’s credential wins; our headers stay here', async (trial) => {
    const upstream = await trial.upstream('first', json(200, {}));
    const provider = await lab.saveProvider({
      aiProviderId: 'openai',
      key: 'sk-saved',
      customHost: `${upstream.url}/v1`,
    });
    const { answer } = await trial.ask({
      path: '/v1/proxy/some/path',
      headers: {
        'x-service-provider': provider,
        'x-service-metadata': '{"a":"b"}',
        'x-service-anything': '1',
        authorization: 'Bearer sk-of-the-caller',
        'x-own': 'kept',
      },
    });
    expect(answer.status).toBe(200);
    const { headers, path } = await upstream.received(1);
    expect(path).toBe('/v1/some/path');
    expect(headers.authorization).toBe('Bearer sk-saved');
    expect(headers['x-own']).toBe('kept');
    expect(Object.keys(headers).filter((name) => name.startsWith('x-service-'))).toEqual([]);
  });

  probe(25, '/v1/proxy/chat/completions is byte-identical both ways', async (trial) => {
    const reply = Buffer.from('{ "id":"x", "n": 1.50, "x":"h\\u00e9", "x":2 }\n');
    const upstream = await trial.upstream(
      'first',
      bytes(200, reply, { 'content-type': 'application/json' }),
    );
    const sent = '{ "model":"m",\n"messages":[ ], "temperature":1.0e0, "a":1, "a":2 }';
    const { answer } = await trial.ask({
      path: '/v1/proxy/chat/completions',
      config: upstream.target(),
      rawBody: sent,
    });
    expect(answer.text).toBe(reply.toString());
    expect((await upstream.received(1)).body.toString()).toBe(sent);
  });

  probe(26, 'a PUT without a body stays without one', async (trial) => {
    const upstream = await trial.upstream('first', json(200, {}));
    const { answer } = await trial.ask({
      method: 'PUT',
      path: '/v1/things/1',
      config: upstream.target(),
      rawBody: '',
    });
    expect(answer.status).toBe(200);
    const request = await upstream.received(1);
    expect(request.body).toHaveLength(0);
    expect(request.headers['transfer-encoding']).toBeUndefined();
  });
});

// By itself: it asks every provider of the workspace, whose upstreams have an answer for each request of their own probe.
describe('probes of lists', () => {
  probe(27, 'models: the provider’s, the workspace’s, or those of the config', async (trial) => {
    const upstream = await trial.upstream(
      'first',
      json(200, { object: 'list', data: [{ id: 'of-the-provider', object: 'model' }] }),
    );
    const settings = { aiProviderId: 'openai', key: 'sk', customHost: `${upstream.url}/v1` };
    const [one, other] = [await lab.saveProvider(settings), await lab.saveProvider(settings)];
    for (const slug of [one, other])
      await lab.manage('PUT', `/integrations/${slug.slice(1)}/models`, {
        models: [{ slug: `model-of-${slug.slice(1)}`, enabled: true }],
      });
    const list = async (headers: Record<string, string>, config?: object) => {
      const { answer } = await trial.ask({ method: 'GET', path: '/v1/models', headers, config });
      expect(answer.status).toBe(200);
      return (answer.json as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    const own = (slug: string) => `${slug}/model-of-${slug.slice(1)}`;
    const forced = { 'x-service-fetch-integrated-models': 'true' };

    await eventually(async () => {
      expect(await list({})).toEqual(expect.arrayContaining([own(one), own(other)]));
    });
    expect(upstream.requests).toHaveLength(0);
    expect(await list({ 'x-service-provider': one })).toEqual(['of-the-provider']);
    expect(await list(forced, { provider: one })).toEqual([own(one)]);
    const both = {
      strategy: { mode: 'fallback' },
      targets: [{ provider: one }, { provider: other }],
    };
    expect(new Set(await list(forced, both))).toEqual(new Set([own(one), own(other)]));
    const byModel = { override_params: { model: `${other}/any` } };
    expect(await list(forced, byModel)).toEqual([own(other)]);
    const open = {
      strategy: { mode: 'fallback' },
      targets: [{ provider: one }, { passthrough: true }],
    };
    expect(await list(forced, open)).toEqual(expect.arrayContaining([own(one), own(other)]));
  });
});
