import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SkimmedJson } from './skim-json.ts';

function skimmed(text: string, pieces: readonly number[] = []): unknown {
  const skim = new SkimmedJson();
  const bytes = Buffer.from(text);
  let at = 0;
  for (const piece of pieces) {
    skim.add(bytes.subarray(at, at + piece));
    at += piece;
  }
  skim.add(bytes.subarray(at));
  return skim.object();
}

describe('SkimmedJson', () => {
  it('reads any small object as the parser does, however it is cut', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 8 }),
        fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 }),
        fc.constantFrom(undefined, 2, '\t'),
        (value, pieces, space) => {
          const text = JSON.stringify(value, null, space);
          expect(skimmed(text, pieces)).toEqual(JSON.parse(text));
        },
      ),
    );
  });

  it('keeps what stands beside a list of a million numbers, and how many there are', () => {
    const data = Array.from({ length: 3 }, () => new Array(400_000).fill(0.125));
    const reply = { object: 'list', data, model: 'm', usage: { prompt_tokens: 7 } };
    expect(skimmed(JSON.stringify(reply))).toEqual({ ...reply, data: [0, 0, 0] });
  });

  it('tells large texts and objects by their kind', () => {
    const large = 'x\\"'.repeat(100_000);
    expect(skimmed(JSON.stringify({ a: large, b: { [large]: 1 }, c: 1 }))).toEqual({
      a: '',
      b: {},
      c: 1,
    });
  });

  it('reads large objects in the same way, as many levels down as it is told to', () => {
    const row = (text: string) => ({
      custom_id: 'a',
      response: { body: { data: [text, text], usage: { prompt_tokens: 7 } }, status_code: 200 },
      none: { of: text },
      error: null,
    });
    const bytes = Buffer.from(JSON.stringify(row('x\\"{[,'.repeat(40_000)), null, 1));
    const told = (levels: number, size: number) => {
      const skim = new SkimmedJson(levels);
      for (let at = 0; at < bytes.length; at += size) skim.add(bytes.subarray(at, at + size));
      return skim.object();
    };
    const { response, ...rest } = row('');
    const whole = { body: { ...response.body, data: [0, 0] }, status_code: 200 };
    for (const size of [bytes.length, 1000, 7]) {
      expect(told(2, size)).toEqual({ ...rest, response: whole });
      expect(told(1, size)).toEqual({ ...rest, response: { body: {}, status_code: 200 } });
      expect(told(0, size)).toEqual({ ...rest, response: {}, none: {} });
    }
  });

  it.each(['[1,2]', '{"a":1', '"a"', '7', '', '{"a":1}}}'])(
    'says nothing of %j, or what the parser says',
    (text) => {
      const found = skimmed(text);
      if (found !== undefined) expect(found).toEqual({ a: 1 });
    },
  );

  it('holds little, whatever comes', async () => {
    const skim = new SkimmedJson();
    const chunk = Buffer.from(`"a":"${'b'.repeat(60_000)}",`);
    skim.add(Buffer.from('{'));
    const before = heldBytes();
    for (let index = 0; index < 500; index++) skim.add(chunk);
    // What was let go is given back beside the collector, a moment later on a busy machine.
    await expect.poll(() => heldBytes() - before).toBeLessThan(1024 * 1024);
    skim.add(Buffer.from('"z":1}'));
    expect(skim.object()).toMatchObject({ z: 1 });
  });
});

/** Of buffers, once what nobody holds is collected: how much of that there is says nothing. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  setFlagsFromString('--no-expose-gc');
  return process.memoryUsage().arrayBuffers;
}
