import { type ConfigNode, parseConfigDocument } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { compileConfig } from './compile-config.ts';
import { ownHooks } from './hooks.ts';
import { savedHook } from './saved-guardrail.ts';

function targetsOf(document: object, knownChecks?: ReadonlySet<string>) {
  const parsed = parseConfigDocument(document, 'refuse');
  if (!parsed.ok) throw new Error(parsed.faults.join('; '));
  return compileConfig(parsed.config, { knownChecks }).targets;
}

function hooksOf(document: object) {
  return targetsOf(document)[0]?.hooks;
}

const words = { wordCount: { minWords: 1 } };

describe('hooks of a target', () => {
  it('are none when the config names none', () => {
    expect(hooksOf({ provider: '@a' })).toBeUndefined();
  });

  it('stand in order: explicit, shorthand, mutators, enforced', () => {
    const hooks = hooksOf({
      provider: '@a',
      input_mutators: [{ id: 'm', addPrefix: { prefix: 'x' } }],
      input_guardrails: [{ id: 'g', ...words }],
      before_request_hooks: [{ id: 'h', checks: [{ id: 'default.regexMatch' }] }],
      default_input_guardrails: [{ id: 'd', ...words }],
    });
    expect(hooks?.beforeRequest.map(({ id, type }) => [id, type])).toEqual([
      ['h', 'guardrail'],
      ['g', 'guardrail'],
      ['m', 'mutator'],
      ['d', 'guardrail'],
    ]);
    expect(hooks?.afterRequest).toEqual([]);
  });

  it('replace those of the parent when the target names any, kind by kind', () => {
    const document = {
      strategy: { mode: 'fallback' },
      input_guardrails: [{ id: 'parent-in', ...words }],
      output_guardrails: [{ id: 'parent-out', ...words }],
      default_input_guardrails: [{ id: 'enforced', ...words }],
      targets: [
        { provider: '@a', input_mutators: [{ id: 'own', addPrefix: { prefix: 'x' } }] },
        { provider: '@b' },
        { provider: '@c', before_request_hooks: [] },
      ],
    };
    const ids = targetsOf(document).map(({ hooks }) => [
      hooks?.beforeRequest.map(({ id }) => id),
      hooks?.afterRequest.map(({ id }) => id),
    ]);
    expect(ids).toEqual([
      [['own', 'enforced'], ['parent-out']],
      [['parent-in', 'enforced'], ['parent-out']],
      [['enforced'], ['parent-out']],
    ]);
  });

  it('read shorthand: settings apart, every other key is a check', () => {
    const hooks = hooksOf({
      provider: '@a',
      output_guardrails: [
        {
          deny: true,
          async: true,
          sequential: true,
          type: 'mutator',
          guardrail_version_id: 'v1',
          wordCount: { minWords: 1 },
          second: { id: 'wordCount', minWords: 2 },
          'qualifire.dangerousContent': { mode: 'x' },
          off: { id: 'contains', is_enabled: false, words: ['a'] },
          on_fail: {
            feedback: { value: -5, weight: 0.5, metadata: { user_id: 'u', userId: 'U' } },
          },
          onSuccess: { feedback: { value: 5 } },
        },
      ],
    });
    expect(hooks?.afterRequest[0]).toEqual({
      by: 'caller',
      isEnforced: false,
      versionId: undefined,
      id: expect.stringMatching(/^output_guardrail_[0-9a-z]{3}$/),
      type: 'mutator',
      deny: true,
      deniesSoftly: false,
      timeoutMs: undefined,
      textLengthMax: undefined,
      async: true,
      sequential: true,
      checks: [
        {
          id: 'default.wordCount',
          parameters: { minWords: 1 },
          isEnabled: true,
          deniesSoftly: false,
        },
        {
          id: 'default.wordCount',
          parameters: { minWords: 2 },
          isEnabled: true,
          deniesSoftly: false,
        },
        {
          id: 'qualifire.dangerousContent',
          parameters: { mode: 'x' },
          isEnabled: true,
          deniesSoftly: false,
        },
        {
          id: 'default.contains',
          parameters: { words: ['a'] },
          isEnabled: false,
          deniesSoftly: false,
        },
      ],
      onFail: { value: -5, weight: 0.5, metadata: { user_id: 'u', userId: 'U' } },
      onSuccess: { value: 5, weight: 1, metadata: {} },
    });
  });

  it('read what a hook allows its checks and how it denies, in each spelling', () => {
    const expected = { deny: true, deniesSoftly: true, timeoutMs: 500, textLengthMax: 9 };
    const snake = { soft_deny_200: true, timeout: 500, max_text_length: 9 };
    const camel = { softDeny200: true, timeout: 500, maxTextLength: 9 };
    for (const said of [snake, camel]) {
      const hooks = hooksOf({
        provider: '@a',
        before_request_hooks: [{ id: 'h', checks: [{ id: 'default.wordCount' }], ...said }],
        input_guardrails: [{ id: 'g', ...words, ...said }],
      });
      expect(hooks?.beforeRequest).toMatchObject([expected, expected]);
      expect(hooks?.beforeRequest[1]?.checks).toHaveLength(1);
    }
    const saved = savedHook({ slug: 'pg-a', versionId: 'v', checks: [], actions: snake });
    expect(saved).toMatchObject(expected);
    const hooks = hooksOf({
      provider: '@a',
      input_guardrails: [{ id: 'g', wordCount: { minWords: 1, soft_deny_200: true }, deny: true }],
      before_request_hooks: [
        {
          id: 'h',
          checks: [
            { id: 'default.wordCount', soft_deny_200: true },
            { id: 'default.log' },
            { id: 'default.contains', softDeny200: true },
          ],
        },
      ],
    });
    const checks = hooks?.beforeRequest.map((hook) =>
      hook.checks.map(({ deniesSoftly }) => deniesSoftly),
    );
    expect(checks).toEqual([[true, false, true], [true]]);
    for (const wrong of [0, '5', 700_000])
      expect(() =>
        hooksOf({ provider: '@a', input_guardrails: [{ ...words, timeout: wrong }] }),
      ).toThrow('config.input_guardrails[0].timeout must be a number from 1 to 600000');
  });

  it('are refused where a check needs credentials and nobody gives any, if that is asked for', () => {
    const compiled = (guardrail: object) => {
      const parsed = parseConfigDocument(
        { provider: '@a', input_guardrails: [guardrail] },
        'refuse',
      );
      if (!parsed.ok) throw new Error(parsed.faults.join('; '));
      return compileConfig(parsed.config, { needsCredentials: (id) => id === 'lakera.guard' });
    };
    const credentials = { apiKey: 'k' };
    compiled({ 'lakera.guard': { credentials } });
    compiled({ 'lakera.guard': {}, credentials });
    compiled({ 'lakera.guard': { is_enabled: false } });
    compiled({ 'default.wordCount': {} });
    expect(() => compiled({ 'lakera.guard': {} })).toThrow(
      'config.input_guardrails[0].lakera.guard names the check "lakera.guard", which needs credentials',
    );
  });

  it('give a hook without an id the same one in every replica', () => {
    const document = { provider: '@a', input_guardrails: [words, words] };
    const ids = hooksOf(document)?.beforeRequest.map(({ id }) => id);
    expect(hooksOf(document)?.beforeRequest.map(({ id }) => id)).toEqual(ids);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids ?? []) expect(id).toMatch(/^input_guardrail_[0-9a-z]{3}$/);
  });

  it('read explicit hooks in camelCase too, and leave the user’s own keys alone', () => {
    const hooks = hooksOf({
      provider: '@a',
      beforeRequestHooks: [
        {
          id: 'h',
          type: 'guardrail',
          checks: [
            { id: 'modelWhitelist', parameters: { fooBar: { bazQux: 1 } }, isEnabled: false },
          ],
          onFail: { feedback: { value: -1, weight: 1, metadata: { userId: 'u' } } },
          credentials: { apiKey: 'hook', region: 'eu' },
        },
        {
          id: 'i',
          checks: [{ id: 'jwt', parameters: { credentials: { apiKey: 'check' } } }],
          credentials: { apiKey: 'hook', region: 'eu' },
        },
      ],
    });
    expect(hooks?.beforeRequest).toMatchObject([
      {
        id: 'h',
        async: false,
        checks: [
          {
            id: 'default.modelWhitelist',
            isEnabled: false,
            parameters: { fooBar: { bazQux: 1 }, credentials: { apiKey: 'hook', region: 'eu' } },
          },
        ],
        onFail: { metadata: { userId: 'u' } },
      },
      { checks: [{ parameters: { credentials: { apiKey: 'check', region: 'eu' } } }] },
    ]);
  });

  it.each<[string, Partial<ConfigNode>, string]>([
    [
      'a check without an id',
      { before_request_hooks: [{ id: 'h', checks: [{ parameters: {} }] }] },
      'config.before_request_hooks[0].checks[0].id',
    ],
    [
      'shorthand that is no object',
      { input_guardrails: [{ wordCount: 5 }] },
      'config.input_guardrails[0].wordCount',
    ],
    [
      'feedback out of range',
      { output_guardrails: [{ ...words, on_fail: { feedback: { value: 11 } } }] },
      'config.output_guardrails[0].on_fail.feedback.value',
    ],
  ])('refuse %s with its path', (_name, settings, field) => {
    const compile = () => hooksOf({ provider: '@a', ...settings });
    expect(compile).toThrow(expect.objectContaining({ code: 'config.invalid', field }));
  });

  it('that cannot be run make the target unavailable, and no other', () => {
    const known = new Set(['default.wordCount']);
    const targets = targetsOf(
      {
        strategy: { mode: 'fallback' },
        targets: [
          { provider: '@a', input_guardrails: [words] },
          { provider: '@b', input_guardrails: [words, { contains: { words: [] } }] },
          { provider: '@c' },
          { provider: '@d', input_guardrails: [{ contains: { is_enabled: false } }] },
        ],
      },
      known,
    );
    expect(targets.map(({ unavailable }) => unavailable?.path)).toEqual([
      undefined,
      'config.targets[1].input_guardrails[1].contains',
      undefined,
      undefined,
    ]);
  });
});

describe('saved guardrails in a config', () => {
  const saved = savedHook({
    slug: 'pg-a',
    versionId: 'v1',
    checks: [{ id: 'default.wordCount', parameters: { minWords: 1, credentials: { k: 'own' } } }],
    actions: { deny: true, async: false, on_fail: { feedback: { value: -5 } } },
  });
  const find = (reference: string) => (reference === 'pg-a' ? saved : undefined);
  const compile = (document: object) => {
    const parsed = parseConfigDocument(document, 'refuse');
    if (!parsed.ok) throw new Error(parsed.faults.join('; '));
    return compileConfig(parsed.config, { findGuardrail: find }).targets[0]?.hooks;
  };

  it('are named by a slug, or by a hook that has no checks of its own', () => {
    const hooks = compile({
      provider: '@a',
      before_request_hooks: [{ id: 'pg-a' }],
      input_guardrails: ['pg-a', { id: 'pg-a' }],
      output_guardrails: ['pg-a'],
    });
    expect(hooks?.beforeRequest).toEqual([saved, saved, saved]);
    expect(hooks?.afterRequest[0]).toBe(saved);
  });

  it('do what the config says differently, with credentials that replace the saved ones whole', () => {
    const [hook] =
      compile({
        provider: '@a',
        input_guardrails: [{ id: 'pg-a', deny: false, credentials: { baseURL: 'x' } }],
      })?.beforeRequest ?? [];
    expect(hook).toMatchObject({ id: 'pg-a', deny: false, versionId: undefined });
    expect(hook?.checks[0]?.parameters).toEqual({ minWords: 1, credentials: { baseURL: 'x' } });
  });

  it('whose credentials a caller replaces ask hosts by the word of the caller, not of the admin', () => {
    const reading = {
      knownChecks: undefined,
      findGuardrail: find,
      needsCredentials: undefined,
      by: 'caller',
    } as const;
    const authorOf = (more: object) =>
      ownHooks({ input_guardrails: [{ id: 'pg-a', ...more }] }, 'input', 'config', reading)
        ?.hooks[0]?.by;
    expect(authorOf({ credentials: { baseURL: 'x' } })).toBe('caller');
    expect(authorOf({ deny: false })).toBe('admin');
  });

  it.each([
    ['a slug', { input_guardrails: ['pg-gone'] }, 'config.input_guardrails[0]'],
    ['an output slug', { output_guardrails: ['pg-a', 'pg-gone'] }, 'config.output_guardrails[1]'],
    ['a mutator', { input_mutators: ['pg-gone'] }, 'config.input_mutators[0]'],
    ['a hook', { before_request_hooks: [{ id: 'pg-gone' }] }, 'config.before_request_hooks[0].id'],
    ['an object', { input_guardrails: [{ id: 'pg-gone' }] }, 'config.input_guardrails[0].id'],
  ])('are refused by name and path where %s names none', (_what, settings, field) => {
    expect(() => compile({ provider: '@a', ...settings })).toThrow(
      expect.objectContaining({
        code: 'guardrail.not_found',
        field,
        message: expect.stringContaining('pg-gone'),
      }),
    );
  });
});
