import { describe, expect, it } from 'vitest';
import { checkLines, faultsMax } from './check-lines.ts';

const endpoint = '/v1/chat/completions';

function check(lines: readonly unknown[], rules: Partial<Parameters<typeof checkLines>[1]> = {}) {
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

  it('of responses are none that are made in the background', async () => {
    const url = '/v1/responses';
    const lines = [true, false, null].map((background, at) => ({
      ...good(`${at}`),
      url,
      body: { background },
    }));
    const { faults } = await check(lines, { endpoint: url });
    expect(faults.map(({ line, code, param }) => [line, code, param])).toEqual([
      [1, 'background_not_supported', 'body.background'],
    ]);
    expect((await check([{ ...good('a'), body: { background: true } }])).faults).toEqual([]);
  });

  it('name models as the provider does that runs them, and one where it takes one', async () => {
    const lines = ['m', '@ours/m', 'other', undefined].map((model, at) => ({
      ...good(`line ${at}`),
      body: { model },
    }));
    const faulty = async (models?: 'of one provider' | 'one') =>
      (await check(lines, models && { models })).faults.map(({ code, line }) => [code, line]);
    expect(await faulty()).toEqual([]);
    expect(await faulty('of one provider')).toEqual([['mismatched_model', 2]]);
    expect(await faulty('one')).toEqual([
      ['mismatched_model', 2],
      ['mismatched_model', 3],
    ]);
  });

  const raw = (text: string, latin1 = false) =>
    checkLines(
      (async function* () {
        yield Buffer.from(text, latin1 ? 'latin1' : 'utf8');
      })(),
      { endpoint, linesMax: 1_000, lineBytesMax: 100_000 },
    );
  const first = JSON.stringify(good('first'));

  it.each([
    ['no end of line at the end', first],
    ['CRLF, also twice', `${first}\r\n${first.replace('first', 'b')}\r\r\n\r\r\n`],
    ['a byte order mark', `\ufeff${first}\n`],
    ['blank lines at the start, within and at the end', `\n \t\n${first}\n\r\n\n\n`],
    ['spaces around it', `  ${first} \t`],
    ['a stream that is none', JSON.stringify({ ...good('a'), body: { stream: false } })],
  ])('may have %s', async (_what, text) => {
    expect((await raw(text)).faults).toEqual([]);
  });

  const id = (text: string) => `{"custom_id":${text},"url":"${endpoint}","body":{}}`;
  const body = (text: string) => `{"custom_id":"b","url":"${endpoint}","body":${text}}`;
  const deep = '['.repeat(40_000);

  it.each([
    ['NUL between lines', '\0', 'invalid_json_line'],
    ['NUL in a text', id('"a\0b"'), 'invalid_json_line'],
    ['a mark of a file put behind another', `\ufeff${id('"a"')}`, 'invalid_json_line'],
    ['another member twice', id('"a","x":1,"x":2'), 'invalid_json_line'],
    ['an id twice, once escaped', id('"a","custom\\u005fid":"b"'), 'invalid_json_line'],
    ['a body twice', body('{"stream":true},"body":{}'), 'invalid_json_line'],
    ['two objects', `${first}${first}`, 'invalid_json_line'],
    ['lists without an end', body(deep), 'invalid_json_line'],
    ['lists in lists', body(`{"a":${deep}${deep.replaceAll('[', ']')}}`), 'invalid_json_line'],
    ['half a character as id', id('"\\ud800"'), 'invalid_custom_id'],
    ['an id of 10,000 characters', id(`"${'x'.repeat(10_000)}"`), 'invalid_custom_id'],
    ['no id', id('null'), 'invalid_custom_id'],
    ['a body that is a list', body('[]'), 'invalid_body'],
    ['a stream by another word', body('{"stream":"true"}'), 'stream_not_supported'],
    ['a stream by a number', body('{"stream":1}'), 'stream_not_supported'],
    ['get', body('{},"method":"get"'), 'invalid_method'],
    ['post', body('{},"method":"post"'), 'invalid_method'],
    ['an address with a query', body('{}').replace('ions"', 'ions?a=b"'), 'mismatched_url'],
  ])('may not have %s', async (_what, text, code) => {
    expect((await raw(`${first}\n${text}\n`)).faults).toMatchObject([{ line: 2, code }]);
  });

  it('may not be other bytes than UTF-8', async () => {
    const { faults } = await raw(`${first}\n${id('"\xff"')}`, true);
    expect(faults).toMatchObject([{ line: 2, code: 'invalid_json_line' }]);
    expect((await raw(' \n\r\n\t')).faults).toMatchObject([{ code: 'empty_file', line: null }]);
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
