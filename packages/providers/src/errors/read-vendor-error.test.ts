import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readVendorError } from './read-vendor-error.ts';

const none = { type: null, param: null, code: null };

/** Who answers so, what they answer, and what is read of it. */
const shapes: [who: string, body: unknown, read: object][] = [
  [
    'OpenAI and most others',
    { error: { message: 'm', type: 't', param: 'p', code: 'c' } },
    { message: 'm', type: 't', param: 'p', code: 'c' },
  ],
  ['xAI', { code: 'Some code', error: 'm' }, { ...none, message: 'm', code: 'Some code' }],
  ['Ollama, Triton, Segmind', { error: 'm' }, { ...none, message: 'm' }],
  ['Hugging Face', { error: 'm', estimated_time: 20 }, { ...none, message: 'm' }],
  ['Hugging Face, listing', { error: ['m', 'n'] }, { ...none, message: 'm; n' }],
  [
    'Anthropic',
    { type: 'error', error: { type: 't', message: 'm' }, request_id: 'r' },
    { ...none, message: 'm', type: 't' },
  ],
  [
    'Google',
    { error: { code: 400, message: 'm', status: 'INVALID_ARGUMENT', details: [] } },
    { ...none, message: 'm', type: 'INVALID_ARGUMENT', code: '400' },
  ],
  [
    'Google, in a stream’s list',
    [{ error: { code: 429, message: 'm', status: 'RESOURCE_EXHAUSTED' } }],
    { ...none, message: 'm', type: 'RESOURCE_EXHAUSTED', code: '429' },
  ],
  ['AWS', { message: 'm' }, { ...none, message: 'm' }],
  ['AWS, capital', { Message: 'm' }, { ...none, message: 'm' }],
  [
    'AWS, with its type',
    { __type: 'com.amazon.coral#ThrottlingException', message: 'm' },
    { ...none, message: 'm', type: 'ThrottlingException' },
  ],
  ['Cohere', { id: 'i', message: 'm' }, { ...none, message: 'm' }],
  [
    'Mistral, Zhipu, Moonshot, flat',
    { object: 'error', message: 'm', type: 't', param: null, code: 1500 },
    { message: 'm', type: 't', param: null, code: '1500' },
  ],
  [
    'Mistral, of fields',
    { object: 'error', message: { detail: [{ loc: ['body', 'model'], msg: 'm', type: 't' }] } },
    { ...none, message: 'body.model: m', type: 't' },
  ],
  ['FastAPI, text', { detail: 'm' }, { ...none, message: 'm' }],
  [
    'FastAPI, list',
    {
      detail: [
        { loc: ['body', 'messages', 0], msg: 'm', type: 'missing' },
        { loc: [], msg: 'n', type: 'other' },
      ],
    },
    { ...none, message: 'body.messages.0: m; n', type: 'missing' },
  ],
  [
    'Fireworks',
    { fault: { faultstring: 'm', detail: { errorcode: 'c' } } },
    { ...none, message: 'm', code: 'c' },
  ],
  [
    'Cloudflare',
    { success: false, errors: [{ code: 7000, message: 'm' }, { message: 'n' }] },
    { ...none, message: 'Error 7000:m, n' },
  ],
  [
    'Stability, version 1',
    { id: 'i', name: 'n', message: 'm' },
    { ...none, message: 'm', type: 'n' },
  ],
  [
    'Stability, version 2',
    { id: 'i', name: 'n', errors: ['m', 'o'] },
    { ...none, message: 'm, o', type: 'n' },
  ],
  [
    'Oracle',
    { code: 'NotAuthenticated', message: 'm' },
    { ...none, message: 'm', type: 'NotAuthenticated', code: 'NotAuthenticated' },
  ],
  ['Bytez', { error: 'm', output: null }, { ...none, message: 'm' }],
  [
    'MiniMax',
    { base_resp: { status_code: 1004, status_msg: 'm' } },
    { ...none, message: 'm', code: '1004' },
  ],
  [
    'OpenRouter',
    { error: { code: 402, message: 'm', metadata: {} } },
    { ...none, message: 'm', code: '402' },
  ],
];

describe('readVendorError', () => {
  it.each(shapes)('reads %s', (_who, body, read) => {
    expect(readVendorError(400, JSON.stringify(body))).toEqual(read);
  });

  it.each([
    '<html>no</html>',
    '[]',
    '{}',
    '{"error":{}}',
    '{"error":7}',
    '"text"',
    '{"detail":[]}',
  ])('quotes %j, which says nothing that it knows', (text) => {
    expect(readVendorError(502, text)).toMatchObject({ message: text });
  });

  it('says so when there is nothing', () => {
    expect(readVendorError(503, ' \n').message).toBe('The provider answered 503 without a body.');
  });

  it('never throws, and always has something to say', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const { message, type, param, code } = readVendorError(500, text);
        expect(typeof message).toBe('string');
        for (const value of [type, param, code])
          expect(value === null || typeof value === 'string').toBe(true);
      }),
    );
  });
});
