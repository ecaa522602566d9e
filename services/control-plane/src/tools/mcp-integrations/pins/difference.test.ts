import { describe, expect, it } from 'vitest';
import { differences } from './difference.ts';

describe('differences', () => {
  it('are named by where they are', () => {
    const before = { name: 'a', inputSchema: { type: 'object', required: ['x'] }, gone: 1 };
    const after = { name: 'a', inputSchema: { required: ['x', 'y'], type: 'object' }, hint: null };
    expect(differences(before, after)).toEqual([
      { path: 'gone', before: 1, after: null },
      { path: 'hint', before: null, after: null },
      { path: 'inputSchema.required.1', before: null, after: 'y' },
    ]);
  });

  it('of what has another type are the whole of it', () => {
    expect(differences({ a: [1] }, { a: { 0: 1 } })).toEqual([
      { path: 'a', before: [1], after: { 0: 1 } },
    ]);
    expect(differences(null, { a: 1 })).toEqual([{ path: '', before: null, after: { a: 1 } }]);
    expect(differences({ a: 1 }, { a: 1 })).toEqual([]);
  });

  it('have an end', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`n${at}`, at]));
    expect(differences({}, many)).toHaveLength(100);
    const nested = (value: number) => {
      let deep: unknown = value;
      for (let at = 0; at < 200; at += 1) deep = [deep];
      return deep;
    };
    expect(differences(nested(1), nested(2))).toHaveLength(1);
  });
});
