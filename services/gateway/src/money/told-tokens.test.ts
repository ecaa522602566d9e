import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { usageInToolResult } from './told-tokens.ts';

const told = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });

const readToldTokens = (usage: unknown) => usageInToolResult({ structuredContent: { usage } });

describe('usage that a tool tells', () => {
  it.each([
    [{ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }, told(3, 4)],
    [{ input_tokens: 3, output_tokens: 4 }, told(3, 4)],
    [{ inputTokens: 3, outputTokens: 4, totalTokens: 9 }, told(3, 6)],
    [{ promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 10 }, told(3, 7)],
    [{ total_tokens: 9 }, told(9, 0)],
    [{ prompt_tokens: 0, completion_tokens: 0 }, told(0, 0)],
    [{ prompt_tokens: null, completion_tokens: 2 }, told(0, 2)],
  ])('reads %o', (usage, expected) => {
    expect(readToldTokens(usage)).toMatchObject(expected);
  });

  it.each([undefined, null, 7, 'usage', [], [{ input_tokens: 1 }], {}, { tokens: 5 }])(
    'finds nothing in %o',
    (value) => {
      expect(readToldTokens(value)).toBeUndefined();
    },
  );

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 1e308, 0.5, '12', {}, [], true, 2e12])(
    'does not believe %o',
    (count) => {
      for (const usage of [
        { input_tokens: count, output_tokens: 1 },
        { inputTokens: 1, outputTokens: count },
        { total_tokens: count },
      ])
        expect(readToldTokens(usage)).toMatchObject({ ...told(0, 0), isImplausible: true });
    },
  );

  it('makes counts of whatever JSON there is, and never fails', () => {
    const usage = fc.dictionary(
      fc.constantFrom(
        'prompt_tokens',
        'output_tokens',
        'input_tokens',
        'totalTokens',
        '__proto__',
        'usage',
      ),
      fc.oneof(fc.jsonValue(), fc.double(), fc.constantFrom(1e308, -1, 2 ** 53)),
    );
    const result = fc.oneof(
      fc.jsonValue(),
      fc.record({ _meta: fc.record({ usage }) }),
      fc.record({
        _meta: fc.dictionary(
          fc.webUrl().map((url) => `${url}/usage`),
          usage,
        ),
      }),
      fc.record({ structuredContent: fc.record({ usage }) }),
    );
    fc.assert(
      fc.property(result, (value) => {
        const read = usageInToolResult(value);
        if (read === undefined) return;
        for (const count of [read.inputTokens, read.outputTokens]) {
          expect(Number.isSafeInteger(count)).toBe(true);
          expect(count).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });
});

describe('usageInToolResult', () => {
  const usage = { input_tokens: 2, output_tokens: 5 };
  it.each([
    ['_meta', { _meta: { usage } }],
    ['an extension', { _meta: { 'https://example.com/ext/usage': usage } }],
    [
      "a framework's",
      { _meta: { adk_usage_metadata: { promptTokenCount: 2, candidatesTokenCount: 5 } } },
    ],
    ['structured content', { structuredContent: { usage } }],
    [
      '_meta before structured content',
      { _meta: { usage }, structuredContent: { usage: { total_tokens: 1 } } },
    ],
  ])('reads what stands in %s', (_, result) => {
    expect(usageInToolResult(result)).toMatchObject(told(2, 5));
  });

  it('looks nowhere else: what a tool found is not what it used', () => {
    expect(
      usageInToolResult({ usage, content: [{ type: 'text', text: JSON.stringify({ usage }) }] }),
    ).toBeUndefined();
  });
});
