import {
  eachWith,
  eventually,
  freshName,
  hang,
  inTurns,
  json,
  type RecordedRequest,
  type SseOptions,
  slowHeaders,
  type UpstreamReply,
} from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, type NamedUpstream, startLab, type Trial } from './lab.ts';
import { eventsOf } from './vendor-replies.ts';
import { refusalOf, streamOf, textIn, turnsOf } from './vendor-streams.ts';

/** Streams of about 60 events that are cut or stall, and what callers get of them. */
let lab: Lab;
let trial: Trial;
let one: NamedUpstream;
let two: NamedUpstream;
let three: NamedUpstream;
beforeAll(async () => {
  lab = await startLab();
  trial = lab.trial();
  one = await trial.upstreamThat('one', begun);
  two = await trial.upstreamThat('two', (request) => continued(request, againIn(request)));
  three = await trial.upstreamThat('three', continued);
});
afterAll(async () => {
  await trial.close();
  await lab.stop();
});

const words = Array.from({ length: 56 }, (_, at) => `${at === 0 ? '' : ' '}word${at * 7}`);
const whole = words.join('');

/** Breaks off as the question says: `cut 20`, `stall 20`, `fail 20`. */
function begun(request: RecordedRequest): UpstreamReply {
  const [, how, after] = / (cut|stall|fail) (\d+)/.exec(questionIn(request)) ?? [];
  const at = Number(after);
  if (how === 'cut') return streamOf(request, words, { cutAfter: at });
  if (how === 'stall') return streamOf(request, words, { stallAfter: at });
  return how === 'fail' ? streamOf(request, words, { failAfter: at }) : streamOf(request, words);
}

/** Goes on from what it is shown; refuses a begun answer, answers anew or hangs where the question says so. */
function continued(request: RecordedRequest, broken: SseOptions = {}): UpstreamReply {
  const refusal = refusalOf(request);
  if (refusal !== undefined) return json(refusal.status, refusal.body);
  const question = questionIn(request);
  if (question.includes('hang')) return hang();
  const turns = turnsOf(request);
  const last = turns.at(-1);
  const isPrefilled = last?.role === 'assistant';
  if (isPrefilled && question.includes('no prefill'))
    return json(400, { error: { message: 'This model does not support prefill.' } });
  const told = textIn(turns.findLast(({ role }) => role === 'assistant'));
  expect(whole.startsWith(told)).toBe(true);
  const rest = whole.slice(told.length);
  const asked = textIn(last);
  const repeated =
    isPrefilled || told === '' ? '' : JSON.parse(asked.slice(asked.lastIndexOf(': "') + 2));
  const said = question.includes('disobey') ? `Sure! ${rest}` : repeated + rest;
  return streamOf(request, said.match(/.{1,7}/g) ?? [], broken);
}

/** Where the question says that the rest is to be cut as well. */
function againIn(request: RecordedRequest): { cutAfter?: number } {
  const [, again] = / again (\d+)/.exec(questionIn(request)) ?? [];
  return again === undefined ? {} : { cutAfter: Number(again) };
}

function questionIn(request: RecordedRequest): string {
  return textIn(turnsOf(request).find(({ role }) => role === 'user'));
}

const callers = {
  chat: (content: string) => ({
    path: '/v1/chat/completions',
    body: { model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content }] },
  }),
  messages: (content: string) => ({
    path: '/v1/messages',
    body: {
      model: 'claude-sonnet-4-5',
      stream: true,
      max_tokens: 999,
      messages: [{ role: 'user', content }],
    },
  }),
  responses: (content: string) => ({
    path: '/v1/responses',
    body: { model: 'gpt-4o-mini', stream: true, input: [{ role: 'user', content }] },
  }),
};
type Caller = keyof typeof callers;

const vendors = {
  openai: { provider: 'openai', override_params: { model: 'gpt-4o-mini' } },
  'OpenAI’s responses': { provider: 'openai', override_params: { model: 'gpt-5-codex' } },
  anthropic: { provider: 'anthropic', override_params: { model: 'claude-sonnet-4-5' } },
  google: { provider: 'google', override_params: { model: 'gemini-2.5-flash' } },
  bedrock: {
    provider: 'bedrock',
    aws_access_key_id: 'AKID',
    aws_secret_access_key: 'SECRET',
    aws_region: 'eu-central-1',
    override_params: { model: 'amazon.nova-lite-v1:0' },
  },
};
type Vendor = keyof typeof vendors;
const vendorNames = Object.keys(vendors) as Vendor[];

/** All text that a caller of any format would put together, and the types of its events. */
function read(text: string): { text: string; ends: number; errors: number } {
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice(6));
  const bodies = events.filter((data) => data !== '[DONE]').map((data) => JSON.parse(data));
  const pieces = bodies.map(
    (body) =>
      body.choices?.[0]?.delta?.content ??
      body.delta?.text ??
      (body.type === 'response.output_text.delta' ? body.delta : ''),
  );
  const isEnd = (type: string) => type === 'message_stop' || type === 'response.completed';
  return {
    text: pieces.join(''),
    ends: events.filter((data) => data === '[DONE]' || isEnd(JSON.parse(data).type)).length,
    errors: bodies.filter(({ type, error }) => type === 'error' || (error ?? null) !== null).length,
  };
}

const wholeOnce = { text: whole, ends: 1, errors: 0 };

interface Asking {
  /** Beside targets. */
  config?: object;
  first?: object;
  second?: object;
  records?: number;
  signal?: AbortSignal;
}

function ask(caller: Caller, question: string, vendorPair: [Vendor, Vendor], asking: Asking = {}) {
  const { config, first, second, ...more } = asking;
  const [from, to] = vendorPair;
  return trial.ask({
    ...callers[caller](`Go ${question}`),
    ...more,
    config: {
      strategy: { mode: 'fallback' },
      stream_recovery: 'continue',
      targets: [
        one.target({ ...hostOf(one, from), idle_timeout: 300, ...first }),
        two.target({ ...hostOf(two, to), ...second }),
      ],
      ...config,
    },
  });
}

/** Bedrock and Google have no version in their address. */
function hostOf(upstream: NamedUpstream, vendor: Vendor): object {
  const hasVersion = vendor !== 'bedrock' && vendor !== 'google';
  return { ...vendors[vendor], ...(!hasVersion && { custom_host: upstream.url }) };
}

const callerNames = Object.keys(callers) as Caller[];
const pairs = callerNames.flatMap((caller) =>
  vendorNames.map((vendor) => [caller, vendor] as const),
);

const ways = ['cut', 'stall', 'fail'];
/** Events after which a stream breaks. In the suite a pair breaks at every ninth, in one of the ways (`npm run chaos`: all). */
const places = Array.from({ length: 54 }, (_, index) => index + 4);

describe('a stream that is to be continued', () => {
  it.each(pairs.map(([caller, first], pair) => [caller, first, pair] as const))(
    'reaches a caller of %s whole from %s, wherever it is cut, stalls or fails',
    async (caller, first, pair) => {
      const asked = inTurns(places, 9, pair).flatMap((at, turn) =>
        inTurns(ways, ways.length, turn + pair).map(async (how) => {
          const second = vendorNames[(at + ways.indexOf(how)) % vendorNames.length] as Vendor;
          const { answer } = await ask(caller, `${how} ${at}`, [first, second]);
          return { how, at, second, status: answer.status, ...read(answer.text) };
        }),
      );
      const isWhole = ({ status, text, ends, errors }: Awaited<(typeof asked)[0]>) =>
        status === 200 && text === whole && ends === 1 && errors === 0;
      const got = await Promise.all(asked);
      expect(got.filter((answer) => !isWhole(answer))).toEqual([]);
    },
  );

  it.each(eachWith(callerNames, vendorNames))(
    'reaches a caller of %s whole from %s, also when it is cut again',
    async (caller, first) => {
      const others = {
        targets: [...targetsOf([first, 'openai']), three.target(vendors.anthropic)],
      };
      const { answer, calls, records, rawRecords } = await ask(
        caller,
        'cut 20 again 20',
        [first, 'openai'],
        { config: others, records: 1 },
      );
      expect(read(answer.text)).toEqual(wholeOnce);
      expect(calls).toEqual(['one', 'two', 'three']);
      expect(records).toMatchObject([{ outcome: 'SUCCESS', path: 'config.targets[0]' }]);
      expect(partsOf(rawRecords)).toMatchObject([
        { path: 'config.targets[0]', outcome: 'partial' },
        { path: 'config.targets[1]', outcome: 'partial' },
        { path: 'config.targets[2]', outcome: 'success' },
      ]);
    },
  );

  it('has one record with the tokens and the cost of all parts, each once', async () => {
    const pair: [Vendor, Vendor] = ['anthropic', 'anthropic'];
    const { answer, records, rawRecords } = await ask('messages', 'stall 20', pair, { records: 1 });
    expect(read(answer.text)).toEqual(wholeOnce);
    const [record] = records;
    expect(record).toMatchObject({
      path: 'config.targets[0]',
      outcome: 'SUCCESS',
      status: 200,
      code: '',
    });
    // The first told its prompt alone: what it said is estimated.
    expect(rawRecords).toMatchObject([{ inputTokens: 20n, usageEstimated: true }]);
    const parts = partsOf(rawRecords);
    expect(parts).toMatchObject([
      { outcome: 'partial', error: 'upstream.stream_stalled', input_tokens: 10 },
      { path: 'config.targets[1]', outcome: 'success', input_tokens: 10, output_tokens: 20 },
    ]);
    const [first = 0, second = 0] = parts.map(({ cost_nano_usd }) => cost_nano_usd);
    expect(first).toBeGreaterThan(0);
    expect(Number(rawRecords[0]?.costNanoUsd)).toBe(first + second);
    // The caller is told of what both took.
    expect(answer.text).toMatch(/"message_delta".*"output_tokens":21/);
  });

  it('is charged by an estimate where a part did not tell its tokens', async () => {
    const pair: [Vendor, Vendor] = ['openai', 'openai'];
    const { rawRecords } = await ask('chat', 'cut 20', pair, { records: 1 });
    expect(rawRecords).toMatchObject([{ usageEstimated: true, costKnown: true }]);
    expect(partsOf(rawRecords)[0]).toHaveProperty('output_tokens');
    expect(partsOf(rawRecords)[1]).toMatchObject({ output_tokens: 20 });
  });

  it('has no known cost where nobody knows that of a part', async () => {
    const { rawRecords } = await ask('messages', 'stall 20', ['anthropic', 'anthropic'], {
      first: { override_params: { model: 'a-model-of-nobody' } },
      records: 1,
    });
    expect(rawRecords).toMatchObject([{ costKnown: false }]);
    const [unknown, known] = partsOf(rawRecords);
    expect(unknown).not.toHaveProperty('cost_nano_usd');
    expect(known?.cost_nano_usd).toBeGreaterThan(0);
  });

  it('is asked for in words where a begun answer is refused', async () => {
    const { answer, calls } = await ask('chat', 'cut 20 no prefill', ['openai', 'anthropic']);
    expect(read(answer.text)).toEqual(wholeOnce);
    expect(calls).toEqual(['one', 'two', 'two']);
  });

  it('is never told by who does not go on from where it was cut', async () => {
    const pair: [Vendor, Vendor] = ['openai', 'openai'];
    const { answer, calls, records } = await ask('chat', 'cut 20 disobey', pair, { records: 1 });
    expect(read(answer.text)).toEqual({ text: words.slice(0, 19).join(''), ends: 0, errors: 1 });
    expect(calls).toEqual(['one', 'two']);
    expect(records).toMatchObject([{ outcome: 'PARTIAL', code: 'upstream.stream_cut' }]);
    const others = { targets: [...targetsOf(pair), three.target(vendors.anthropic)] };
    const mended = await ask('chat', 'cut 20 disobey in words', pair, { config: others });
    expect(mended.calls).toEqual(['one', 'two', 'three']);
  });

  it.each([
    ['without the option', 'off', 'cut 20', 'upstream.stream_cut'],
    ['without a further target', 'continue', 'cut 20', 'upstream.stream_cut'],
    ['of the provider without the option', 'off', 'fail 20', 'upstream.error'],
    ['of the provider without a further target', 'continue', 'fail 20', 'upstream.error'],
  ])('ends in the error event %s', async (_, stream_recovery, question, code) => {
    const asked = eachWith(callerNames, vendorNames, 2).map(async ([caller, vendor]) => {
      const targets = targetsOf(stream_recovery === 'off' ? [vendor, 'openai'] : [vendor]);
      const config = { stream_recovery, targets };
      const { answer, records } = await ask(caller, question, [vendor, 'openai'], {
        config,
        records: 1,
      });
      return { caller, vendor, ...read(answer.text), ...records[0] };
    });
    for (const ended of await Promise.all(asked))
      expect(ended).toMatchObject({ ends: 0, errors: 1, outcome: 'PARTIAL', code });
  });

  it('ends in the same bytes, whether nobody is asked or nobody goes on', async () => {
    for (const [caller, vendor] of eachWith(callerNames, vendorNames, 1)) {
      const pair: [Vendor, Vendor] = [vendor, 'openai'];
      const off = await ask(caller, 'fail 20', pair, { config: { stream_recovery: 'off' } });
      const targets = targetsOf([vendor]);
      const alone = await ask(caller, 'fail 20', pair, { config: { targets } });
      expect(withoutTimes(alone.answer.text)).toBe(withoutTimes(off.answer.text));
    }
  });

  it('is nobody’s any more when its caller leaves while others are asked', async () => {
    const before = two.requests.length;
    const gone = new AbortController();
    const asking = ask('chat', 'cut 20 hang', ['openai', 'openai'], {
      records: 1,
      signal: gone.signal,
    });
    await eventually(() => two.requests.length > before);
    gone.abort();
    const { answer, records, rawRecords } = await asking;
    expect(answer.wasCut).toBe(true);
    expect(records).toMatchObject([{ outcome: 'CALLER_GONE' }]);
    expect(partsOf(rawRecords)).toMatchObject([{ outcome: 'partial' }, { outcome: 'caller_gone' }]);
    await eventually(() => two.requests[before]?.aborted === true);
  });

  it('counts against the circuit of the target that broke, and for that of the one that went on', async () => {
    const pair: [Vendor, Vendor] = ['openai', 'openai'];
    const slug = await lab.saveConfig({
      strategy: {
        mode: 'fallback',
        cb_config: { failure_threshold: 1, cooldown_interval: 60_000 },
      },
      stream_recovery: 'continue',
      targets: targetsOf(pair),
    });
    const asked = () => trial.ask({ ...callers.chat('Go cut 20'), config: slug });
    expect((await asked()).calls).toEqual(['one', 'two']);
    expect((await asked()).calls).toEqual(['one', 'two']);
    // Its own question was cut for the one that is skipped alone.
    const spared = await trial.ask({ ...callers.chat('Go on'), config: slug });
    expect(spared.calls).toEqual(['two']);
  });

  it('is asked of no target whose limit is reached', async () => {
    const provider = await lab.saveProvider({
      aiProviderId: 'openai',
      key: 'sk-two',
      customHost: `${two.url}/v1`,
      rateLimits: [{ type: 'requests', unit: 'rpd', value: 1 }],
    });
    const limited = { provider, override_params: { model: 'gpt-4o-mini' } };
    const config = {
      targets: [one.target(vendors.openai), limited, three.target(vendors.openai)],
    };
    const asked = () => ask('chat', 'cut 20', ['openai', 'openai'], { config, records: undefined });
    expect((await asked()).calls).toEqual(['one', 'two']);
    const { answer, calls } = await asked();
    expect(calls).toEqual(['one', 'three']);
    expect(read(answer.text)).toEqual(wholeOnce);
  });

  it('gives back what it held of the limits of a target that was not called after all', async () => {
    const provider = await lab.saveProvider({
      aiProviderId: 'openai',
      key: 'sk-two',
      customHost: `${two.url}/v1`,
      rateLimits: [{ type: 'requests', unit: 'rpd', value: 1 }],
    });
    const limited = { provider, override_params: { model: 'gpt-4o-mini' } };
    const input_guardrails = [{ 'default.regexMatch': { rule: 'cut', not: true }, deny: true }];
    const config = { targets: [one.target(vendors.openai), { ...limited, input_guardrails }] };
    const { calls } = await ask('chat', 'cut 20', ['openai', 'openai'], { config });
    expect(calls).toEqual(['one']);
    const alone = await trial.ask({ ...callers.chat('Go on'), config: limited });
    expect(alone.answer.status).toBe(200);
  });

  it('is checked as a whole, by the checks of the target that began', async () => {
    const says = (id: string, rule: string) => ({ id, 'default.regexMatch': { rule } });
    const output_guardrails = [
      says('begins', words.slice(0, 3).join('')),
      says('ends', words.slice(-3).join('')),
    ];
    const { answer } = await ask('chat', 'cut 20', ['openai', 'openai'], {
      first: { output_guardrails, strict_open_ai_compliance: false },
      second: { output_guardrails: [says('never', 'asked')] },
    });
    const items = eventsOf(answer.text) as HookItem[];
    const results = items.flatMap(({ hook_results }) => hook_results?.after_request_hooks ?? []);
    expect(results).toMatchObject([
      { id: 'begins', verdict: true },
      { id: 'ends', verdict: true },
    ]);
  });

  it.each([20, words.length, words.length + 1, words.length + 2])(
    'that is denied at its end was denied, wherever it broke: after %i events',
    async (cutAfter) => {
      const denies = {
        id: 'ends',
        deny: true,
        stream_mode: 'window',
        'default.regexMatch': { rule: words.slice(-3).join(''), not: true },
      };
      const { answer, records } = await ask('chat', `cut ${cutAfter}`, ['openai', 'openai'], {
        first: { output_guardrails: [denies] },
        records: 1,
      });
      expect(answer.text).toContain('guardrail.denied');
      expect(records).toMatchObject([{ outcome: 'DENIED', code: 'guardrail.denied' }]);
    },
  );

  it.each([true, false])(
    'that lacks nothing but its end is over when its checks have judged it: %s',
    async (verdict) => {
      const judge = await trial.upstreamThat('judge', () =>
        slowHeaders(150, json(200, { verdict })),
      );
      const asks = {
        id: 'slow',
        deny: true,
        stream_mode: 'window',
        'default.webhook': { webhookURL: `${judge.url}/judge` },
      };
      const { answer, records, rawRecords } = await ask(
        'chat',
        `cut ${words.length + 2}`,
        ['openai', 'openai'],
        { first: { output_guardrails: [asks] }, records: 1 },
      );
      expect(judge.requests.length).toBeGreaterThan(0);
      expect(partsOf(rawRecords)).toMatchObject([{ outcome: 'partial' }]);
      if (verdict) {
        expect(read(answer.text)).toEqual(wholeOnce);
        expect(records).toMatchObject([{ outcome: 'SUCCESS', code: '' }]);
      } else {
        expect(answer.text).toContain('guardrail.denied');
        expect(records).toMatchObject([{ outcome: 'DENIED', code: 'guardrail.denied' }]);
      }
    },
  );

  it.each([3, 4])(
    'that breaks behind its end is whole, also while it is judged: %i events after the words',
    async (after) => {
      const judge = await trial.upstreamThat('judge', () =>
        slowHeaders(150, json(200, { verdict: true })),
      );
      const asks = {
        deny: true,
        stream_mode: 'window',
        'default.webhook': { webhookURL: `${judge.url}/judge` },
      };
      const { answer, records } = await ask(
        'chat',
        `cut ${words.length + after}`,
        ['openai', 'openai'],
        { first: { output_guardrails: [asks] }, records: 1 },
      );
      expect(read(answer.text)).toEqual(wholeOnce);
      expect(records).toMatchObject([{ outcome: 'SUCCESS', code: '' }]);
    },
  );

  it('tells of the checks of the question once, before it begins', async () => {
    const input_guardrails = [{ 'default.regexMatch': { rule: 'Go' } }];
    const checked = { input_guardrails, strict_open_ai_compliance: false };
    const pair: [Vendor, Vendor] = ['openai', 'openai'];
    const { answer } = await ask('chat', 'cut 20', pair, { first: checked, second: checked });
    const items = eventsOf(answer.text) as HookItem[];
    const told = items.map(({ hook_results }) => hook_results?.before_request_hooks !== undefined);
    expect([told.indexOf(true), told.lastIndexOf(true)]).toEqual([0, 0]);
    expect(read(answer.text)).toEqual(wholeOnce);
  });

  it('is told by no target whose checks deny the question', async () => {
    const input_guardrails = [{ 'default.regexMatch': { rule: 'Go', not: true }, deny: true }];
    const pair: [Vendor, Vendor] = ['openai', 'openai'];
    const { answer, calls } = await ask('chat', 'cut 20', pair, { second: { input_guardrails } });
    expect(calls).toEqual(['one']);
    expect(read(answer.text)).toMatchObject({ ends: 0, errors: 1 });
  });

  it('is not kept in the cache unless one target told all of it', async () => {
    const cache = { mode: 'simple' };
    // What a go before has kept is of other questions.
    const go = freshName('go');
    const asked = async (question: string) => {
      const pair: [Vendor, Vendor] = ['openai', 'openai'];
      const { answer, calls } = await ask('chat', `${question} ${go}`, pair, { config: { cache } });
      expect(read(answer.text)).toEqual(wholeOnce);
      return [answer.own('cache-status'), ...calls];
    };
    expect(await asked('cut 30')).toEqual(['MISS', 'one', 'two']);
    expect(await asked('cut 30')).toEqual(['MISS', 'one', 'two']);
    expect(await asked('on')).toEqual(['MISS', 'one']);
    expect(await asked('on')).toEqual(['HIT']);
  });

  it('goes on for the call that won, where two were made at once', async () => {
    let calls = 0;
    const slowOnce = await trial.upstreamThat('slow once', (request) => {
      calls += 1;
      return calls === 1 ? hang() : begun(request);
    });
    const { answer, records, rawRecords } = await ask('chat', 'cut 20', ['openai', 'openai'], {
      config: {
        targets: [
          slowOnce.target({ ...vendors.openai, hedge: { delay: 50, budget_percentage: 100 } }),
          two.target(vendors.openai),
        ],
      },
      records: 2,
    });
    expect(read(answer.text)).toEqual(wholeOnce);
    expect(records.map(({ outcome, code }) => [outcome, code]).sort()).toEqual([
      ['CALLER_GONE', 'request.superseded'],
      ['SUCCESS', ''],
    ]);
    const told = rawRecords.filter(({ decisionJson }) => decisionJson.includes('"parts"'));
    expect(partsOf(told)).toMatchObject([{ outcome: 'partial' }, { outcome: 'success' }]);
  });
});

/** One target for each vendor, at upstreams in their order. */
function targetsOf(names: readonly Vendor[]): object[] {
  return names.map((vendor, at) => {
    const upstream = [one, two, three][at] as NamedUpstream;
    return upstream.target(hostOf(upstream, vendor));
  });
}

interface HookItem {
  hook_results?: {
    before_request_hooks?: object[];
    after_request_hooks?: { id: string; verdict: boolean }[];
  };
}

interface Part {
  path: string;
  outcome: string;
  cost_nano_usd?: number;
}

function partsOf([record]: readonly { decisionJson: string }[]): Part[] {
  return JSON.parse(record?.decisionJson ?? '{}').parts;
}

/** What the clock decides: times, ids made of them, and those of requests, by which answers without one are named. */
function withoutTimes(text: string): string {
  return text.replace(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\d{9,}/g, '0');
}
