import type { HookCheck } from '@sluice/engine';
import { speechFormat } from '@sluice/providers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ExampleStream, eventsOf, exampleStreams } from '../../../test/example-streams.ts';
import { exampleCheck, exampleContext, exampleHook, exampleTools } from '../example-hooks.ts';
import type { HookResult } from '../hook-results.ts';
import { runHooks } from '../run-hooks.ts';
import { StreamGate } from './stream-gate.ts';

interface Options {
  checks: HookCheck[];
  deny?: boolean;
  mode?: 'window' | 'sentence';
  holdChars?: number;
  holdMs?: number;
  asks?: boolean;
  /** Checks that wait for the end. */
  whole?: HookCheck[];
  tools?: Parameters<typeof exampleTools>[0];
}

const [chat] = exampleStreams as [ExampleStream];

/** A gate with its caller's side and the clock in hand. */
function start({ format, endpoint }: ExampleStream, options: Options) {
  const { checks, deny = false, whole, asks = false } = options;
  const tools = exampleTools(options.tools);
  const written: Buffer[] = [];
  let ended: () => void = () => {};
  const caller = {
    text: () => Buffer.concat(written).toString(),
    isEnded: false,
    isCut: false,
    takesMore: true,
    whenEnded: new Promise<void>((resolve) => (ended = resolve)),
    drain: () => {},
    write(chunk: Buffer) {
      written.push(chunk);
      return caller.takesMore;
    },
    onDrain(listener: () => void) {
      caller.drain = listener;
    },
    end() {
      caller.isEnded = true;
      ended();
    },
    cut() {
      caller.isCut = true;
      ended();
    },
  };
  const concluded: string[] = [];
  let told: readonly HookResult[] = [];
  let looks = 0;
  const run = (list: readonly HookCheck[], response: object, partWithinMs?: number) => {
    looks++;
    return runHooks(
      [exampleHook({ checks: list, deny, isEnforced: true })],
      exampleContext({
        event: 'afterRequest',
        endpoint,
        response: response as never,
        status: 200,
        ...(partWithinMs === undefined ? {} : { partWithinMs }),
      }),
      tools,
    );
  };
  const gate = new StreamGate(caller, {
    checks: {
      mode: options.mode ?? 'window',
      holdChars: options.holdChars ?? 64,
      holdMs: options.holdMs ?? 10_000,
      asks,
      listens: () => true,
    },
    format: speechFormat(format)!,
    judgePart: (response, withinMs) => run(checks, response, withinMs),
    judgeWhole: whole === undefined ? undefined : (response) => run(whole, response),
    onResults: ({ results }) => {
      told = results;
      return undefined;
    },
    conclude: (error) => {
      concluded.push(error?.code ?? 'passed');
      return Buffer.from(error === undefined ? '' : `[error ${error.code}]`);
    },
    isGone: () => false,
    now: () => performance.now(),
  });
  return { gate, caller, concluded, results: () => told, looks: () => looks };
}

/** Everything that comes of these events, each as a piece of its own. */
async function pass(stream: ExampleStream, events: readonly string[], options: Options) {
  const started = start(stream, options);
  for (const event of events) {
    started.gate.write(Buffer.from(event));
    // As events of a network do, each comes on its own.
    await new Promise((resolve) => setImmediate(resolve));
  }
  started.gate.end();
  await started.caller.whenEnded;
  return { ...started, text: started.caller.text() };
}

const pii = (more: object = {}) =>
  exampleCheck('default.pii', { redact: true, subjects: ['all'], ...more });
const forbids = (rule: string) =>
  exampleCheck('default.regexMatch', { rule, not: true, subjects: ['all'] });

const secret = 'john.smith@example.com';
const before = 'Some words that stand before it, which take more than a window of them: ';
const after = ' and what follows then, which is long enough as well for a window to go. ';
const answer = before + secret + after;

afterEach(() => {
  vi.useRealTimers();
});

describe.each(exampleStreams)('a held stream of $format', (stream) => {
  it('is the same to the byte where nothing is found, and is given while it is told', async () => {
    const events = stream.tell(['No secret, ', 'only words. ', before, before, before, after]);
    for (const mode of ['window', 'sentence'] as const) {
      const { gate, caller } = start(stream, { checks: [pii()], mode });
      for (const event of events.slice(0, -2)) gate.write(Buffer.from(event));
      await vi.waitFor(() => expect(caller.text().length).toBeGreaterThan(0));
      for (const event of events.slice(-2)) gate.write(Buffer.from(event));
      gate.end();
      await caller.whenEnded;
      const given = caller.text().split('\n\n').sort();
      // Only a sign of life may overtake.
      expect(given).toEqual(events.join('').split('\n\n').sort());
    }
  });

  it('redacts what is split at any place', async () => {
    for (let at = 1; at < secret.length; at++) {
      const pieces = [before + secret.slice(0, at), secret.slice(at) + after, 'The end.'];
      const { text } = await pass(stream, stream.tell(pieces), { checks: [pii()] });
      const { said } = stream.read(text);
      expect(said).toBe(`${before}{{EMAIL_ADDRESS_1}}${after}The end.`);
      // Nor where it is told again.
      expect(text).not.toContain(secret);
    }
  });

  it('redacts what comes character by character, by windows and by sentences', async () => {
    for (const mode of ['window', 'sentence'] as const) {
      const { text } = await pass(stream, stream.tell([...answer]), { checks: [pii()], mode });
      expect(stream.read(text).said).toBe(`${before}{{EMAIL_ADDRESS_1}}${after}`);
    }
  });

  it('redacts what stands wherever in a sentence that is too long to be held', async () => {
    const card = '4111 1111 1111 1111';
    for (let at = 40; at < 80; at += 3) {
      const [start, rest] = ['word '.repeat(20).slice(0, at), ' and then more of it. '.repeat(3)];
      const said = [...`${start} ${card}${rest}`];
      const options: Options = { checks: [pii()], mode: 'sentence' };
      const { text } = await pass(stream, stream.tell(said), options);
      expect(stream.read(text).said).toBe(`${start} {{CREDIT_CARD_1}}${rest}`);
      if (stream.call === undefined) continue;
      const called = [
        ...JSON.stringify({ a: 'word'.repeat(20).slice(0, at), to: secret, b: rest }),
      ];
      const { text: given } = await pass(stream, stream.call(called), options);
      expect(JSON.parse(stream.read(given).called)).toMatchObject({ to: '{{EMAIL_ADDRESS_1}}' });
    }
  });

  it('redacts a private key of many lines, whole, whatever it was to hold', async () => {
    const lines = Array.from({ length: 26 }, (_, at) => `${'MIIEvQ'.repeat(10)}${at % 10}AbZ`);
    const key = ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----'].join('\n');
    for (const mode of ['window', 'sentence'] as const)
      for (const holdMs of [10_000, 1]) {
        const said = `${before}\n${key}\n${after}`.match(/[\s\S]{1,40}/g) ?? [];
        const options: Options = { checks: [pii()], mode, holdMs };
        const { text } = await pass(stream, stream.tell(said), options);
        expect(stream.read(text).said).toBe(`${before}\n{{SECRET_1}}\n${after}`);
        expect(text).not.toContain('MIIEvQ');
      }
  });

  it('gives what begins as a private key and goes on longer than any', async () => {
    const said = `-----BEGIN PRIVATE KEY-----\n${'word '.repeat(3000)}`;
    const options: Options = { checks: [forbids('nothing of it')], mode: 'sentence' };
    const { gate, caller } = start(stream, options);
    for (const event of stream.tell(said.match(/[\s\S]{1,500}/g) ?? []).slice(0, -3))
      gate.write(Buffer.from(event));
    await vi.waitFor(() => expect(caller.text()).toContain('word'));
  });

  it('keeps the JSON that a tool is called with whole, whatever is redacted in it', async () => {
    if (stream.call === undefined) return;
    const called = JSON.stringify({
      to: [secret],
      text: `Line\n"quoted" é ${secret} and \\ so on`,
      phone: 12025550123,
    });
    for (const size of [1, 3, 17, called.length]) {
      const pieces = called.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      const { text } = await pass(stream, stream.call(pieces), { checks: [pii()] });
      const { to, text: words } = JSON.parse(stream.read(text).called);
      expect(to).toEqual(['{{EMAIL_ADDRESS_1}}']);
      expect(words).toBe('Line\n"quoted" é {{EMAIL_ADDRESS_1}} and \\ so on');
      expect(text).not.toContain('example.com');
    }
  });

  it('ends by an error where it is denied, and gives nothing of what was forbidden', async () => {
    for (const mode of ['window', 'sentence'] as const) {
      const { text, concluded, results } = await pass(
        stream,
        stream.tell([...`${before}${before}then the forbidden word comes. ${before}${after}`]),
        { checks: [forbids('forbidden word')], deny: true, mode },
      );
      expect(text.endsWith('[error guardrail.denied]')).toBe(true);
      const { said } = stream.read(text);
      expect(said.startsWith(before)).toBe(true);
      expect(said).not.toContain('forbidden');
      expect(concluded).toEqual(['guardrail.denied']);
      expect(results()).toMatchObject([{ verdict: false, deny: true }]);
    }
  });
});

describe('StreamGate', () => {
  it('says once how it passed, before its end is given', async () => {
    const { concluded, results, text } = await pass(chat, chat.tell([before, after]), {
      checks: [pii()],
    });
    expect(concluded).toEqual(['passed']);
    expect(results()).toMatchObject([{ verdict: true, checks: [{ id: 'default.pii' }] }]);
    expect(text.endsWith('[DONE]\n\n')).toBe(true);
  });

  it('is not denied for the end of a window that what follows mends', async () => {
    const text = `${before}this is a cl${'ass'}`;
    const { concluded } = await pass(chat, chat.tell([text, 'room, and nothing else.', after]), {
      checks: [exampleCheck('default.regexMatch', { rule: 'class\\b', not: true })],
      deny: true,
      holdChars: 80,
    });
    expect(concluded).toEqual(['passed']);
  });

  it('has checks of the whole wait for the whole, and its end for them', async () => {
    const whole = [exampleCheck('default.endsWith', { suffix: 'Yours' })];
    const good = await pass(chat, chat.tell([before, after, 'Yours']), {
      checks: [],
      whole,
      deny: true,
    });
    expect(good.concluded).toEqual(['passed']);
    const bad = await pass(chat, chat.tell([before, after, 'Mine']), {
      checks: [],
      whole,
      deny: true,
    });
    expect(bad.concluded).toEqual(['guardrail.denied']);
    expect(bad.text).not.toContain('[DONE]');
  });

  it('gives what waits too long, no later than is declared', async () => {
    vi.useFakeTimers();
    const { gate, caller } = start(chat, { checks: [pii()], holdMs: 500 });
    gate.write(Buffer.from(chat.tell(['short']).slice(0, 2).join('')));
    await vi.advanceTimersByTimeAsync(440);
    expect(caller.text()).not.toContain('short');
    await vi.advanceTimersByTimeAsync(60);
    expect(caller.text()).toContain('short');
  });

  it('sees what is said across a pause, although the first of it is given', async () => {
    vi.useFakeTimers();
    const { gate, caller, concluded } = start(chat, {
      checks: [forbids('forbidden word')],
      deny: true,
      holdMs: 500,
    });
    const [first = '', second = ''] = chat.tell(['a forbidden ', 'word']).slice(1);
    gate.write(Buffer.from(first));
    await vi.advanceTimersByTimeAsync(600);
    gate.write(Buffer.from(second));
    await vi.advanceTimersByTimeAsync(600);
    expect(caller.text()).not.toContain('word"');
    expect(concluded).toEqual(['guardrail.denied']);
  });

  it('lets signs of life pass at once', async () => {
    const { gate, caller } = start(chat, { checks: [pii()] });
    gate.write(Buffer.from(chat.tell(['short'])[1] ?? ''));
    gate.write(Buffer.from(': ping\n\n'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(caller.text()).toBe(': ping\n\n');
  });

  it('does not wait for a slow check longer than is declared: it could not decide', async () => {
    vi.useFakeTimers();
    const never = { 'test.slow': () => new Promise<never>(() => {}) };
    for (const failOnError of [false, true]) {
      const { gate, caller, concluded } = start(chat, {
        checks: [exampleCheck('test.slow', { failOnError })],
        tools: never,
        deny: true,
        asks: true,
        holdMs: 400,
      });
      gate.write(Buffer.from(chat.tell([before])[1] ?? ''));
      await vi.advanceTimersByTimeAsync(390);
      expect(caller.text()).toBe('');
      await vi.advanceTimersByTimeAsync(10);
      if (failOnError) expect(concluded).toEqual(['guardrail.denied']);
      else expect(caller.text()).toContain(before);
    }
  });

  it('has a provider wait that is faster than its checks', async () => {
    let release: () => void = () => {};
    const waiting = new Promise<void>((resolve) => (release = resolve));
    const slow = { 'test.slow': () => waiting.then(() => ({ verdict: true, data: {} })) };
    const { gate, caller } = start(chat, {
      checks: [exampleCheck('test.slow')],
      tools: slow,
      asks: true,
    });
    let drained = 0;
    gate.onDrain(() => drained++);
    const [, event = ''] = chat.tell(['x'.repeat(50_000)]);
    let taken = 0;
    while (gate.write(Buffer.from(event)) && taken < 100) taken++;
    expect(taken).toBeLessThan(10);
    expect(caller.text()).toBe('');
    release();
    await vi.waitFor(() => expect(drained).toBeGreaterThan(0));
  });

  it('hands on a caller that reads slowly', async () => {
    const { gate, caller } = start(chat, { checks: [pii()] });
    let drained = 0;
    gate.onDrain(() => drained++);
    caller.takesMore = false;
    const events = chat.tell([before, before, before]);
    for (const event of events.slice(0, 4)) gate.write(Buffer.from(event));
    await new Promise((resolve) => setImmediate(resolve));
    expect(gate.write(Buffer.from(events[2] ?? ''))).toBe(false);
    caller.takesMore = true;
    caller.drain();
    expect(drained).toBe(1);
  });

  it('takes few looks', async () => {
    const { looks } = await pass(chat, chat.tell([...before.repeat(10)]), {
      checks: [pii()],
      holdChars: 256,
    });
    expect(looks()).toBeLessThan(8);
  });

  it('passes on that a stream was cut, with nothing that was held', async () => {
    const { gate, caller, concluded } = start(chat, { checks: [pii()] });
    gate.write(Buffer.from(chat.tell(['short'])[1] ?? ''));
    gate.cut('upstream.stream_cut');
    expect(caller.isCut).toBe(true);
    expect(caller.text()).toBe('');
    expect(concluded).toEqual(['passed']);
  });

  it('tells an error of the provider behind what it had said', async () => {
    const broken = [...chat.tell([before]).slice(0, 2), 'data: {"error":{"message":"x"}}\n\n'];
    const { text, concluded } = await pass(chat, broken, { checks: [pii()] });
    expect(text).toBe(broken.join(''));
    expect(concluded).toEqual(['passed']);
    expect(eventsOf(text).at(-1)).toEqual({ error: { message: 'x' } });
  });
});
