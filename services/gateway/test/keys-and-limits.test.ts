import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { eventually, freshName, isLongForm, json, waitMs } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import {
  chatBody,
  chatReply,
  errorOf,
  modes,
  patientStore,
  type Scenario,
  startScenario,
} from './scenario.ts';

/** Well formed, and never created: what somebody with our sources could send. */
function forgedKey(seed: string): string {
  const body = `sl_${createHash('sha256').update(seed).digest('base64url')}`;
  return body + createHash('sha256').update(body).digest('base64url').slice(0, 6);
}

/** Of a change that gateways are told of: a second, and ten times of it in the suite, which busy machines run. */
const soonMs = isLongForm ? 1_000 : 10_000;

/** Calls until the answer has this status; the time it took, in ms. */
async function becomes(
  status: number,
  call: () => Promise<Response>,
  deadlineMs = waitMs,
): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const response = await call();
    await response.arrayBuffer();
    const elapsed = performance.now() - startedAt;
    if (response.status === status) return elapsed;
    if (elapsed > deadlineMs)
      throw new Error(`still ${response.status} after ${Math.round(elapsed)} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe.each(modes)('keys and limits, %s', (_mode, options) => {
  /** What Redis and NATS have no part in is told in both modes by `npm run test:long`. */
  const isToldHere = isLongForm || options.redis !== true;
  let scenario: Scenario;
  let workspaceId: string;
  beforeAll(async () => {
    scenario = await startScenario(options);
    workspaceId = scenario.stack.credentials.workspace_id;
    scenario.upstream.handle(json(200, chatReply));
  });
  afterAll(() => scenario.stop());

  const newKey = (body: object = {}) =>
    scenario.admin<{ id: string; key: string }>('POST', '/api-keys/workspace/service', {
      name: 'test key',
      scopes: ['completions.write'],
      workspace_id: workspaceId,
      ...body,
    });
  const savePolicy = (body: object) =>
    scenario.admin<{ id: string }>('POST', '/policies/rate-limits', {
      name: 'test policy',
      workspace_id: workspaceId,
      ...body,
    });
  /** Of a test, which may fail before it ends it: else it limits all that are after it. */
  const newPolicy = async (body: object) => {
    const made = await savePolicy(body);
    onTestFailed(async () => {
      await scenario.admin('DELETE', `/policies/rate-limits/${made.id}`).catch(() => {});
    });
    return made;
  };
  const lookups = async () =>
    Number(
      /^sluice_key_lookups\{[^}]*\} (\d+)/m.exec(
        await (await fetch(scenario.stack.gatewayMetricsUrl)).text(),
      )?.[1],
    );

  const keys = () => {
    let expiring: { id: string; key: string };
    beforeAll(async () => {
      expiring = await newKey({ expires_at: new Date(Date.now() + 8_000).toISOString() });
      expect((await scenario.chat({ key: expiring.key })).status, expiring.id).toBe(200);
    });

    it('no key is 401', async () => {
      const response = await fetch(`${scenario.stack.gatewayUrls[0]}/v1/chat/completions`, {
        method: 'POST',
        body: '{}',
      });
      expect(await errorOf(response)).toMatchObject({ status: 401, code: 'auth.missing_key' });
    });

    it('a wrong key is 401, and mistyped ones never cost a look-up', async () => {
      const before = await lookups();
      for (let index = 0; index < 50; index++)
        expect(await errorOf(await scenario.chat({ key: `sl_wrong${index}` }))).toMatchObject({
          status: 401,
          code: 'auth.invalid_key',
        });
      expect(await lookups()).toBe(before);
    });

    it('a forged key costs one look-up however often it is sent', async () => {
      const before = await lookups();
      const key = forgedKey(freshName('forged'));
      const answers = await Promise.all(Array.from({ length: 100 }, () => scenario.chat({ key })));
      expect(new Set(answers.map((response) => response.status))).toEqual(new Set([401]));
      await Promise.all(answers.map((response) => response.arrayBuffer()));
      expect(await lookups()).toBe(before + 1);
    });

    it('a key without the scope is 403 with the published body', async () => {
      const { key } = await newKey({ scopes: ['logs.view'] });
      const response = await scenario.chat({ key });
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({
        success: false,
        data: { errorCode: 'AB03' },
        error: { code: 'auth.missing_scope' },
      });
    });

    it('an organisation key cannot call models', async () => {
      expect(
        await errorOf(await scenario.chat({ key: scenario.stack.credentials.admin_key })),
      ).toMatchObject({ status: 403, code: 'auth.wrong_key_type' });
    });

    it('a new key works at once, and stops within a second of its deletion', async () => {
      const { id, key } = await newKey();
      expect((await scenario.chat({ key })).status).toBe(200);
      await scenario.admin('DELETE', `/api-keys/${id}`);
      expect(await becomes(401, () => scenario.chat({ key }))).toBeLessThan(soonMs);
    });

    it('a secret stops at once when its key is rotated without an overlap', async () => {
      const { id, key } = await newKey();
      expect((await scenario.chat({ key })).status).toBe(200);
      const rotated = await scenario.admin<{ key: string }>('POST', `/api-keys/${id}/rotate`, {
        key_transition_period_ms: 0,
      });
      expect((await scenario.chat({ key })).status).toBe(401);
      expect((await scenario.chat({ key: rotated.key })).status).toBe(200);
    });

    it('after a rotation both secrets work until the overlap ends', async () => {
      const { id, key } = await newKey();
      expect((await scenario.chat({ key })).status).toBe(200);
      const rotated = await scenario.admin<{ key: string; key_transition_expires_at: string }>(
        'POST',
        `/api-keys/${id}/rotate`,
        {},
      );
      expect((await scenario.chat({ key: rotated.key })).status).toBe(200);
      expect((await scenario.chat({ key })).status).toBe(200);
      expect(Date.parse(rotated.key_transition_expires_at)).toBeGreaterThan(Date.now());
    });

    it('an expired key is 401', async () => {
      const { key } = expiring;
      await eventually(async () => expect((await scenario.chat({ key })).status).toBe(401));
    });
  };
  if (isToldHere) describe('keys', keys);

  const twoTeams = async () => {
    const page = await readFile(new URL('../../../docs/two-teams.md', import.meta.url), 'utf8');
    const script = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block).join('\n');
    expect(script.match(/^(call |RED_KEY|BLUE_KEY|curl| {2}curl -sS "\$GATEWAY)/gm)).toHaveLength(
      11,
    );
    const run = async () => {
      const env = {
        PATH: process.env.PATH,
        GATEWAY: scenario.stack.gatewayUrls[0],
        ADMIN_KEY: scenario.stack.credentials.admin_key,
        OPENAI_API_KEY: 'sk-two-teams',
        OPENAI_BASE_URL: `${scenario.upstream.url}/v1`,
      };
      const told = `${script}\necho; echo "keys $RED_KEY $BLUE_KEY"`;
      const { stdout } = await promisify(execFile)('bash', ['-c', told], { env });
      return stdout;
    };
    const made = async () => {
      const kinds = ['/admin/workspaces', '/api-keys', '/integrations', '/policies/usage-limits'];
      const rows = kinds.map(async (path) => {
        const { data } = await scenario.admin<{ data: Record<string, unknown>[] }>(
          'GET',
          `${path}?page_size=100`,
        );
        return data.map(({ id, created_at, key }) => [id, created_at, key]);
      });
      const config = await scenario.admin<{ data: { version_id: string } }>(
        'GET',
        '/configs/red-default?workspace_id=team-red',
      );
      return [await Promise.all(rows), config.data.version_id];
    };
    const first = await run();
    // 1,000 tokens of input and 500 of output of gpt-4o-mini.
    expect(first).toMatch(/^x-service-cost: 0\.045\s*$/m);
    expect(first).toMatch(/Rate limit exceeded for API key \\?"blue-service/);
    expect(first.split('\n').find((line) => line.includes('"object":"explain"'))).toContain(
      'blue-service',
    );
    const before = await made();
    const second = await run();
    expect(await made()).toEqual(before);
    const keysOf = (text: string) => /^keys (sl_\S+ sl_\S+)$/m.exec(text)?.[1];
    expect([keysOf(first) === undefined, keysOf(second)]).toEqual([false, keysOf(first)]);
  };
  if (isToldHere)
    it('the script of docs/two-teams.md does what it says, and nothing the second time', twoTeams);

  describe('rate limits', () => {
    it('429 names the entity by slug and says when to come back; an edit takes effect within a second', async () => {
      const { id, key } = await newKey({ name: 'limited key' });
      const policy = await newPolicy({
        type: 'requests',
        unit: 'rpd',
        value: 3,
        conditions: [{ key: 'api_key', value: id }],
        group_by: [{ key: 'api_key' }],
      });
      // The new policy first has to arrive.
      await becomes(429, () => scenario.chat({ key }));
      const refused = await scenario.chat({ key });
      const headers = refused.headers;
      const error = await errorOf(refused);
      expect(error).toMatchObject({ status: 429, code: 'limit.rate_exceeded' });
      expect(error.message).toContain('exceeded');
      expect(error.message).not.toContain(id);
      expect(error.message).toMatch(/API key "/);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(headers.get('x-service-ratelimit-limit-requests')).toBe('3');
      expect(headers.get('x-service-ratelimit-remaining-requests')).toBe('0');

      await scenario.admin('PUT', `/policies/rate-limits/${policy.id}`, { value: 1000 });
      expect(await becomes(200, () => scenario.chat({ key }))).toBeLessThan(soonMs);
      await scenario.admin('DELETE', `/policies/rate-limits/${policy.id}`);
    });

    it('a policy for all workspaces counts once over them, names itself, and takes a key by its slug', async () => {
      const other = await scenario.admin<{ id: string }>('POST', '/admin/workspaces', {
        name: 'B',
      });
      const slugs = ['all-here', 'all-there'].map(freshName);
      const keys = [
        await newKey({ slug: slugs[0] }),
        await newKey({ slug: slugs[1], workspace_id: other.id }),
      ];
      const policy = { name: 'Everybody', workspace_id: undefined, all_workspaces: true };
      const { id } = await newPolicy({
        ...policy,
        type: 'requests',
        unit: 'rpd',
        value: 3,
        conditions: [{ key: 'api_key', value: slugs }],
        group_by: [{ key: 'organisation_id' }],
      });
      const codes = [];
      const headers = {
        'x-service-provider': 'openai',
        'x-service-custom-host': `${scenario.upstream.url}/v1`,
        authorization: 'Bearer sk-x',
      };
      for (const at of [0, 1, 0, 1, 0]) {
        const answer = await eventually(async () => {
          const one = await scenario.chat({ key: keys[at]?.key, headers });
          // On a busy machine a gateway may not be told in time of a workspace that it meets: that counts nowhere.
          return one.status !== 503 && one;
        });
        codes.push(answer.status);
        if (answer.status === 429)
          expect((await errorOf(answer)).message).toContain(
            'the organisation\'s policy "Everybody"',
          );
        else await answer.arrayBuffer();
      }
      expect(codes).toEqual([200, 200, 200, 429, 429]);
      await scenario.admin('DELETE', `/policies/rate-limits/${id}`);
    });

    it('admits exactly the value of a minute, over bursts', async () => {
      const { id, key } = await newKey();
      const policy = await newPolicy({
        type: 'requests',
        unit: 'rpd',
        value: 100,
        conditions: [
          { key: 'metadata.run', value: 'exact' },
          { key: 'api_key', value: id },
        ],
        group_by: [{ key: 'metadata.tenant' }],
      });
      const call = (tenant: string) =>
        scenario.chat({
          key,
          headers: { 'x-service-metadata': JSON.stringify({ run: 'exact', tenant }) },
        });
      await becomes(200, async () => {
        const response = await call('warm-up');
        return response.headers.has('x-service-ratelimit-limit-requests')
          ? response
          : new Response(null, { status: 299 });
      });
      for (const tenant of ['a', 'b']) {
        const answers = await Promise.all(Array.from({ length: 150 }, () => call(tenant)));
        const statuses = answers.map((response) => response.status);
        await Promise.all(answers.map((response) => response.arrayBuffer()));
        expect(statuses.filter((status) => status === 200)).toHaveLength(100);
        expect(statuses.filter((status) => status === 429)).toHaveLength(50);
      }
      await scenario.admin('DELETE', `/policies/rate-limits/${policy.id}`);
    });

    it('a token limit refuses once the tokens are spent', async () => {
      const { id, key } = await newKey();
      const policy = await newPolicy({
        type: 'tokens',
        unit: 'rpd',
        value: 100,
        conditions: [
          { key: 'model', value: '@openai/*' },
          { key: 'api_key', value: id },
        ],
        group_by: [{ key: 'model' }],
      });
      await becomes(429, () => scenario.chat({ key }));
      // Another model has a counter of its own.
      expect((await scenario.chat({ key, body: { ...chatBody, model: 'gpt-4o' } })).status).toBe(
        200,
      );
      await scenario.admin('DELETE', `/policies/rate-limits/${policy.id}`);
    });

    describe('after a fallback', () => {
      const policies: { id: string }[] = [];
      beforeAll(async () => {
        for (const [model, value] of [
          ['few', 3],
          ['many', 1000],
        ])
          policies.push(
            await savePolicy({
              type: 'requests',
              unit: 'rpd',
              value,
              conditions: [{ key: 'model', value: `@openai/${model}` }],
              group_by: [{ key: 'api_key' }, { key: 'model' }],
            }),
          );
        const { key } = await newKey();
        const told = async () => {
          const answer = await scenario.chat({ key, body: { ...chatBody, model: 'many' } });
          return answer.headers.has(limit) ? answer : new Response(null, { status: 299 });
        };
        await becomes(200, told);
        scenario.upstream.handle((call) =>
          String(call.body).includes('"few"')
            ? json(503, { error: { message: 'busy' } })
            : json(200, chatReply),
        );
      });
      afterAll(async () => {
        scenario.upstream.handle(json(200, chatReply));
        for (const { id } of policies)
          await scenario.admin('DELETE', `/policies/rate-limits/${id}`);
      });
      const limit = 'x-service-ratelimit-limit-requests';
      const remaining = 'x-service-ratelimit-remaining-requests';
      /** `few` is asked first and fails. */
      const fallTo = async (model: string, key: string) => {
        const targets = ['few', model].map((each) => ({
          provider: 'openai',
          api_key: 'sk-upstream',
          custom_host: `${scenario.upstream.url}/v1`,
          override_params: { model: each },
        }));
        const config = { strategy: { mode: 'fallback' }, targets };
        const { headers, status } = await scenario.chat({
          key,
          host: null,
          headers: { 'x-service-config': JSON.stringify(config) },
        });
        return {
          status,
          from: headers.get('x-service-last-used-option-index'),
          limit: headers.get(limit),
          remaining: headers.get(remaining),
        };
      };

      it('headers tell the limits of the target that answered', async () => {
        const { key } = await newKey();
        const answered = { status: 200, from: 'config.targets[1]' };
        expect(await fallTo('many', key)).toEqual({
          ...answered,
          limit: '1000',
          remaining: '999',
        });
        expect(await fallTo('unlimited', key)).toEqual({
          ...answered,
          limit: null,
          remaining: null,
        });
      });

      it('headers tell the limits of the request as well, whatever target answered', async () => {
        const rate_limits = [{ type: 'requests', unit: 'rpd', value: 500 }];
        const { key } = await newKey({ rate_limits });
        expect(await fallTo('many', key)).toMatchObject({ limit: '500', remaining: '499' });
        expect(await fallTo('unlimited', key)).toMatchObject({ limit: '500', remaining: '498' });
      });
    });

    it('a limit on the key itself counts too', async () => {
      const { key } = await newKey({ rate_limits: [{ type: 'requests', unit: 'rpd', value: 2 }] });
      const statuses = [];
      for (let index = 0; index < 4; index++) {
        const response = await scenario.chat({ key });
        await response.arrayBuffer();
        statuses.push(response.status);
      }
      expect(statuses).toEqual([200, 200, 429, 429]);
    });
  });
});

describe('two gateways with one Redis', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await startScenario({ gateways: 2, redis: true, environment: patientStore });
    scenario.upstream.handle(json(200, chatReply));
  });
  afterAll(() => scenario.stop());

  const keyWith = (value: number) =>
    scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
      name: 'shared',
      scopes: ['completions.write'],
      workspace_id: scenario.stack.credentials.workspace_id,
      rate_limits: [{ type: 'requests', unit: 'rpd', value }],
    });

  it('100 per window admit 100 over both, not 101', async () => {
    const { key } = await keyWith(100);
    const alone = new Set<string>();
    const statuses = await Promise.all(
      Array.from({ length: 300 }, async (_, index) => {
        const response = await scenario.chat({ key, gateway: index % 2 });
        await response.arrayBuffer();
        const degraded = response.headers.get('x-service-limits-degraded');
        if (degraded !== null) alone.add(degraded);
        return response.status;
      }),
    );
    expect([...alone]).toEqual([]);
    expect(statuses.filter((status) => status === 200)).toHaveLength(100);
    expect(statuses.filter((status) => status === 429)).toHaveLength(200);
  });
});
