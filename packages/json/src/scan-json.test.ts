import { ownTime } from '@sluice/testkit/own-time';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonBounds } from './bounds.ts';
import { scanJson } from './scan-json.ts';
import { spellingsOf } from './spellings-of.ts';

const bounds = jsonBounds.request;

/** What the scan should count, from the parsed value. */
function expected(value: unknown): { depth: number; work: number } {
  if (typeof value === 'string') return { depth: 0, work: 3 };
  if (typeof value !== 'object' || value === null) return { depth: 0, work: 0 };
  const members = Object.entries(value);
  let depth = 0;
  let work = 4 + Math.max(0, members.length - 1);
  for (const [, member] of members) {
    const inner = expected(member);
    depth = Math.max(depth, inner.depth);
    work += inner.work + (Array.isArray(value) ? 0 : 11);
  }
  return { depth: depth + 1, work };
}

describe('scanJson', () => {
  it('counts depth and work of any document, however it is written, without parsing it', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.nat(4), (text, indent) => {
        const value: unknown = JSON.parse(text);
        const written = Buffer.from(JSON.stringify(value, null, indent));
        const { depth, work } = expected(value);
        expect(scanJson(written, bounds)).toMatchObject({
          fault: undefined,
          depth,
          work: work + 1,
        });
      }),
      { numRuns: 500 },
    );
  });

  it('finds the names at the top and no others, whatever their texts hold', () => {
    const names = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '"',
        '\\',
        '\\"',
        'a"b',
        '{',
        ',"x":',
        '\u2028',
        'x'.repeat(100),
        '\\'.repeat(99),
      ),
    );
    const values = fc.oneof(fc.jsonValue(), names, fc.array(names));
    fc.assert(
      fc.property(fc.array(fc.tuple(names, values)), (members) => {
        const text = `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)}}`;
        const bytes = Buffer.from(text);
        const { topLevelNames } = scanJson(bytes, bounds);
        const found: unknown[] = [];
        for (let at = 0; at < topLevelNames.length; at += 2)
          found.push(JSON.parse(bytes.toString('utf8', topLevelNames[at], topLevelNames[at + 1])));
        expect(found).toEqual(members.map(([name]) => JSON.parse(JSON.stringify(name))));
      }),
      { numRuns: 500 },
    );
  });

  it('ends at the bound, and says which', () => {
    const scan = (text: string) => scanJson(Buffer.from(text), bounds).fault;
    expect(scan('['.repeat(200) + ']'.repeat(200))).toBeUndefined();
    expect(scan('['.repeat(201) + ']'.repeat(201))).toBe('too-deep');
    expect(scan('{"a":'.repeat(201))).toBe('too-deep');
    expect(scan(`[${'1,'.repeat(599_990)}1]`)).toBeUndefined();
    expect(scan(`[${'1,'.repeat(600_000)}1]`)).toBe('too-many-values');
    expect(scan(`[${'{},'.repeat(120_000)}{}]`)).toBe('too-many-values');
    expect(scan(`{"a":${'"",'.repeat(1)}"b":1}`)).toBeUndefined();
    expect(scanJson(Buffer.from('[1]'), { ...bounds, bytesMax: 2 }).fault).toBe('too-large');
  });

  it('ends whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(scanJson(Buffer.from(bytes), bounds).depth).toBeLessThanOrEqual(300);
      }),
    );
    for (const text of [
      '',
      '"',
      '"\\',
      `"${'a'.repeat(100)}`,
      `"${'\\'.repeat(101)}`,
      ']]]]',
      '{"a"',
    ])
      expect(scanJson(Buffer.from(text), bounds).fault).toBeUndefined();
  });

  it('takes time by the length of the bytes, whatever they are full of', () => {
    const time = (text: string) => {
      const bytes = Buffer.from(text);
      let best = Number.POSITIVE_INFINITY;
      for (let round = 0; round < 3; round++) {
        const spentMs = ownTime();
        scanJson(bytes, bounds);
        best = Math.min(best, spentMs());
      }
      return best;
    };
    const mebibytes = 4 * 1024 * 1024;
    for (const piece of ['\\"', '\\\\', 'a', ' ', `${'x'.repeat(50)}\\"`, `${'\\'.repeat(51)}"`])
      expect(time(`["${piece.repeat(mebibytes / piece.length)}"]`), piece).toBeLessThan(150);
    expect(time(' '.repeat(mebibytes)), 'spaces').toBeLessThan(150);
  });
});

describe('spellingsOf', () => {
  const spellings = (text: string, name = 'model') => {
    const bytes = Buffer.from(text);
    return spellingsOf(bytes, scanJson(bytes, bounds), name);
  };

  it('is the name alone where every reader finds the same member', () => {
    expect(spellings('{"model":"a","messages":[{"model":"b","Model":1}],"x":"model"}')).toEqual([
      'model',
    ]);
    expect(spellings('{"models":1,"mode":2,"model ":3,"":4}')).toEqual([]);
    expect(spellings('["model","model"]')).toEqual([]);
    expect(spellings('"model"')).toEqual([]);
  });

  it('tells of repeated members, and of those that differ only by case or by escapes', () => {
    expect(spellings('{"model":"a","model":"b"}')).toEqual(['model', 'model']);
    expect(spellings('{"model":"a","x":{"y":[1]},"Model":"b"}')).toEqual(['model', 'Model']);
    expect(spellings('{"MODEL":"b"}')).toEqual(['MODEL']);
    expect(spellings('{"mod\\u0065l":"a", "\\u004Dodel" : "b"}')).toEqual(['model', 'Model']);
    expect(spellings('{"model":"a"\n,\t"model"\r: "b"}')).toEqual(['model', 'model']);
    expect(spellings('{"\\u006d\\u006F\\u0064\\u0065\\u006c":1}')).toEqual(['model']);
    // Go's reader takes the long s for an s.
    expect(spellings('{"ſtream":true,"stream":false}', 'stream')).toEqual(['ſtream', 'stream']);
  });
});
