import { eventually } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, startLab } from './lab.ts';
import { probesOf } from './probe.ts';
import { chatBody, chatReply } from './scenario.ts';
import { eventsOf, openAiEvents, openAiReply, stream } from './vendor-replies.ts';

/** What checks do to requests and replies. */
let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ promptLedger: true });
});
afterAll(() => lab.stop());
const probe = probesOf(() => lab);

/** Passes when the text contains `rule`. */
const requires = (rule: string, over: object = {}) => ({
  'default.regexMatch': { rule },
  ...over,
});
/** Fails when the text contains `rule`. */
const forbids = (rule: string, over: object = {}) => ({
  'default.regexMatch': { rule, not: true },
  ...over,
});
const streamBody = { ...chatBody, stream: true, stream_options: { include_usage: true } };

interface HookResults {
  before_request_hooks: { id: string; verdict: boolean; checks: { error?: object }[] }[];
  after_request_hooks: { id: string; verdict: boolean }[];
}
const resultsOf = (json: unknown) => (json as { hook_results: HookResults }).hook_results;

describe.concurrent('probes of guardrails', () => {
  probe(2, 'an input denied at the first target only is asked of the second', async (trial) => {
    const first = await trial.upstream('first', openAiReply);
    const second = await trial.upstream('second', openAiReply);
    const { answer, calls, records } = await trial.ask({
      config: {
        strategy: { mode: 'fallback' },
        targets: [
          first.target({ input_guardrails: [forbids('Hello', { deny: true })] }),
          second.target(),
        ],
      },
      records: 2,
    });
    expect(answer.status).toBe(200);
    expect(answer.own('last-used-option-index')).toBe('config.targets[1]');
    expect(calls).toEqual(['second']);
    expect(records.map(({ outcome, status }) => [outcome, status])).toEqual([
      ['DENIED', 446],
      ['SUCCESS', 200],
    ]);
  });

  probe(3, 'an output that fails softly is the answer, with status 246', async (trial) => {
    const first = await trial.upstream('first', openAiReply);
    const second = await trial.upstream('second', openAiReply);
    const guarded = first.target({ output_guardrails: [requires('never said')] });
    const config = (strategy: object) => ({
      strategy: { mode: 'fallback', ...strategy },
      targets: [guarded, second.target()],
    });
    const { answer, calls, rawRecords } = await trial.ask({ config: config({}), records: 1 });
    expect(answer.status).toBe(246);
    expect(answer.json).toMatchObject(chatReply);
    expect(resultsOf(answer.json).after_request_hooks).toMatchObject([{ verdict: false }]);
    expect(calls).toEqual(['first']);
    expect(JSON.parse(rawRecords[0]?.decisionJson ?? '{}').hooks).toMatchObject([
      { event: 'after', verdict: false },
    ]);
    // A config that lists the status makes it a reason to go on.
    const listed = await trial.ask({ config: config({ on_status_codes: [246] }) });
    expect(listed.answer.status).toBe(200);
    expect(listed.calls).toEqual(['first', 'second']);
  });

  probe(12, 'checks of a target replace those above it; enforced ones stay', async (trial) => {
    const upstream = await trial.upstream('first', openAiReply);
    const { answer } = await trial.ask({
      config: {
        strategy: { mode: 'single' },
        input_guardrails: [forbids('Hello', { id: 'parent', deny: true })],
        default_input_guardrails: [requires('Hello', { id: 'enforced' })],
        targets: [upstream.target({ input_guardrails: [requires('Hello', { id: 'child' })] })],
      },
      // The platform's own channel: what a caller sends in it counts for nothing.
      headers: {
        'x-service-default-input-guardrails': JSON.stringify([forbids('Hello', { deny: true })]),
      },
    });
    expect(answer.status).toBe(200);
    const ids = resultsOf(answer.json).before_request_hooks.map(({ id }) => id);
    expect(ids).toEqual(['child', 'enforced']);
  });

  const invalidPattern = (over: object) => ({
    input_guardrails: [{ 'default.regexMatch': { rule: '(', ...over }, deny: true }],
  });

  probe(13, 'a check that cannot run lets the request pass and shows its error', async (trial) => {
    const upstream = await trial.upstream('first', openAiReply);
    const { answer } = await trial.ask({ config: upstream.target(invalidPattern({})) });
    expect(answer.status).toBe(200);
    expect(resultsOf(answer.json).before_request_hooks).toMatchObject([
      {
        verdict: true,
        checks: [{ id: 'default.regexMatch', verdict: false, error: { name: expect.any(String) } }],
      },
    ]);
  });

  probe(14, 'with failOnError it denies', async (trial) => {
    const upstream = await trial.upstream('first', openAiReply);
    const { answer, calls } = await trial.ask({
      config: upstream.target(invalidPattern({ failOnError: true })),
    });
    expect(answer.status).toBe(446);
    expect(answer.json).toMatchObject({
      error: { type: 'hooks_failed', param: null, code: null },
      hook_results: { before_request_hooks: [{ deny: true, verdict: false }] },
    });
    expect(calls).toEqual([]);
  });

  const guarded = {
    input_guardrails: [requires('Hello', { id: 'in' })],
    output_guardrails: [requires('never said', { id: 'out' })],
  };

  probe(22, 'without strict compliance a stream carries the results of checks', async (trial) => {
    const events = openAiEvents('Hi', ' there');
    const upstream = await trial.upstream('first', stream(events));
    const { answer } = await trial.ask({
      config: upstream.target({ ...guarded, strict_open_ai_compliance: false }),
      body: streamBody,
    });
    expect(answer.status).toBe(200);
    const items = eventsOf(answer.text);
    expect(items[0]).toMatchObject({
      hook_results: { before_request_hooks: [{ id: 'in', verdict: true }] },
    });
    expect(items.at(-1)).toMatchObject({
      hook_results: { after_request_hooks: [{ id: 'out', verdict: false }] },
    });
    expect(items.slice(1, -1)).toEqual(eventsOf(events.join('')));
    expect(items.at(-2)).toBe('[DONE]');
  });

  probe(
    23,
    'with it the stream is the provider’s; record and log have the results',
    async (trial) => {
      const events = openAiEvents('Hi', ' there');
      const upstream = await trial.upstream('first', stream(events));
      const down = { id: 'down', 'service.gibberish': {} };
      const { answer, rawRecords } = await trial.ask({
        config: upstream.target({
          ...guarded,
          input_guardrails: [...guarded.input_guardrails, down],
          output_guardrails: [
            ...guarded.output_guardrails,
            requires('Hi', { id: 'aside', async: true }),
          ],
        }),
        body: streamBody,
        records: 1,
      });
      expect(answer.status).toBe(200);
      expect(answer.text).toBe(events.join(''));
      // The record is written when the stream ends, which checks of the output do not hold up: theirs come later.
      expect(JSON.parse(rawRecords[0]?.decisionJson ?? '{}')).toMatchObject({
        hooks: [
          { id: 'in', event: 'before', verdict: true },
          { id: 'down', errors: [{ check: 'service.gibberish', error: 'InvalidParameters' }] },
        ],
      });
      const requestId = answer.own('request-id') ?? '';
      await eventually(async () => {
        const { attempts } = await lab.scenario.admin<{ attempts: { hooks: object[] }[] }>(
          'GET',
          `/requests/${requestId}`,
        );
        const told = attempts.flatMap(({ hooks }) => hooks);
        expect(told.length).toBe(4);
        const late = { event: 'after', deny: false, ms: expect.any(Number) };
        expect(told).toContainEqual({ ...late, id: 'out', verdict: false });
        expect(told).toContainEqual({ ...late, id: 'aside', verdict: true, async: true });
        const trace = await lab.scenario.admin<{
          requests: { attempts: { hooks: object[] }[] }[];
        }>('GET', `/traces/${answer.own('trace-id')}`);
        expect(trace.requests.map((request) => request.attempts)).toMatchObject([attempts]);
      });
      await eventually(() => {
        expect(logOf(requestId)).toContainEqual(
          expect.objectContaining({
            hook_event: 'after',
            hook_verdicts: [expect.objectContaining({ id: 'out', verdict: false })],
          }),
        );
      });
    },
  );
});

it('a name that is written with escapes is judged as its provider reads it, whatever was sent before', async () => {
  const trial = lab.trial();
  const upstream = await trial.upstream('first', openAiReply);
  const config = { ...upstream.target({ input_guardrails: [forbids('secret', { deny: true })] }) };
  const ask = (...members: string[]) =>
    trial.ask({ config, rawBody: `{"model":"gpt-4o",${members.join(',')}}` });
  const said = (word: string) => JSON.stringify([{ role: 'user', content: word }]);
  try {
    // The parser of Node 24 would take the name below for this one from here on.
    const primed = await ask(`"messages":${said('Hello')}`, '"\\\\u006des":1');
    expect(primed.answer.status).toBe(200);
    const hidden = await ask(`"messages":${said('Hello')}`, `"\\u006dessages":${said('secret')}`);
    expect([hidden.answer.status, hidden.calls]).toEqual([446, []]);
    const alone = await ask('"\\\\u006des":1');
    expect(alone.calls).toEqual(['first']);
    const only = await ask(`"\\u006dessages":${said('secret')}`);
    expect([only.answer.status, only.calls]).toEqual([446, []]);
  } finally {
    await trial.close();
  }
});

/** What the gateway wrote to its log about a request. */
function logOf(requestId: string): unknown[] {
  const lines = lab.scenario.stack.part('gateway').stderr().split('\n');
  return lines.filter((line) => line.includes(requestId)).map((line) => JSON.parse(line));
}
