import { describe, expect, it } from 'vitest';
import { atCursor, boundedSearch, readPage } from './own-list.ts';

const page = (document: unknown, kind: 'file' | 'batch' = 'batch') =>
  readPage(Buffer.from(JSON.stringify(document)), kind);
const only = (document: unknown, ...own: string[]) => {
  const text = page(document)?.only(new Set(own));
  return text === undefined ? undefined : (JSON.parse(text.toString()) as unknown);
};

describe('a page of a list', () => {
  it('keeps items that are known to be one’s own, wherever its items stand', () => {
    const [a, b] = [{ id: 'a' }, { id: 'b' }];
    const more = { has_more: true, last_id: 'b' };
    expect(only({ object: 'list', data: [a, b], ...more }, 'a')).toEqual({
      object: 'list',
      data: [a],
      ...more,
    });
    expect(only([a, b, 'b', null], 'b')).toEqual([b]);
    expect(only({ jobs: [a], others: [b] }, 'a')).toEqual({ jobs: [a], others: [] });
    expect(only({ data: [a], expanded: { b } }, 'a')).toEqual({ data: [a] });
    expect(only({ data: [a, { name: 'a' }, { id: 7 }] }, 'a')).toEqual({ data: [a] });
  });

  it('stays as it came where all of it is one’s own', () => {
    expect(only({ data: [{ id: 'a' }] }, 'a')).toBe(undefined);
    expect(only({ data: null })).toBe(undefined);
    expect(only([])).toBe(undefined);
  });

  it('is none where no list can be read', () => {
    for (const text of ['', '"a"', '7', 'null', '{', '{"data":{"id":"a"}}', '{"id":"a"}'])
      expect(readPage(Buffer.from(text), 'file'), text).toBe(undefined);
  });

  it('says where it goes on, in the words of its API', () => {
    const data = [{ id: 'a' }];
    expect(page({ object: 'list', data, has_more: true, last_id: 'z' })?.next).toEqual({
      name: 'after',
      id: 'z',
    });
    expect(page({ data, has_more: true })?.next).toEqual({ name: 'after_id', id: 'a' });
    for (const last of [{ data, has_more: false }, { data }, { data: [], has_more: true }, data])
      expect(page(last)?.next).toBe(undefined);
  });
});

describe('a query of a list', () => {
  it('asks for pages of a hundred at most', () => {
    const asked = ['', '?a=b', '?limit=7', '?limit=10000', '?limit=1&limit=900', '?limit=x'];
    expect(asked.map((search) => boundedSearch(search, 'file', '/v1/files'))).toEqual([
      '?limit=100',
      '?a=b&limit=100',
      '?limit=7',
      '?limit=100',
      '?limit=100',
      '?limit=x',
    ]);
    // Twenty are what others have where nothing is said.
    expect(boundedSearch('', 'batch', '/v1/batches')).toBe('');
    expect(boundedSearch('', 'file', '/v1/proxy/v1beta/files')).toBe('');
  });

  it('has one cursor', () => {
    const cursor = { name: 'after', id: 'a&b' } as const;
    expect(atCursor('/v1/files', cursor)).toBe('/v1/files?after=a%26b');
    expect(atCursor('/v1/files?after=x&order=asc', cursor)).toBe('/v1/files?after=a%26b&order=asc');
  });
});
