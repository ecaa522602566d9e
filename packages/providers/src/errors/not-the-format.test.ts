import { describe, expect, it } from 'vitest';
import { notTheFormat } from './not-the-format.ts';

describe('notTheFormat', () => {
  it.each([
    ['{"error":{"code":402,"message":"Insufficient credits"}}', 'Insufficient credits'],
    ['{"error":"model is loading"}', 'model is loading'],
    ['{"base_resp":{"status_code":1004,"status_msg":"login fail"}}', 'login fail'],
  ])('tells callers what the provider says in %s', (text, message) => {
    const error = notTheFormat(Buffer.from(text));
    expect(error).toMatchObject({ code: 'upstream.invalid_response', status: 502 });
    expect(error.message).toContain(message);
  });

  it.each(['', 'oops', '{}', '[1]', '{"error":null,"secret":"x"}'])(
    'keeps %j for operators',
    (text) => {
      const error = notTheFormat(Buffer.from(text));
      expect(error).toMatchObject({ code: 'upstream.invalid_response', detail: { body: text } });
      expect(error.message).not.toContain('secret');
    },
  );
});
