import { setTimeout as delay } from 'node:timers/promises';
import { usage } from '@sluice/proto-stubs';
import { freshName } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAiReply } from '../vendor-replies.ts';
import { type Fleet, gatewayCount, isFull, startFleet, tell } from './fleet.ts';
import { Witness } from './witness.ts';

/** Limits over four gateways that are processes of their own: some of them are killed. */

let fleet: Fleet;
beforeAll(async () => {
  fleet = await startFleet();
});
afterAll(() => fleet?.stop(), 60_000);

const perDollar = 1_000_000_000;

async function newKey(body: object = {}): Promise<{ id: string; key: string }> {
  const { scenario } = fleet.lab;
  const made = await scenario.admin<{ id: string; key: string }>(
    'POST',
    '/api-keys/workspace/service',
    {
      name: `key ${crypto.randomUUID().slice(0, 8)}`,
      scopes: ['completions.write'],
      workspace_id: scenario.stack.credentials.workspace_id,
      ...body,
    },
  );
  return made;
}

const { Outcome } = usage;

/** Not of one that was refused before anybody was called. */
function isCall({ outcome }: usage.UsageRecord): boolean {
  return outcome !== Outcome.DENIED && outcome !== Outcome.GATEWAY_ERROR;
}

describe('four gateways that are killed at random', () => {
  const clients = isFull ? 200 : 30;
  const kills = isFull ? 12 : 2;
  const maxTokens = isFull ? 100 : 1000;

  it('overshoot a budget by no more than was told, and counter, entity and ledger agree', {
    timeout: isFull ? 600_000 : 120_000,
  }, async () => {
    const { lab } = fleet;
    const trial = lab.trial();
    // Slow towards the end, so that what is told each second tells of all that is under way then.
    const witness = new Witness((told) => (told > 0.7 * perDollar ? 2500 : 500));
    const upstream = await trial.upstreamThat('gpt', witness.answer);
    const provider = await lab.saveProvider({
      aiProviderId: 'openai',
      key: 'sk-saved',
      customHost: `${upstream.url}/v1`,
    });
    const { id, key } = await newKey();
    const { stack } = lab.scenario;
    const policy = await lab.scenario.admin<{ id: string }>('POST', '/policies/usage-limits', {
      name: 'a dollar',
      type: 'cost',
      credit_limit: 1,
      conditions: [{ key: 'api_key', value: id }],
      group_by: [{ key: 'api_key' }],
      workspace_id: stack.credentials.workspace_id,
    });
    await delay(500);

    const statuses = new Map<string, number>();
    // What a go before has called is in the records, too.
    const go = freshName('go');
    const content = (index: number) => `${go} call ${index}`;
    let calls = 0;
    const ask = async (client: number): Promise<'spent' | 'go on'> => {
      const stream = client % 2 === 0;
      const call = ++calls;
      let outcome: string;
      try {
        const response = await lab.scenario.call('/v1/chat/completions', {
          key,
          host: null,
          gateway: call % gatewayCount,
          headers: {
            'x-service-provider': provider,
            'x-service-metadata': JSON.stringify({ call: content(call) }),
          },
          body: {
            model: 'gpt-4o',
            max_tokens: maxTokens,
            messages: [{ role: 'user', content: content(call) }],
            ...(stream && { stream, stream_options: { include_usage: true } }),
          },
        });
        const text = await response.text();
        outcome =
          response.status === 200
            ? '200'
            : ((JSON.parse(text) as { error?: { code?: string } }).error?.code ?? text);
      } catch {
        // Its gateway was killed.
        outcome = 'cut off';
      }
      statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1);
      if (outcome === 'limit.budget_exhausted') return 'spent';
      if (outcome !== '200') await delay(50 + Math.random() * 150);
      return 'go on';
    };

    const told = { most: 0, usage: 0, reserved: 0 };
    const look = async () => {
      const response = await fetch(
        `${stack.controlPlaneUrl}/v1/policies/usage-limits/${policy.id}/entities`,
        { headers: { 'x-service-api-key': stack.credentials.admin_key } },
      );
      const { data } = (await response.json()) as {
        data: { current_usage: number; reserved: number; overshoot_bound: number }[];
      };
      const [entity] = data;
      if (entity === undefined) return;
      told.most = Math.max(told.most, Math.round(entity.overshoot_bound * perDollar));
      told.usage = Math.round(entity.current_usage * perDollar);
      told.reserved = Math.round(entity.reserved * perDollar);
    };
    let isOver = false;
    const looking = (async () => {
      while (!isOver) {
        await look();
        await delay(200);
      }
    })();
    const killing = (async () => {
      for (let kill = 1; kill <= kills; kill++) {
        while (witness.toldNanoUsd < (0.7 * perDollar * kill) / kills) await delay(10);
        await fleet.killGateway(Math.floor(Math.random() * gatewayCount));
      }
    })();
    await Promise.all(
      Array.from({ length: clients }, async (_, client) => {
        while ((await ask(client)) === 'go on');
      }),
    );
    await killing;

    // A minute later at most: what nobody ended has expired, and what was lost is settled.
    const settled = await expect
      .poll(
        async () => {
          const [counter] = (await fleet.countersOf(policy.id)).values();
          const sums = await fleet.ledgerSums([counter?.name ?? '']);
          const ledger = Number(sums[counter?.name ?? ''] ?? 0);
          await look();
          return {
            counter: (counter?.posted ?? 0) - ledger,
            entity: told.usage - ledger,
            reserved: [counter?.reserved, counter?.overshoot, told.reserved, counter?.held],
          };
        },
        { interval: 500 },
      )
      .toEqual({ counter: 0, entity: 0, reserved: [0, 0, 0, []] })
      .then(() => fleet.countersOf(policy.id));
    isOver = true;
    await looking;

    const [counter] = settled.values();
    const posted = counter?.posted ?? 0;
    // Each call that its provider saw left one record, and what it was answered is what it cost.
    const records = lab.records.all().filter(({ metadata }) => metadata.call?.startsWith(`${go} `));
    const callsOf = Map.groupBy(records.filter(isCall), ({ metadata }) => metadata.call ?? '');
    for (const [call, cost] of witness.costs) {
      const ofCall = callsOf.get(call) ?? [];
      expect(ofCall, call).toHaveLength(1);
      const [record] = ofCall;
      if (record?.usageReported) expect(Number(record.costNanoUsd), call).toBe(cost);
      else expect(record?.outcome, call).toBe(Outcome.LOST);
    }
    const sum = records.reduce((all, { costNanoUsd }) => all + Number(costNanoUsd), 0);
    expect(sum).toBe(posted);
    expect(posted).toBeGreaterThanOrEqual(perDollar);
    expect(posted - perDollar).toBeLessThanOrEqual(told.most);
    const lost = records.filter(({ outcome }) => outcome === Outcome.LOST).length;
    expect(lost).toBeGreaterThan(0);
    tell(
      `${calls} requests of ${clients} clients, ${kills} kills, ${lost} calls lost`,
      `$${posted / perDollar} used, at most $${told.most / perDollar} beyond the budget was told`,
      ...Array.from(statuses, ([outcome, count]) => `${count} ${outcome}`),
    );
    await trial.close();
  });
});

describe('four gateways with one Redis', () => {
  const unit = isFull ? 'rpm' : 'rps';
  const windowMs = isFull ? 60_000 : 1000;
  const value = isFull ? 1000 : 20;

  it(`admit exactly ${value} a window over the edges of windows`, {
    timeout: isFull ? 400_000 : 60_000,
  }, async () => {
    const { lab } = fleet;
    const trial = lab.trial();
    const upstream = await trial.upstream('gpt', openAiReply);
    const { key } = await newKey({ rate_limits: [{ type: 'requests', unit, value }] });
    const config = JSON.stringify(upstream.target());
    let asked = 0;
    let passed = 0;
    const ask = async (): Promise<void> => {
      const response = await lab.scenario.call('/v1/chat/completions', {
        key,
        host: null,
        gateway: ++asked % gatewayCount,
        headers: {
          'x-service-config': config,
          'x-service-metadata': JSON.stringify({ edge: key.slice(-8) }),
        },
      });
      await response.arrayBuffer();
      if (response.status === 200) passed++;
      else expect(response.status).toBe(429);
    };
    // Around three edges: 10,000 requests, or all that fit into a few seconds.
    const aroundMs = isFull ? 14_000 : windowMs / 2;
    const requestsMin = isFull ? 10_000 : 8 * value;
    const firstEdge = Math.ceil((Date.now() + aroundMs + 200) / windowMs) * windowMs;
    for (let edge = 0; edge < 3; edge++) {
      const edgeMs = firstEdge + edge * windowMs;
      await delay(Math.max(0, edgeMs - aroundMs - Date.now()));
      const perMs = requestsMin / 3 / (2 * aroundMs);
      const beganAt = Date.now();
      let sent = 0;
      await Promise.all(
        Array.from({ length: 40 }, async () => {
          while (Date.now() < edgeMs + aroundMs) {
            if (sent < (Date.now() - beganAt) * perMs + 1) {
              sent++;
              await ask();
            } else await delay(2);
          }
        }),
      );
    }
    if (isFull) expect(asked).toBeGreaterThanOrEqual(9_500);
    const ofKey = () => lab.records.all().filter(({ metadata }) => metadata.edge === key.slice(-8));
    const admitted = () => ofKey().filter(isCall);
    await expect.poll(() => admitted().length).toBe(passed);
    const windows = new Map<string, number>();
    for (const { countersSettled } of admitted())
      for (const [name, count] of Object.entries(countersSettled))
        windows.set(name, (windows.get(name) ?? 0) + Number(count));
    tell(`${asked} requests, ${passed} admitted in ${windows.size} windows`);
    const counts = [...windows.values()];
    if (isFull) expect(counts).toEqual([value, value, value, value]);
    // Half a second beside other tests may be too short for as many as the limit lets pass.
    expect(counts.filter((count) => count > value)).toEqual([]);
    expect(counts.filter((count) => count === value).length).toBeGreaterThanOrEqual(2);
    await trial.close();
  });

  it('hold tokens: forty answers of 1,500 at once come to 2,000 and no more than one beyond', async () => {
    const { lab } = fleet;
    const trial = lab.trial();
    const upstream = await trial.upstreamThat('gpt', async () => {
      await delay(500);
      return openAiReply;
    });
    const provider = await lab.saveProvider({
      aiProviderId: 'openai',
      key: 'sk-saved',
      customHost: `${upstream.url}/v1`,
    });
    const { key } = await newKey({ rate_limits: [{ type: 'tokens', unit: 'rpd', value: 2000 }] });
    const ask = (index: number) =>
      trial.ask({
        key,
        gateway: index % gatewayCount,
        headers: { 'x-service-provider': provider },
        body: {
          model: 'gpt-4o-mini',
          max_tokens: 1500,
          messages: [{ role: 'user', content: 'x' }],
        },
      });
    await Promise.all(Array.from({ length: 40 }, (_, index) => ask(index)));
    for (let index = 0; index < 8; index++) await ask(index);
    expect(upstream.requests.length).toBeGreaterThan(0);
    expect(upstream.requests.length * 1500).toBeLessThanOrEqual(2000 + 1500);
    await trial.close();
  });
});
