import type { Hook, HookCheck } from '@sluice/engine';
import type { CheckFunction, CheckOutcome } from '@sluice/guardrails';
import { describe, expect, it } from 'vitest';
import {
  answering,
  asking,
  contentOf,
  exampleCheck,
  exampleContext,
  exampleHook,
  exampleTools,
  fixedChecks,
  marking,
} from './example-hooks.ts';
import { type HookRun, hasRun } from './hook-results.ts';
import { runHooks } from './run-hooks.ts';

const never: CheckFunction = () => new Promise<CheckOutcome>(() => {});
const tools = exampleTools({
  ...fixedChecks,
  'test.a': marking('a'),
  'test.b': marking('b'),
  'test.never': never,
});

function resultAt(run: HookRun, index: number) {
  const result = run.results[index];
  if (result === undefined || !hasRun(result)) throw new Error('the hook did not run');
  return result;
}

describe('the verdict of a hook', () => {
  it.each([
    ['all checks pass', ['test.pass', 'test.pass'], {}, true],
    ['one fails', ['test.pass', 'test.fail'], {}, false],
    ['one throws', ['test.pass', 'test.throw'], {}, true],
    ['one throws, with failOnError', ['test.throw'], { failOnError: true }, false],
    ['failOnError as a text is none', ['test.throw'], { failOnError: 'true' }, true],
    ['a check is unknown', ['test.unknown'], {}, true],
    ['a check is unknown, with failOnError', ['test.unknown'], { failOnError: true }, false],
    ['parameters are wrong', ['default.wordCount'], { minWords: 'x' }, true],
    ['there are no checks', [], {}, true],
  ])('when %s', async (_what, ids, parameters, verdict) => {
    const checks = ids.map((id) => exampleCheck(id, parameters));
    for (const deny of [false, true]) {
      const run = await runHooks([exampleHook({ checks, deny })], exampleContext(), tools);
      expect(run.failed).toBe(!verdict);
      expect(run.denied).toBe(deny && !verdict);
      expect(resultAt(run, 0)).toMatchObject({ verdict, deny: deny && !verdict });
    }
  });

  it('does not ask a check that is off', async () => {
    const checks = [exampleCheck('test.fail', {}, false), exampleCheck('test.pass')];
    const run = await runHooks([exampleHook({ checks })], exampleContext(), tools);
    expect(resultAt(run, 0).checks.map(({ id }) => id)).toEqual(['test.pass']);
    expect(run.failed).toBe(false);
  });

  it('tells errors by name and message, and beside them a verdict of false', async () => {
    const checks = [exampleCheck('test.throw'), exampleCheck('nobody.knows')];
    const run = await runHooks([exampleHook({ checks })], exampleContext(), tools);
    expect(resultAt(run, 0).checks).toMatchObject([
      { verdict: false, data: null, error: { name: 'TypeError', message: 'broken' } },
      { verdict: false, error: { name: 'UnknownCheck' } },
    ]);
  });

  it('does not wait for a check beyond its deadline', async () => {
    const hasty = exampleTools({ 'test.never': () => new Promise(() => {}) }, 5);
    const checks = [exampleCheck('test.never', { failOnError: true })];
    const run = await runHooks([exampleHook({ checks, deny: true })], exampleContext(), hasty);
    expect(resultAt(run, 0).checks[0]?.error?.name).toBe('DeadlineExceeded');
    expect(run.denied).toBe(true);
  });

  it('reads the parameters of a check once, and tells of a fault once', async () => {
    const own = exampleTools();
    const hooks = [exampleHook({ checks: [exampleCheck('default.contains')] })];
    for (let round = 0; round < 3; round++) await runHooks(hooks, asking('text'), own);
    expect(own.faults).toHaveLength(1);
  });

  it('has the documented fields, and no other', async () => {
    const checks = [exampleCheck('default.wordCount', { minWords: 9 })];
    const hook = exampleHook({ id: 'h', checks });
    const run = await runHooks([hook], asking('two words'), tools);
    expect(run.results).toEqual([
      {
        id: 'h',
        type: 'guardrail',
        verdict: false,
        transformed: false,
        checks: [
          {
            id: 'default.wordCount',
            verdict: false,
            data: {
              verdict: false,
              not: false,
              explanation: 'The text has 2 words, outside the limits of 9 to 99999.',
              wordCount: 2,
              minWords: 9,
              maxWords: 99_999,
              textExcerpt: 'two words',
            },
            execution_time: expect.any(Number),
            transformed: false,
            created_at: '2030-01-01T00:00:00.000Z',
            log: null,
            fail_on_error: false,
          },
        ],
        feedback: null,
        execution_time: expect.any(Number),
        async: false,
        created_at: '2030-01-01T00:00:00.000Z',
        deny: false,
      },
    ]);
  });
});

describe('what a hook allows its checks', () => {
  const bounded = exampleTools({ ...fixedChecks, 'test.never': never });
  const errorsOf = (run: HookRun) => resultAt(run, 0).checks.map(({ error }) => error?.name);

  it('is time: what takes longer could not decide, and what stood behind it neither', async () => {
    const checks = ['test.pass', 'test.never', 'test.pass'].map((id) => exampleCheck(id));
    const hook = exampleHook({ checks, sequential: true, timeoutMs: 30 });
    const run = await runHooks([hook], exampleContext(), bounded);
    expect(errorsOf(run)).toEqual([undefined, 'HookDeadlineExceeded', 'HookDeadlineExceeded']);
    expect(run.failed).toBe(false);
    const failing = checks.map((check) => ({ ...check, parameters: { failOnError: true } }));
    const failed = await runHooks([{ ...hook, checks: failing }], exampleContext(), bounded);
    expect(failed.failed).toBe(true);
  });

  it('is no reason to end a check that has less time itself', async () => {
    const hook = exampleHook({ checks: [exampleCheck('test.never')], timeoutMs: 10_000 });
    const run = await runHooks([hook], exampleContext(), { ...bounded, checkDeadlineMs: 5 });
    expect(errorsOf(run)).toEqual(['DeadlineExceeded']);
  });

  it('counts against the request where its own length took the time', async () => {
    const checks = [exampleCheck('test.never'), exampleCheck('test.pass')];
    // Enough for the first to begin on a busy machine.
    const hook = exampleHook({ checks, sequential: true, timeoutMs: 200 });
    const enforced = { ...hook, isEnforced: true };
    const large = exampleContext({ largeOwner: 'workspace-1' });
    expect((await runHooks([enforced], exampleContext(), bounded)).failed).toBe(false);
    const run = await runHooks([enforced], large, bounded);
    expect(errorsOf(run)).toEqual(['HookDeadlineExceeded', 'TimeSpent']);
    expect(run.failed).toBe(true);
  });

  it('is length: of longer texts only checks that read none decide', async () => {
    const context = asking('x'.repeat(50));
    const checks = [exampleCheck('test.pass'), exampleCheck('default.allowedRequestTypes')];
    const withMax = (textLengthMax: number) => exampleHook({ checks, textLengthMax });
    // The model, the roles and the system prompt are texts of it as well.
    expect(errorsOf(await runHooks([withMax(100)], context, bounded))).toEqual([
      undefined,
      undefined,
    ]);
    const run = await runHooks([withMax(50)], context, bounded);
    expect(errorsOf(run)).toEqual(['TextTooLong', undefined]);
    expect(run.failed).toBe(false);
    const enforced = { ...withMax(50), isEnforced: true };
    expect((await runHooks([enforced], context, bounded)).failed).toBe(true);
  });
});

describe('a denial', () => {
  const denialOf = async (given: Partial<Hook>, ...checks: HookCheck[]) => {
    const hook = exampleHook({ checks, deny: true, ...given });
    return resultAt(await runHooks([hook], exampleContext(), tools), 0).soft_deny_200;
  };
  const soft = (id: string) => exampleCheck(id, { soft_deny_200: true });

  it('is soft where the hook says so, or each check that fails', async () => {
    expect(await denialOf({ deniesSoftly: true }, exampleCheck('test.fail'))).toBe(true);
    expect(await denialOf({}, soft('test.fail'), exampleCheck('test.pass'))).toBe(true);
    expect(await denialOf({}, soft('test.fail'), exampleCheck('test.fail'))).toBeUndefined();
    expect(await denialOf({}, exampleCheck('test.fail'))).toBeUndefined();
    expect(await denialOf({ deniesSoftly: true }, exampleCheck('test.pass'))).toBeUndefined();
    expect(await denialOf({ deniesSoftly: true, deny: false }, soft('test.fail'))).toBeUndefined();
  });
});

describe('feedback', () => {
  const onSuccess = { value: 5, weight: 1, metadata: { user_id: 'u' } };
  const onFail = { value: -5, weight: 0.5, metadata: { note: 'n' } };

  it.each([
    ['praises when all pass', ['test.pass', 'test.pass'], 5, ['test.pass, test.pass', '', '']],
    [
      'praises when some only threw',
      ['test.pass', 'test.throw'],
      5,
      ['test.pass', '', 'test.throw'],
    ],
    [
      'blames when one fails',
      ['test.pass', 'test.fail', 'test.throw'],
      -5,
      ['test.pass', 'test.fail', 'test.throw'],
    ],
  ])('%s', async (_what, ids, value, [successfulChecks, failedChecks, erroredChecks]) => {
    const checks = ids.map((id) => exampleCheck(id, { failOnError: true }));
    const hook = exampleHook({ checks, onSuccess, onFail });
    const { feedback } = resultAt(await runHooks([hook], exampleContext(), tools), 0);
    const given = value > 0 ? onSuccess : onFail;
    expect(feedback).toEqual({
      value,
      weight: given.weight,
      metadata: { ...given.metadata, successfulChecks, failedChecks, erroredChecks },
    });
  });

  it('is given only where it is configured', async () => {
    const hook = exampleHook({ checks: [exampleCheck('test.pass')], onFail });
    expect(resultAt(await runHooks([hook], exampleContext(), tools), 0).feedback).toBeNull();
  });
});

describe('transformations', () => {
  const both = [exampleCheck('test.a'), exampleCheck('test.b')];

  it('side by side, the last one listed wins', async () => {
    const run = await runHooks([exampleHook({ checks: both })], exampleContext(), tools);
    expect(contentOf(run.request)).toBe('hellob');
  });

  it('the last one listed wins, however late the others are', async () => {
    const late = exampleTools({
      'test.a': async (context) => {
        for (let turn = 0; turn < 5; turn++) await Promise.resolve();
        return marking('a')(context);
      },
      'test.b': marking('b'),
    });
    const run = await runHooks([exampleHook({ checks: both })], exampleContext(), late);
    expect(contentOf(run.request)).toBe('hellob');
  });

  it('one after another, each sees what those before it made', async () => {
    const hook = exampleHook({ checks: both, sequential: true });
    const run = await runHooks([hook], exampleContext(), tools);
    expect(contentOf(run.request)).toBe('helloab');
    expect(resultAt(run, 0)).toMatchObject({
      transformed: true,
      checks: [{ transformed: true }, { transformed: true }],
    });
  });

  it('mutators go one after another, whatever they say', async () => {
    const hook = exampleHook({ type: 'mutator', checks: both });
    const run = await runHooks([hook], exampleContext(), tools);
    expect(contentOf(run.request)).toBe('helloab');
  });

  it('of two guardrails, no change is lost', async () => {
    const hooks = [
      exampleHook({ id: '1', checks: [exampleCheck('test.a')] }),
      exampleHook({ id: '2', checks: [exampleCheck('test.pass')] }),
      exampleHook({ id: '3', checks: [exampleCheck('test.b')] }),
    ];
    const run = await runHooks(hooks, exampleContext(), tools);
    expect(contentOf(run.request)).toBe('helloab');
    expect(run.results.map(({ id }) => id)).toEqual(['1', '2', '3']);
  });

  it('mutators work on what guardrails made, wherever they stand', async () => {
    const hooks = [
      exampleHook({ id: 'm', type: 'mutator', checks: [exampleCheck('test.b')] }),
      exampleHook({ id: 'g', checks: [exampleCheck('test.a')] }),
    ];
    const run = await runHooks(hooks, exampleContext(), tools);
    expect(contentOf(run.request)).toBe('helloab');
    expect(run.results.map(({ id }) => id)).toEqual(['m', 'g']);
  });

  it('a refused request is not changed any more', async () => {
    const hooks = [
      exampleHook({ id: 'g', deny: true, checks: [exampleCheck('test.fail')] }),
      exampleHook({ id: 'm', type: 'mutator', checks: [exampleCheck('test.b')] }),
    ];
    const run = await runHooks(hooks, exampleContext(), tools);
    expect(run.denied).toBe(true);
    expect(run.request).toBeUndefined();
    expect(run.results[1]).toEqual({ id: 'm', type: 'mutator', skipped: true });
  });

  it('the request is left alone by what runs after it, and is never changed in place', async () => {
    const context = answering('text');
    const hook = exampleHook({ checks: [exampleCheck('test.a')] });
    expect((await runHooks([hook], context, tools)).request).toBeUndefined();
    const before = exampleContext();
    const copy = structuredClone(before.request);
    await runHooks([hook], before, tools);
    expect(before.request).toEqual(copy);
  });

  it('no change is no document', async () => {
    const run = await runHooks(
      [exampleHook({ checks: [exampleCheck('test.pass')] })],
      exampleContext(),
      tools,
    );
    expect(run.request).toBeUndefined();
    expect(run.response).toBeUndefined();
    expect(resultAt(run, 0).transformed).toBe(false);
  });
});

describe('order', () => {
  /** Checks that note when they begin and end, and end when all that were begun have been. */
  function watched() {
    const log: string[] = [];
    const make =
      (name: string): CheckFunction =>
      async () => {
        log.push(`+${name}`);
        for (let turn = 0; turn < 5; turn++) await Promise.resolve();
        log.push(`-${name}`);
        return { verdict: true, data: {} };
      };
    return { log, tools: exampleTools({ 'test.1': make('1'), 'test.2': make('2') }) };
  }
  const checks = [exampleCheck('test.1'), exampleCheck('test.2')];

  it.each([
    ['checks of a hook run side by side', [exampleHook({ checks })], '+1 +2 -1 -2'],
    [
      'checks of a sequential hook run in turn',
      [exampleHook({ checks, sequential: true })],
      '+1 -1 +2 -2',
    ],
    [
      'hooks run side by side',
      checks.map((check) => exampleHook({ checks: [check] })),
      '+1 +2 -1 -2',
    ],
    [
      'mutators run in turn',
      checks.map((check) => exampleHook({ type: 'mutator', checks: [check] })),
      '+1 -1 +2 -2',
    ],
  ])('%s', async (_what, hooks, expected) => {
    const { log, tools: watchedTools } = watched();
    await runHooks(hooks, exampleContext(), watchedTools);
    expect(log.join(' ')).toBe(expected);
  });
});

describe('skipped hooks', () => {
  const failing = exampleHook({ deny: true, checks: [exampleCheck('test.fail')] });
  const skipped = [{ id: 'hook', type: 'guardrail', skipped: true }];

  it.each([201, 246, 400, 429, 503])('after an answer of status %i', async (status) => {
    const context = exampleContext({ event: 'afterRequest', status, response: {} });
    const run = await runHooks([failing], context, tools);
    expect(run).toMatchObject({ results: skipped, failed: false, denied: false });
  });

  it('mutators that nobody waits for, and mutators of embeddings', async () => {
    const mutator = exampleHook({ type: 'mutator', checks: [exampleCheck('test.a')] });
    const late = await runHooks([{ ...mutator, async: true }], exampleContext(), tools);
    const embedding = await runHooks([mutator], exampleContext({ endpoint: 'embed' }), tools);
    for (const run of [late, embedding]) {
      expect(run.results).toEqual([{ id: 'hook', type: 'mutator', skipped: true }]);
      expect(run.request).toBeUndefined();
    }
  });

  it('asynchronous hooks are not in the results at all', async () => {
    const run = await runHooks([{ ...failing, async: true }], exampleContext(), tools);
    expect(run).toMatchObject({ results: [], failed: false, denied: false });
  });
});
