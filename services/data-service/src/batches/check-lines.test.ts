import { describe, expect, it } from 'vitest';
import { checkLines, faultsMax } from './check-lines.ts';

const endpoint = '/v1/chat/completions';

function check(
  lines: readonly unknown[],
  rules: { linesMax?: number; lineBytesMax?: number } = {},
) {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  const pieces = (async function* () {
    yield Buffer.from(text.join('\n'));
  })();
  return checkLines(pieces, { endpoint, linesMax: 1_000, lineBytesMax: 1_000, ...rules });
}

const good = (id: unknown) => ({ custom_id: id, method: 'POST', url: endpoint, body: {} });

describe('the lines of a batch', () => {
  it('are counted where all can be run', async () => {
    expect(await check([good('a'), '', good('b')])).toEqual({ total: 2, faults: [] });
  });

  it('are refused each with its number, its member and what is wrong', async () => {
    const { total, faults } = await check([
      good('a'),
      '{"custom_id":',
      '[1]',
      { ...good('b'), custom_id: undefined },
      good(7),
      good(''),
      good('x'.repeat(257)),
      good('a'),
      { ...good('c'), url: '/v1/embeddings' },
      { ...good('d'), method: 'GET' },
      { ...good('e'), body: 'text' },
      { ...good('f'), body: { stream: true } },
      good('g'.repeat(2000)),
    ]);
    expect(total).toBe(13);
    expect(faults.map(({ line, code, param }) => [line, code, param])).toEqual([
      [2, 'invalid_json_line', null],
      [3, 'invalid_json_line', null],
      [4, 'missing_custom_id', 'custom_id'],
      [5, 'invalid_custom_id', 'custom_id'],
      [6, 'invalid_custom_id', 'custom_id'],
      [7, 'invalid_custom_id', 'custom_id'],
      [8, 'duplicate_custom_id', 'custom_id'],
      [9, 'mismatched_url', 'url'],
      [10, 'invalid_method', 'method'],
      [11, 'invalid_body', 'body'],
      [12, 'stream_not_supported', 'body.stream'],
      [13, 'line_too_large', null],
    ]);
    expect(faults[6]?.message).toBe('Line 1 has the same custom_id.');
  });

  it('are too few, too many, or have more faults than are told', async () => {
    expect((await check([])).faults[0]?.code).toBe('empty_file');
    const many = Array.from({ length: 5_000 }, (_, at) => good(`line ${at}`));
    expect((await check(many, { linesMax: 4_999 })).faults[0]?.code).toBe('too_many_lines');
    expect(await check(many, { linesMax: 5_000 })).toEqual({ total: 5_000, faults: [] });
    expect((await check(many.map(() => '{'))).faults).toHaveLength(faultsMax);
    const doubled = [...many, good('line 4321')];
    expect((await check(doubled, { linesMax: 9_999 })).faults[0]).toMatchObject({
      line: 5_001,
      message: 'Line 4322 has the same custom_id.',
    });
  });
});
