import { describe, expect, it } from 'vitest';
import { keptBody } from './kept-body.ts';

const json = { contentType: 'application/json' };

describe('keptBody', () => {
  it.each<[string, Buffer, Parameters<typeof keptBody>[1], object]>([
    ['an object', Buffer.from(' {"a":[1]}'), json, { a: [1] }],
    ['other JSON', Buffer.from('[1,2]'), json, { json: [1, 2] }],
    ['text', Buffer.from('not {json}'), { contentType: 'text/plain' }, { text: 'not {json}' }],
    ['broken JSON', Buffer.from('{"a":'), json, { text: '{"a":' }],
    ['nothing', Buffer.alloc(0), json, { text: '' }],
    [
      'sound',
      Buffer.from('ID3abc'),
      { contentType: 'audio/mpeg' },
      { content_type: 'audio/mpeg', bytes: 6, omitted: 'binary' },
    ],
    [
      'bytes of no kind',
      Buffer.from([1, 0, 2]),
      { contentType: '' },
      { content_type: '', bytes: 3, omitted: 'binary' },
    ],
    [
      'what was cut, in the middle of a character',
      Buffer.from('{"a":"é').subarray(0, 7),
      { ...json, bytes: 100 },
      { text: '{"a":"', truncated: true, bytes: 100 },
    ],
  ])('%s', (_name, content, facts, kept) => {
    expect(keptBody(content, facts)).toEqual(kept);
  });
});
