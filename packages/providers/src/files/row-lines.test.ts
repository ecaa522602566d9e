import { describe, expect, it } from 'vitest';
import { batchRowMapper } from '../batches/batch-rows.ts';
import { rewriteRows } from './row-lines.ts';

describe('rewriteRows', () => {
  const line = (at: number) => JSON.stringify({ custom_id: `ü${at}`, url: '/v1/x', body: {} });
  const mapper = (bytes: Uint8Array, number: number) =>
    Buffer.from(`${number}:${JSON.parse(Buffer.from(bytes).toString()).custom_id}`);

  async function rewritten(text: string, size: number, purpose?: string, map = mapper) {
    const bytes = Buffer.from(text);
    async function* pieces() {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    }
    const out: Buffer[] = [];
    for await (const piece of rewriteRows(pieces(), { mapper: map, purpose })) out.push(piece);
    return Buffer.concat(out).toString();
  }

  it('gives the same rows wherever pieces are cut, with and without a last line end', async () => {
    const text = `\n${line(1)}\r\n\n${line(2)}\n${line(3)}`;
    for (const whole of [text, `${text}\n`, `${text}\r\n\n`])
      for (const size of [1, 2, 7, 31, 1000])
        expect(await rewritten(whole, size), `${size}`).toBe('2:ü1\n4:ü2\n5:ü3\n');
  });

  it('reads a file that begins with a byte order mark, wherever its purpose is said', async () => {
    const row = (at: number) => JSON.stringify({ custom_id: `ü${at}`, body: { input: ['a'] } });
    const asked = (at: number) =>
      JSON.stringify({
        custom_id: `ü${at}`,
        url: '/v1/embeddings',
        body: { model: 'm', input: ['a'] },
      });
    const text = `\ufeff${asked(1)}\n${asked(2)}`;
    const own = batchRowMapper('mistral-ai') as typeof mapper;
    for (const purpose of [undefined, 'batch'])
      for (const size of [1, 2, 1000])
        expect(await rewritten(text, size, purpose, own)).toBe(`${row(1)}\n${row(2)}\n`);
    expect(await rewritten(`\ufeff${asked(1)}`, 1, undefined, own)).toBe(`${row(1)}\n`);
    const tuning = '\ufeff{"messages":[]}\n';
    expect(await rewritten(tuning, 1)).toBe(tuning);
  });

  it('leaves what is no batch untouched', async () => {
    const tuning = '{"messages":[]}\r\n{"messages":[]}';
    for (const [text, purpose] of [
      [tuning, undefined],
      [tuning, 'fine-tune'],
      [line(1), 'fine-tune'],
      ['{"recordId":"1","modelInput":{}}\n', 'batch'],
      ['\u0000\u0001 no text\n\n', undefined],
      ['', undefined],
    ] as const)
      for (const size of [1, 1000]) expect(await rewritten(text, size, purpose)).toBe(text);
  });

  it('says which line it could not read, and holds no line of any length', async () => {
    const failing = (bytes: Uint8Array, number: number) => {
      if (bytes.length < 10) throw new Error(`line ${number}`);
      return bytes;
    };
    async function* pieces() {
      yield Buffer.from(`${line(1)}\n${line(2)}\nshort`);
    }
    const all = async (content: AsyncIterable<Buffer>) => {
      for await (const _ of rewriteRows(content, { mapper: failing, purpose: undefined }));
    };
    await expect(all(pieces())).rejects.toThrow('line 3');
    let sent = 0;
    async function* endless() {
      yield Buffer.from(`${line(1)}\n`);
      for (;;) {
        sent++;
        yield Buffer.alloc(1024 * 1024, 'x');
      }
    }
    await expect(all(endless())).rejects.toMatchObject({
      code: 'request.invalid_field',
      field: 'line 2',
    });
    expect(sent).toBeLessThan(12);
  });
});
