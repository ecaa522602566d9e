import { json, startUpstream, type Upstream } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { policyBody } from './support/fixture.ts';
import { type GatewayProcess, startGateway } from './support/gateway-process.ts';
import { type ControlPlane, type Harness, startHarness } from './support/harness.ts';

/** How soon a running gateway must know. */
const heardMs = 1000;

let h: Harness;
let upstream: Upstream;
let replicas: ControlPlane[];
let gateways: GatewayProcess[];

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.handle(json(200, { id: 'x', object: 'chat.completion', model: 'm', choices: [] }));
  h = await startHarness();
  replicas = [h.service, await h.replica(), await h.replica()];
  gateways = await Promise.all(replicas.map((replica) => startGateway(h, replica)));
});
afterAll(async () => {
  await Promise.all((gateways ?? []).map((gateway) => gateway.stop()));
  await h.stop();
  await upstream.close();
});

/** What each gateway answers to the same request. */
async function ask(key: string, headers: Record<string, string> = {}): Promise<Response[]> {
  return Promise.all(
    gateways.map((gateway) =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          'x-service-api-key': key,
          'content-type': 'application/json',
          ...headers,
        },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] }),
      }),
    ),
  );
}

const statuses = async (key: string, headers?: Record<string, string>) =>
  (await ask(key, headers)).map((response) => response.status);

/** Sends the change to a replica, and asks until every gateway acts on it: ms from its answer. */
async function heardAfter(
  replica: number,
  change: { method: string; path: string; body?: object },
  isHeard: () => Promise<boolean>,
): Promise<number> {
  const url = `http://127.0.0.1:${replicas[replica]?.httpPort}/v1${change.path}`;
  const answer = await fetch(url, {
    method: change.method,
    headers: { 'x-service-api-key': h.first.admin_key, 'content-type': 'application/json' },
    body: change.body === undefined ? undefined : JSON.stringify(change.body),
  });
  expect(answer.status, await answer.text()).toBe(200);
  const answeredAt = performance.now();
  while (performance.now() - answeredAt < 5 * heardMs)
    if (await isHeard()) return performance.now() - answeredAt;
  throw new Error(`${change.method} ${change.path} was not heard`);
}

async function created(path: string, body: object): Promise<Record<string, string>> {
  const answer = await h.as(h.first.admin_key).post(path, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

describe.each([0, 1, 2])(
  'a change at replica %i reaches the gateways of all three within a second:',
  (replica) => {
    const direct = () => ({
      'x-service-provider': 'openai',
      'x-service-custom-host': `${upstream.url}/v1`,
      authorization: 'Bearer sk-x',
    });
    const newKey = () =>
      created('/api-keys/workspace/service', {
        name: 'Watched',
        scopes: ['completions.write'],
        workspace_id: h.first.workspace_slug,
      }) as Promise<{ id: string; key: string }>;

    it('a deleted key', async () => {
      const { id, key } = await newKey();
      expect(await statuses(key, direct())).toEqual([200, 200, 200]);
      const ms = await heardAfter(
        replica,
        { method: 'DELETE', path: `/api-keys/${id}` },
        async () => (await statuses(key, direct())).every((status) => status === 401),
      );
      expect(ms).toBeLessThan(heardMs);
    });

    it('a changed config', async () => {
      const { key } = await newKey();
      const config = await h.as(h.first.workspace_key).post('/configs', {
        name: 'Watched',
        config: { provider: 'openai', custom_host: `${upstream.url}/before`, api_key: 'sk-x' },
      });
      const { slug } = (await h.db.config.findUniqueOrThrow({
        where: { id: config.body.data.id },
      })) as { slug: string };
      const paths = async () => {
        const from = upstream.requests.length;
        await statuses(key, { 'x-service-config': slug });
        return upstream.requests.slice(from).map((request) => request.path);
      };
      expect((await paths()).every((path) => path.startsWith('/before/'))).toBe(true);
      const change = {
        method: 'PUT',
        path: `/configs/${slug}?workspace_id=${h.first.workspace_slug}`,
        body: {
          config: { provider: 'openai', custom_host: `${upstream.url}/after`, api_key: 'sk-x' },
        },
      };
      const ms = await heardAfter(replica, change, async () => {
        const seen = await paths();
        return seen.length === 3 && seen.every((path) => path.startsWith('/after/'));
      });
      expect(ms).toBeLessThan(heardMs);
    });

    it('a new policy', async () => {
      const { id, key } = await newKey();
      expect(await statuses(key, direct())).toEqual([200, 200, 200]);
      const body = {
        ...policyBody,
        conditions: [{ key: 'api_key', value: id }],
        unit: 'rpd',
        value: 1,
        workspace_id: h.first.workspace_slug,
      };
      const change = { method: 'POST', path: '/policies/rate-limits', body };
      const ms = await heardAfter(replica, change, async () =>
        (await statuses(key, direct())).every((status) => status === 429),
      );
      expect(ms).toBeLessThan(heardMs);
    });
  },
);
