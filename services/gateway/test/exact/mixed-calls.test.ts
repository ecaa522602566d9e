import { setTimeout as delay } from 'node:timers/promises';
import { usage } from '@sluice/proto-stubs';
import {
  bytes,
  freshName,
  json,
  type RecordedRequest,
  slowHeaders,
  sse,
  type UpstreamReply,
} from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fleet, isFull, startFleet, tell } from './fleet.ts';

/**
 * Features that each cost money in a way of their own, mixed by chance over two gateways with one Redis, while calls break, callers
 * leave and a gateway is killed: what the ledger says, what limits counted and what the vendor wrote on its invoice are one sum.
 */

const { Outcome } = usage;
const gateways = 2;
const requests = isFull ? 1500 : 120;
const atOnce = 12;
/** Another one each time in the long form; `MIXED_CALLS_SEED` runs one again. */
const seed = Number(process.env.MIXED_CALLS_SEED ?? (isFull ? Date.now() % 1e9 : 20_261_130));

let fleet: Fleet;
beforeAll(async () => {
  fleet = await startFleet(gateways, { SEMANTIC_CACHE_EMBEDDING_DIMENSIONS: '2' });
});
afterAll(() => fleet?.stop(), 60_000);

/** mulberry32 */
function randomSource(from: number) {
  let state = from;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return { below, pick: <T>(values: readonly T[]): T => values[below(values.length)] as T };
}

/** What the vendor does with the calls of a request, one after the other; the last goes on. */
type Conduct = 'answer' | 'slow' | 'cut' | 'fail' | 'refuse';

interface Line {
  readonly call: string;
  readonly model: string;
  /** Nano-dollars by the list; undefined = it did not come to the end of what it tells. */
  readonly cost: number | undefined;
}

/** Answers as OpenAI and Anthropic do, and keeps an invoice of its own. */
class Vendor {
  readonly invoice: Line[] = [];
  readonly #conduct = new Map<string, Conduct[]>();
  readonly #random: ReturnType<typeof randomSource>;

  constructor(random: ReturnType<typeof randomSource>) {
    this.#random = random;
  }

  expect(call: string, conduct: readonly Conduct[]): void {
    this.#conduct.set(call, [...conduct]);
  }

  readonly answer = (request: RecordedRequest): UpstreamReply => {
    if (request.method === 'GET') return json(200, this.#background(request.path));
    const [call = ''] = /call-[\w-]+-\d+/.exec(request.body.toString()) ?? [];
    const left = this.#conduct.get(call) ?? [];
    const conduct = (left.length > 1 ? left.shift() : left[0]) ?? 'answer';
    if (conduct === 'fail') return json(500, { error: { message: 'no', type: 'server_error' } });
    if (conduct === 'refuse') return json(429, { error: { message: 'slower', type: 'rate' } });
    const kind = request.path.split('?')[0]?.replace('/v1/', '') ?? '';
    const body = (kind === 'images/edits' ? { model: 'gpt-image-1' } : request.json()) as Asked;
    const reply = this.#replies[kind]?.(call, body, conduct);
    if (reply === undefined) return json(404, { error: { message: kind, type: 'no_such_path' } });
    return conduct === 'slow' ? slowHeaders(1500, reply) : reply;
  };

  #bill(call: string, model: string, cost: number, conduct: Conduct): void {
    this.invoice.push({
      call,
      model,
      cost: conduct === 'cut' || conduct === 'slow' ? undefined : cost,
    });
  }

  readonly #replies: Readonly<
    Record<string, (call: string, body: Asked, conduct: Conduct) => UpstreamReply>
  > = {
    'chat/completions': (call, { model, stream, n = 1 }, conduct) => {
      const read = 10 + this.#random.below(2000);
      const cached = this.#random.below(read);
      const said = 1 + this.#random.below(400);
      this.#bill(call, model, (read - cached) * 2500 + cached * 1250 + said * 10_000, conduct);
      const counts = {
        prompt_tokens: read,
        completion_tokens: said,
        total_tokens: read + said,
        prompt_tokens_details: { cached_tokens: cached },
      };
      const head = { id: 'c', created: 1, model };
      if (stream !== true)
        return json(200, {
          ...head,
          object: 'chat.completion',
          choices: choicesOf(n, (index) => ({
            index,
            message: { role: 'assistant', content: 'Yes.' },
            finish_reason: 'stop',
          })),
          usage: counts,
        });
      const chunk = (more: object) =>
        `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...more })}\n\n`;
      const words = Array.from({ length: 6 }, (_, word) =>
        choicesOf(n, (index) =>
          chunk({ choices: [{ index, delta: { content: `word ${word} ` }, finish_reason: null }] }),
        ),
      ).flat();
      const ends = choicesOf(n, (index) =>
        chunk({ choices: [{ index, delta: {}, finish_reason: 'stop' }] }),
      );
      const events = [...words, ...ends, chunk({ choices: [], usage: counts }), 'data: [DONE]\n\n'];
      return sse(events, { delayMs: 5, ...(conduct === 'cut' ? { cutAfter: 3 } : {}) });
    },
    messages: (call, { model }, conduct) => {
      const [input, short, long, read, said] = [1000, 500, 300, 800, 200].map(
        (most) => 1 + this.#random.below(most),
      ) as [number, number, number, number, number];
      this.#bill(
        call,
        model,
        input * 1000 + short * 1250 + long * 2000 + read * 100 + said * 5000,
        conduct,
      );
      return json(200, {
        id: 'msg',
        type: 'message',
        role: 'assistant',
        model,
        content: [{ type: 'text', text: 'Yes.' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: {
          input_tokens: input,
          output_tokens: said,
          cache_read_input_tokens: read,
          cache_creation_input_tokens: short + long,
          cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long },
        },
      });
    },
    embeddings: (call, { model }, conduct) => {
      const read = 1 + this.#random.below(60);
      this.#bill(call, model, read * 20, conduct);
      const angle = 2 * Math.PI * (Number(call.split('-').at(-1)) / 1000);
      return json(200, {
        object: 'list',
        model,
        data: [{ object: 'embedding', index: 0, embedding: [Math.cos(angle), Math.sin(angle)] }],
        usage: { prompt_tokens: read, total_tokens: read },
      });
    },
    responses: (call, { model, background }, conduct) => {
      const read = 1 + this.#random.below(3000);
      const said = 1 + this.#random.below(500);
      const searches = this.#random.below(3);
      const document = {
        id: `resp_${call}`,
        object: 'response',
        created_at: Math.floor(Date.now() / 1000),
        background: background === true,
        status: 'completed',
        model,
        tools: [{ type: 'web_search' }],
        output: Array.from({ length: searches }, (_, index) => ({
          type: 'web_search_call',
          id: `ws_${index}`,
          status: 'completed',
          action: { type: 'search', query: 'x' },
        })),
        usage: { input_tokens: read, output_tokens: said, total_tokens: read + said },
      };
      this.#bill(call, model, read * 1250 + said * 10_000 + searches * 10_000_000, conduct);
      if (background !== true) return json(200, document);
      this.#documents.set(document.id, document);
      return json(200, { ...document, status: 'queued', output: [], usage: null });
    },
    'images/generations': (call, { model }, conduct) => {
      const read = 1 + this.#random.below(50);
      const drawn = 272 + this.#random.below(4000);
      this.#bill(call, model, read * 5000 + drawn * 40_000, conduct);
      return json(200, {
        created: 1,
        data: [{ b64_json: 'aGVsbG8=' }],
        usage: {
          input_tokens: read,
          output_tokens: drawn,
          total_tokens: read + drawn,
          input_tokens_details: { text_tokens: read, image_tokens: 0 },
        },
      });
    },
    'images/edits': (call, { model }, conduct) => {
      const read = 1 + this.#random.below(50);
      const seen = 64 + this.#random.below(1000);
      const drawn = 272 + this.#random.below(4000);
      this.#bill(call, model, read * 5000 + seen * 10_000 + drawn * 40_000, conduct);
      return json(200, {
        created: 1,
        data: [{ b64_json: 'aGVsbG8=' }],
        usage: {
          input_tokens: read + seen,
          output_tokens: drawn,
          total_tokens: read + seen + drawn,
          input_tokens_details: { text_tokens: read, image_tokens: seen },
        },
      });
    },
    'audio/speech': (call, { model }, conduct) => {
      // Thirty characters of tts-1.
      this.#bill(call, model, 30 * 15_000, conduct);
      return bytes(200, Buffer.alloc(2000), { 'content-type': 'audio/mpeg' });
    },
  };

  readonly #documents = new Map<string, object>();

  #background(path: string): object {
    const id = path.split('/').at(-1)?.split('?')[0] ?? '';
    return this.#documents.get(id) ?? { error: { message: 'no such response' } };
  }
}

interface Asked {
  readonly model: string;
  readonly stream?: boolean;
  readonly background?: boolean;
  readonly n?: number;
}

function choicesOf<T>(n: number, choice: (index: number) => T): T[] {
  return Array.from({ length: n }, (_, index) => choice(index));
}

const boundary = 'a-boundary';

/** A form with a picture. */
function editForm(prompt: string): string {
  const field = (name: string, value: string, more = '') =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
  const picture = field(
    'image',
    'not much of a picture',
    '; filename="a.png"\r\ncontent-type: image/png',
  );
  return `${field('model', 'gpt-image-1')}${field('prompt', prompt)}${picture}--${boundary}--\r\n`;
}

interface Plan {
  readonly path: string;
  /** A text is sent as it is. */
  readonly body: object | string;
  readonly config: object;
  readonly conduct: readonly Conduct[];
  readonly headers?: Record<string, string>;
  /** The caller goes after so many ms. */
  readonly leavesMs?: number;
  /** It is looked at afterwards. */
  readonly isBackground?: boolean;
  /** Of each call what it costs is told to the end, whoever dies. */
  readonly isTold: boolean;
}

describe(`two gateways that are asked for all kinds of things, by seed ${seed}`, () => {
  it('have one sum in the ledger, in the counters, in analytics and on the invoice', {
    timeout: isFull ? 900_000 : 240_000,
  }, async () => {
    const { lab } = fleet;
    const { scenario } = lab;
    const { stack } = scenario;
    const random = randomSource(seed);
    const vendor = new Vendor(random);
    const trial = lab.trial();
    const upstream = await trial.upstreamThat('vendor', vendor.answer);
    const customHost = `${upstream.url}/v1`;
    const openai = await lab.saveProvider({ aiProviderId: 'openai', key: 'sk-o', customHost });
    const anthropic = await lab.saveProvider({
      aiProviderId: 'anthropic',
      key: 'sk-a',
      customHost,
    });
    const key = await scenario.admin<{ id: string; key: string }>(
      'POST',
      '/api-keys/workspace/service',
      {
        name: freshName('mixed'),
        scopes: ['completions.write'],
        workspace_id: stack.credentials.workspace_id,
        usage_limits: { type: 'cost', credit_limit: 10_000 },
      },
    );
    const policy = (type: string, ...groups: string[]) =>
      scenario.admin<{ id: string }>('POST', '/policies/usage-limits', {
        name: freshName(type),
        type,
        credit_limit: 9_000_000,
        conditions: [{ key: 'api_key', value: key.id }],
        group_by: groups.map((group) => ({ key: group })),
        workspace_id: stack.credentials.workspace_id,
      });
    const [tokensOfUsers, costOfModels] = await Promise.all([
      policy('tokens', 'metadata.user'),
      policy('cost', 'model'),
    ]);
    await delay(500);

    const go = freshName('go').replaceAll('_', '-');
    const target = (over: object = {}) => ({ provider: openai, ...over });
    const chat = (content: string, over: object = {}) => ({
      model: 'gpt-4o',
      messages: [{ role: 'user', content }],
      ...over,
    });
    const retried = { retry: { attempts: 2, on_status_codes: [429, 500] } };
    const embedding = { provider: openai, model: 'text-embedding-3-small' };
    const streamed = { stream: true, stream_options: { include_usage: true } };

    const plans: readonly ((call: string) => Plan)[] = [
      (call) => ({
        path: '/v1/chat/completions',
        body: chat(call),
        config: target(),
        conduct: ['answer'],
        isTold: true,
      }),
      (call) => ({
        path: '/v1/chat/completions',
        body: chat(call, streamed),
        config: target(),
        conduct: ['answer'],
        isTold: true,
      }),
      (call) => ({
        path: '/v1/chat/completions',
        body: chat(call, { stream: true }),
        config: target({ ask_stream_usage: true }),
        conduct: ['answer'],
        isTold: true,
      }),
      (call) => ({
        path: '/v1/chat/completions',
        body: chat(call),
        config: target(retried),
        conduct: ['refuse', 'fail', 'answer'],
        isTold: true,
      }),
      (call) => ({
        path: '/v1/chat/completions',
        body: chat(call),
        config: {
          strategy: { mode: 'fallback' },
          targets: [target({ override_params: { model: 'gpt-4o-2024-08-06' } }), target()],
        },
        conduct: ['fail', 'answer'],
        isTold: true,
      }),
      (call) => ({
        path: '/v1/chat/completions',
        body: chat(call),
        config: target({ hedge: { delay: 100, budget_percentage: 100 } }),
        conduct: ['slow', 'answer'],
        // The call that is not needed any more is cancelled, whichever that is.
        isTold: false,
      }),
      (call) => ({
        path: '/v1/chat/completions',
        body: chat(call, streamed),
        config: target(),
        conduct: ['cut'],
        isTold: true,
      }),
      (call) => ({
        path: '/v1/chat/completions',
        body: chat(call, streamed),
        config: target(),
        conduct: ['answer'],
        leavesMs: 12,
        isTold: false,
      }),
      (call) => ({
        path: '/v1/chat/completions',
        body: chat(call),
        config: target({ cache: { mode: 'simple' } }),
        conduct: ['answer'],
        isTold: true,
      }),
      (call) => ({
        path: '/v1/chat/completions',
        body: chat(call),
        config: target({ cache: { mode: 'semantic', embedding } }),
        headers: { 'x-service-cache-namespace': go },
        conduct: ['answer'],
        isTold: true,
      }),
      (call) => ({
        path: '/v1/messages',
        body: { ...chat(call), model: 'claude-haiku-4-5', max_tokens: 500 },
        config: { provider: anthropic },
        conduct: ['answer'],
        isTold: true,
      }),
      (call) => ({
        path: '/v1/chat/completions',
        body: { ...chat(call), model: 'claude-haiku-4-5' },
        config: { provider: anthropic },
        conduct: ['answer'],
        isTold: true,
      }),
      (call) => ({
        path: '/v1/embeddings',
        body: { model: 'text-embedding-3-small', input: call },
        config: target(),
        conduct: ['answer'],
        isTold: true,
      }),
      (call) => ({
        path: '/v1/responses',
        body: { model: 'gpt-5', input: call, tools: [{ type: 'web_search' }] },
        config: target(),
        conduct: ['answer'],
        isTold: true,
      }),
      (call) => ({
        path: '/v1/responses',
        body: { model: 'gpt-5', input: call, background: true },
        config: target(),
        conduct: ['answer'],
        isBackground: true,
        isTold: true,
      }),
      (call) => ({
        path: '/v1/images/generations',
        body: { model: 'gpt-image-1', prompt: call },
        config: target(),
        conduct: ['answer'],
        isTold: true,
      }),
      (call) => ({
        path: '/v1/images/edits',
        body: editForm(call),
        config: target(),
        headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
        conduct: ['answer'],
        isTold: true,
      }),
      (call) => ({
        path: '/v1/chat/completions',
        body: chat(call, { ...streamed, n: 3, max_tokens: 400 }),
        config: target(),
        conduct: [random.pick(['answer', 'answer', 'cut'] as const)],
        isTold: false,
      }),
      (call) => ({
        path: '/v1/audio/speech',
        body: { model: 'tts-1', voice: 'alloy', input: call.padEnd(30).slice(0, 30) },
        config: target(),
        conduct: ['answer'],
        isTold: true,
      }),
    ];

    const planned = new Map<string, Plan>();
    const cut = new Set<string>();
    const backgrounds: string[] = [];
    let number = 0;
    const ask = async (call: string, plan: Plan): Promise<void> => {
      const leave = new AbortController();
      if (plan.leavesMs !== undefined) void delay(plan.leavesMs).then(() => leave.abort());
      try {
        const response = await scenario.call(plan.path, {
          key: key.key,
          host: null,
          gateway: random.below(gateways),
          signal: leave.signal,
          headers: {
            'x-service-config': JSON.stringify(plan.config),
            'x-service-metadata': JSON.stringify({ call, user: `user-${random.below(3)}` }),
            ...plan.headers,
          },
          ...(typeof plan.body === 'string' ? { rawBody: plan.body } : { body: plan.body }),
        });
        const text = await response.text();
        if (response.status === 200 && plan.isBackground === true) backgrounds.push(call);
        if (response.status !== 200 && plan.conduct.at(-1) === 'answer')
          cut.add(`${call} ${response.status} ${text.slice(0, 80)}`);
      } catch {
        // It left, or its gateway was killed.
        cut.add(call);
      }
    };
    const askers = Array.from({ length: atOnce }, async () => {
      while (number < requests) {
        const call = `call-${go}-${++number}`;
        const plan = random.pick(plans)(call);
        planned.set(call, plan);
        vendor.expect(call, plan.conduct);
        await ask(call, plan);
        // The same again: one that is kept costs nothing.
        if (random.below(4) === 0) await ask(call, plan);
      }
    });
    const killing = (async () => {
      while (number < requests / 2) await delay(20);
      await fleet.killGateway(1);
    })();
    await Promise.all([...askers, killing]);
    for (const call of backgrounds)
      for (const gateway of [0, 1, 1])
        await scenario
          .call(`/v1/responses/resp_${call}`, {
            method: 'GET',
            key: key.key,
            host: null,
            gateway,
            headers: { 'x-service-config': JSON.stringify(target()) },
          })
          .then((response) => response.text());

    const records = () => lab.records.all().filter(({ apiKeyId }) => apiKeyId === key.id);
    const costOf = (of: readonly usage.UsageRecord[]) =>
      of.reduce((all, { costNanoUsd }) => all + Number(costNanoUsd), 0);
    const entities = async (id: string) => {
      const { data } = await scenario.admin<{
        data: { current_usage: number; value_key?: string; reserved: number }[];
      }>('GET', `/policies/usage-limits/${id}/entities?page_size=100`);
      return data;
    };
    await expect
      .poll(
        async () => {
          const counters = await fleet.groupsOf(costOfModels.id);
          const { usage_limits } = await scenario.admin<{
            usage_limits: { current_usage: number };
          }>('GET', `/api-keys/${key.id}`);
          const users = await fleet.groupsOf(tokensOfUsers.id);
          const ledger = costOf(records());
          const tokens = records().reduce(
            (all, { inputTokens, outputTokens }) => all + Number(inputTokens + outputTokens),
            0,
          );
          const shown = await entities(costOfModels.id);
          const sums = await fleet.ledgerSums(counters.map(({ name }) => name));
          return {
            models: counters.reduce((all, { posted }) => all + posted, 0) - ledger,
            entities:
              shown.reduce((all, one) => all + Math.round(one.current_usage * 1e9), 0) - ledger,
            counted: Object.values(sums).reduce((all, sum) => all + Number(sum), 0) - ledger,
            key: Math.round(usage_limits.current_usage * 1e9) - ledger,
            users: users.reduce((all, { posted }) => all + posted, 0) - tokens,
          };
        },
        { interval: 1000, timeout: 60_000 },
      )
      .toEqual({ models: 0, entities: 0, counted: 0, key: 0, users: 0 });

    // Each line of the invoice is one record, of just that cost; what was not told to its end is estimated, or lost.
    const byCall = Map.groupBy(records(), ({ metadata, traceId }) => metadata.call ?? traceId);
    const faults: string[] = [];
    const backgroundCosts = records()
      .filter(
        ({ endpoint, metadata }) =>
          endpoint === 'createModelResponse' && metadata.call === undefined,
      )
      .map(({ costNanoUsd }) => Number(costNanoUsd))
      .filter((cost) => cost > 0);
    const expectedBackground: number[] = [];
    for (const [call, plan] of planned) {
      const lines = vendor.invoice.filter((line) => line.call === call);
      const told = lines.flatMap(({ cost }) => cost ?? []).sort((a, b) => a - b);
      const of = byCall.get(call) ?? [];
      if (plan.isBackground === true) {
        if (backgrounds.includes(call)) expectedBackground.push(lines.at(-1)?.cost ?? 0);
        continue;
      }
      const exact = of
        .filter(
          ({ costKnown, usageEstimated, costNanoUsd }) =>
            costKnown && !usageEstimated && costNanoUsd > 0n,
        )
        .map(({ costNanoUsd }) => Number(costNanoUsd))
        .sort((a, b) => a - b);
      const lost = of.filter(({ outcome }) => outcome === Outcome.LOST).length;
      const estimated = of.filter(({ usageEstimated }) => usageEstimated).length;
      const isSame = exact.join() === told.join();
      const isLess =
        exact.every((cost) => told.includes(cost)) &&
        exact.length + lost + estimated >= told.length;
      if (!(isSame || ((lost > 0 || !plan.isTold) && isLess)))
        faults.push(
          `${call} ${plan.path} ${plan.conduct}: told ${told}, recorded ${exact}, lost ${lost}, estimated ${estimated}`,
        );
    }
    expect(faults).toEqual([]);
    const recordedBackground = backgroundCosts.sort((a, b) => a - b);
    expect(recordedBackground).toEqual(expectedBackground.sort((a, b) => a - b));

    const query = new URLSearchParams({
      time_of_generation_min: new Date(Date.now() - 3_600_000).toISOString(),
      time_of_generation_max: new Date(Date.now() + 60_000).toISOString(),
      workspace_slug: stack.credentials.workspace_slug,
      api_key_ids: key.id,
    });
    await expect
      .poll(async () => {
        const { summary } = await scenario.admin<{ summary: { total: number } }>(
          'GET',
          `/analytics/graphs/cost?${query}`,
        );
        return Math.round(summary.total * 1e7);
      })
      .toBe(costOf(records()));
    tell(`seed ${seed}: ${number} requests, ${vendor.invoice.length} lines, ${cut.size} cut off`);
    await trial.close();
  });
});
