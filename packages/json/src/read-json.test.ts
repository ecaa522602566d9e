import { ownTime } from '@sluice/testkit/own-time';
import { describe, expect, it } from 'vitest';
import { jsonBounds } from './bounds.ts';
import { JsonError } from './json-error.ts';
import { readJson, readJsonObject, readJsonText } from './read-json.ts';

const bounds = jsonBounds.request;

function faultOf(read: () => unknown): string | undefined {
  try {
    read();
  } catch (error) {
    if (error instanceof JsonError) return error.fault;
    throw error;
  }
  return undefined;
}

describe('readJson', () => {
  it('reads what JSON.parse reads', () => {
    const value = { a: [1, 'é', null, { b: true }], __proto__: 1 };
    expect(readJson(Buffer.from(JSON.stringify(value)), bounds)).toEqual(value);
    expect(readJsonText('[1]', bounds)).toEqual([1]);
    expect(readJsonObject(Buffer.from('{"a":1}'), bounds)).toEqual({ a: 1 });
  });

  it('refuses documents over a bound, and what is no JSON, each by its fault', () => {
    const objects = `[${'{},'.repeat(200_000)}{}]`;
    for (const read of [
      (text: string) => readJson(Buffer.from(text), bounds),
      (text: string) => readJsonText(text, bounds),
    ]) {
      expect(faultOf(() => read(objects))).toBe('too-many-values');
      expect(faultOf(() => read('['.repeat(300) + ']'.repeat(300)))).toBe('too-deep');
      expect(faultOf(() => read('{"a":1'))).toBe('malformed');
      expect(faultOf(() => read(''))).toBe('malformed');
    }
    expect(faultOf(() => readJson(Buffer.from([0x22, 0xff, 0x22]), bounds))).toBe('malformed');
    expect(faultOf(() => readJsonText('[11]', { ...bounds, bytesMax: 3 }))).toBe('too-large');
    expect(faultOf(() => readJsonText('"é"', { ...bounds, bytesMax: 3 }))).toBe('too-large');
    expect(readJsonObject(Buffer.from('[]'), bounds)).toBeUndefined();
    expect(readJsonObject(Buffer.from(`{"a":${objects}}`), bounds)).toBeUndefined();
  });

  // What stands in docs/security.md: nothing within the bounds takes long to parse.
  it('parses the dearest documents within the bounds in a fraction of a second', () => {
    const list = (length: number, item: (index: number) => string) =>
      Buffer.from(`[${Array.from({ length }, (_, index) => item(index)).join(',')}]`);
    const documents = {
      objects: list(119_000, () => '{}'),
      floats: list(599_000, (index) => `0.1234567890${index}`),
      texts: list(149_000, (index) => `"k${index}"`),
      shapes: list(34_900, (index) => `{"k${index}":1}`),
      'shapes with long names': list(34_900, (index) => `{"${'x'.repeat(150)}${index}":1}`),
      escapes: Buffer.from(`"${'\\"'.repeat(5 * 1024 * 1024)}"`),
    };
    for (const [name, bytes] of Object.entries(documents)) {
      // Its own time: other work on the machine is not the parser's.
      const spentMs = ownTime();
      readJson(bytes, bounds);
      expect(spentMs(), name).toBeLessThan(250);
    }
  });
});
