import { describe, expect, it } from 'vitest';
import { refuseUnstorableText } from './json-body.ts';

describe('refuseUnstorableText', () => {
  it.each([
    [{ a: { b: ['x', 'y\0'] } }, 'body.a.b[1]'],
    [{ a: '\ud800' }, 'body.a'],
    [JSON.parse('{"a":{"__proto__":1}}'), 'body.a'],
    ['\0', 'body'],
  ])('says where it is: %j', (value, field) => {
    expect(() => refuseUnstorableText(value, 'body')).toThrow(
      expect.objectContaining({ field, message: expect.stringContaining(`${field}: `) }),
    );
  });

  it('takes what can be stored', () => {
    expect(() => refuseUnstorableText({ a: ['🦊', null, 5, { b: '' }] }, 'body')).not.toThrow();
  });
});
