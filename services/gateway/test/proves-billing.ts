import { setTimeout as delay } from 'node:timers/promises';
import { eventually, freshName, json, sse, startUpstream } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { eventsOf, kept } from './keepers.ts';
import type { Records } from './records.ts';
import type { CallOptions, Scenario } from './scenario.ts';

type Ask = (path: string, config: object | undefined, over?: CallOptions) => Promise<Response>;

interface Installation {
  scenario(): Scenario;
  records(): Records;
  ask: Ask;
  look: Ask;
  idOf(response: Response): Promise<string>;
  spread(): object;
  target(index: number): object;
}

/** That work which goes on after its answer is billed once. Told by the file that has the installation: two gateways with one Redis. */
export function provesBilling({
  scenario,
  records,
  ask,
  look,
  idOf,
  spread,
  target,
}: Installation): void {
  describe('work that goes on after its answer', () => {
    const used = { input_tokens: 1200, output_tokens: 300, total_tokens: 1500 };
    const asRun = { prompt_tokens: 1200, completion_tokens: 300, total_tokens: 1500 };
    const createdAt = Math.floor(Date.now() / 1000) - 5;
    const billOf = (endpoint: string) =>
      records()
        .all()
        .filter((record) => record.endpoint === endpoint && record.inputTokens > 0n);
    const billedOnce = async (endpoint: string, already: number) => {
      await eventually(() => {
        if (billOf(endpoint).length <= already) throw new Error(`no bill of ${endpoint}`);
      });
      await delay(300);
      const bills = billOf(endpoint).slice(already);
      expect(bills.map(({ inputTokens, outputTokens }) => [inputTokens, outputTokens])).toEqual([
        [1200n, 300n],
      ]);
      expect(bills[0]?.costNanoUsd).toBeGreaterThan(0n);
    };

    it('is billed once, whoever sees it end: a response that is polled ten times', async () => {
      const { key } = await scenario().admin<{ key: string }>(
        'POST',
        '/api-keys/workspace/service',
        {
          name: 'Background',
          workspace_id: scenario().stack.credentials.workspace_id,
          scopes: ['completions.write'],
          rate_limits: [{ type: 'tokens', unit: 'rpd', value: 1000 }],
        },
      );
      const before = billOf('createModelResponse').length;
      const body = { model: 'gpt-4o-mini', input: 'Hi', background: true };
      const id = await idOf(await ask('/v1/responses', spread(), { key, body }));
      const owner = kept.find((objects) => objects.has(id));
      const poll = (gateway: number) => look(`/v1/responses/${id}`, spread(), { key, gateway });
      for (const gateway of [0, 1]) expect((await poll(gateway)).status).toBe(200);
      await delay(300);
      expect(billOf('createModelResponse').length, 'nothing is billed before').toBe(before);
      const done = { ...owner?.get(id), status: 'completed', usage: used, created_at: createdAt };
      owner?.set(id, done);
      const polls = await Promise.all(Array.from({ length: 10 }, (_, at) => poll(at % 2)));
      for (const answer of polls) expect(await answer.json()).toEqual(done);
      await billedOnce('createModelResponse', before);
      // Counted where its caller is limited, though looks are not.
      const next = await ask('/v1/responses', spread(), {
        key,
        body: { ...body, background: false },
      });
      expect(next.status).toBe(429);
      expect((await poll(0)).status).toBe(200);
      expect(billOf('createModelResponse').length).toBe(before + 1);
    });

    it.each([
      ['2h', 252_000n],
      ['8h', 216_000n],
    ])('a response that may take %s at what that costs', async (window, costNanoUsd) => {
      const before = billOf('createModelResponse').length;
      const body = {
        model: 'gpt-4o-mini',
        input: 'Hi',
        background: true,
        background_options: { completion_window: window },
      };
      const id = await idOf(await ask('/v1/responses', spread(), { body }));
      const owner = kept.find((objects) => objects.has(id));
      // What has ended is of the standard tier, and says nothing of the window.
      const state = { status: 'completed', usage: used, created_at: createdAt };
      owner?.set(id, { ...owner.get(id), ...state, service_tier: 'default' });
      for (const gateway of [1, 0]) await look(`/v1/responses/${id}`, spread(), { gateway });
      await billedOnce('createModelResponse', before);
      expect(billOf('createModelResponse')[before]).toMatchObject({
        costNanoUsd,
        serviceTier: `background-${window}`,
      });
    });

    it('a response whose end its own stream tells', async () => {
      const before = billOf('createModelResponse').length;
      const ended = { status: 'completed', background: true, usage: used, created_at: createdAt };
      const upstream = await startUpstream();
      const response = {
        id: 'response_streamed',
        object: 'response',
        model: 'gpt-4o-mini',
        output: [],
        ...ended,
      };
      upstream.handle(({ method }) =>
        method === 'POST' ? sse(eventsOf(response)) : json(200, response),
      );
      const config = { ...target(0), custom_host: `${upstream.url}/v1` };
      const body = { model: 'gpt-4o-mini', input: 'Hi', background: true, stream: true };
      expect(await (await ask('/v1/responses', config, { body })).text()).toContain('completed');
      for (const gateway of [0, 1])
        await look('/v1/responses/response_streamed', config, { gateway });
      await billedOnce('createModelResponse', before);
      await upstream.close();
    });

    it('a response whose counts cannot be true, or count nothing, by what it says', async () => {
      const upstream = await startUpstream();
      const text = 'Optimistic locking checks at the end. '.repeat(20);
      const content = [{ type: 'output_text', text, annotations: [] }];
      const counts = [
        { input_tokens: 1e15, output_tokens: 300 },
        { input_tokens: -5, output_tokens: 2.5 },
        { total_tokens: 1500 },
      ];
      for (const [at, usage] of counts.entries()) {
        const response = {
          id: freshName('response_odd'),
          object: 'response',
          model: 'gpt-4o-mini',
          background: true,
          output: [{ type: 'message', role: 'assistant', content }],
          created_at: createdAt - 60 - at,
        };
        upstream.handle(({ method }) =>
          json(
            200,
            method === 'POST'
              ? { ...response, status: 'queued', output: [], usage: null }
              : { ...response, status: 'completed', usage },
          ),
        );
        const config = { ...target(0), custom_host: `${upstream.url}/v1` };
        const body = { model: 'gpt-4o-mini', input: 'Hi', background: true };
        const id = await idOf(await ask('/v1/responses', config, { body }));
        expect((await look(`/v1/responses/${id}`, config)).status).toBe(200);
        const bill = await eventually(() => {
          const found = records()
            .all()
            .find(({ createdAtMs }) => Number(createdAtMs) === response.created_at * 1000);
          if (found === undefined) throw new Error('no bill');
          return found;
        });
        expect(bill).toMatchObject({
          inputTokens: 0n,
          outputTokens: BigInt(text.length / 4),
          usageEstimated: true,
          usageImplausible: at < 2,
        });
      }
      await upstream.close();
    });

    it('a run, polled and streamed', async () => {
      for (const isStream of [false, true]) {
        const before = billOf('createRun').length;
        const run = {
          id: `run_${isStream}`,
          object: 'thread.run',
          thread_id: 'thread_1',
          model: 'gpt-4o-mini',
          status: 'completed',
          usage: asRun,
          created_at: createdAt,
        };
        const upstream = await startUpstream();
        upstream.handle(({ method }) =>
          method === 'POST' && isStream
            ? sse([`event: thread.run.completed\ndata: ${JSON.stringify(run)}\n\n`])
            : json(200, method === 'POST' ? { ...run, status: 'queued', usage: null } : run),
        );
        const config = { ...target(0), custom_host: `${upstream.url}/v1` };
        await (
          await ask('/v1/threads/thread_1/runs', config, {
            body: { assistant_id: 'asst_1', stream: isStream },
          })
        ).text();
        const polls = Array.from({ length: 4 }, (_, at) =>
          look(`/v1/threads/thread_1/runs/${run.id}`, config, { gateway: at % 2 }),
        );
        for (const answer of await Promise.all(polls)) expect(answer.status).toBe(200);
        await billedOnce('createRun', before);
        await upstream.close();
      }
    });

    it('that ended two months ago is billed to nobody; that began then, once, as of then', async () => {
      const upstream = await startUpstream();
      const config = { ...target(0), custom_host: `${upstream.url}/v1` };
      const daysAgo = (days: number) => createdAt - days * 86_400;
      const run = (id: string, created: number, completed: number) => ({
        id,
        object: 'thread.run',
        thread_id: 'thread_1',
        model: 'gpt-4o-mini',
        status: 'completed',
        usage: asRun,
        created_at: created,
        completed_at: completed,
      });
      const poll = async (of: ReturnType<typeof run>) => {
        upstream.handle(json(200, of));
        for (const gateway of [0, 1, 0])
          await look(`/v1/threads/thread_1/runs/${of.id}`, config, { gateway });
      };
      const before = billOf('createRun').length;
      await poll(run('run_of_old', daysAgo(62), daysAgo(61)));
      await poll(run('run_that_lasted', daysAgo(70), daysAgo(1)));
      await billedOnce('createRun', before);
      expect(Number(billOf('createRun')[before]?.createdAtMs)).toBe(daysAgo(70) * 1000);
      await upstream.close();
    });
  });
}
