import { json, startUpstream, type Upstream } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type GatewayProcess, startGateway } from './support/gateway-process.ts';
import { type Harness, startHarness } from './support/harness.ts';
import { HeldSections } from './support/held-sections.ts';
import { ranMs, watchLongestWork } from './support/longest-work.ts';

/** Configs of one workspace. CROWDED_CONFIGS=100000 is what the aims are set for. */
const count = Number(process.env.CROWDED_CONFIGS ?? 3_000);

let h: Harness;
let upstream: Upstream;
let gateway: GatewayProcess;
beforeAll(async () => {
  upstream = await startUpstream();
  upstream.handle(json(200, { id: 'x', object: 'chat.completion', model: 'm', choices: [] }));
  h = await startHarness();
  await insertConfigs();
  gateway = await startGateway(h, h.service);
});
afterAll(async () => {
  await gateway?.stop();
  await h.stop();
  await upstream.close();
});

async function ask(config: string) {
  const [startedAt, ranBefore] = [performance.now(), ranMs(gateway.pid)];
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-service-api-key': h.first.workspace_key,
      'content-type': 'application/json',
      'x-service-config': config,
    },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] }),
  });
  await answer.text();
  return {
    path: upstream.requests.at(-1)?.path,
    ms: performance.now() - startedAt,
    gatewayMs: ranMs(gateway.pid) - ranBefore,
  };
}

it(`one of ${count} configs changed: less than 10 kB, in force within a second, and nobody waits for it`, async () => {
  const document = (path: string) => ({
    provider: 'openai',
    custom_host: `${upstream.url}/${path}`,
    api_key: 'sk-x',
  });
  const made = await h
    .as(h.first.workspace_key)
    .post('/configs', { name: 'One', config: document('before') })
    .expect(200);
  const { slug } = made.body.data;
  const held = new HeldSections(h, h.first.workspace_id);
  expect((await held.refresh()).items).toBeGreaterThan(count);
  await expect.poll(async () => (await ask(slug)).path).toContain('/before/');
  for (let warm = 0; warm < 50; warm += 1) await ask(slug);

  let longestMs = 0;
  /** Of that what the gateway worked. The control plane is in this process, where its work is counted apart. */
  let gatewayMs = 0;
  const work = watchLongestWork();
  let inForceMs: number | undefined;
  let answeredAt = Number.POSITIVE_INFINITY;
  const changing = h
    .as(h.first.workspace_key)
    .put(`/configs/${slug}`, { config: document('after') })
    .then((answer) => {
      expect(answer.status).toBe(200);
      answeredAt = performance.now();
    });
  const startedAt = performance.now();
  const isOver = () => {
    const tookMs = performance.now() - startedAt;
    return tookMs > 60_000 || (tookMs > 1_500 && inForceMs !== undefined);
  };
  while (!isOver()) {
    const { path, ...took } = await ask(slug);
    longestMs = Math.max(longestMs, took.ms);
    gatewayMs = Math.max(gatewayMs, took.gatewayMs);
    if (path?.includes('/after/') === true)
      inForceMs ??= Math.max(0, performance.now() - answeredAt);
  }
  await changing;
  const controlPlaneMs = work.stop();
  const told = await held.refresh();
  const figures = { count, bytes: told.bytes, inForceMs, longestMs, gatewayMs, controlPlaneMs };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  expect(told).toMatchObject({ items: 1, startedOver: [] });
  expect(told.bytes).toBeLessThan(10_000);
  expect(inForceMs).toBeLessThan(1_000);
  // What an answer waits for on a machine of its own is the work of these two.
  expect(gatewayMs).toBeLessThan(50);
  expect(controlPlaneMs).toBeLessThan(50);
});

async function insertConfigs(): Promise<void> {
  const { organisation_id: organisationId, workspace_id: workspaceId } = h.first;
  for (let from = 0; from < count; from += 5_000)
    await h.db.$executeRaw`
      WITH made AS (
        INSERT INTO configs (id, organisation_id, workspace_id, slug, name, version, owner_id, updated_by)
        SELECT gen_random_uuid(), ${organisationId}::uuid, ${workspaceId}::uuid, 'pc-many-' || n, 'n', 1, gen_random_uuid(), gen_random_uuid()
        FROM generate_series(${from + 1}::int, ${Math.min(count, from + 5_000)}::int) AS n
        RETURNING id
      )
      INSERT INTO config_versions (id, config_id, version, name, status, body, created_by)
      SELECT gen_random_uuid(), id, 1, 'n', 'active', ${JSON.stringify({ provider: '@demo', metadata: 'x'.repeat(900) })}, gen_random_uuid() FROM made`;
  await h.db.workspace.update({
    where: { id: workspaceId },
    data: { revision: { increment: 1 } },
  });
}
