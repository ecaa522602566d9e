import { describe, expect, it } from 'vitest';
import { refuseRepeatedMembers, refuseUnstorableText } from './json-body.ts';

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

describe('refuseRepeatedMembers', () => {
  it('says which', () => {
    expect(() => refuseRepeatedMembers(Buffer.from('{"a":[{"b":1,"b":1}]}'))).toThrow(
      expect.objectContaining({
        code: 'admin.validation',
        field: 'body.a[0].b',
        message: 'body.a[0].b: stands there twice',
      }),
    );
  });

  it('takes members of one name in two objects', () => {
    expect(() => refuseRepeatedMembers(Buffer.from('{"a":{"a":1},"b":{"a":1}}'))).not.toThrow();
    expect(() => refuseRepeatedMembers(Buffer.alloc(0))).not.toThrow();
  });
});
