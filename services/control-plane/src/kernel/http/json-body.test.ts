import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { jsonBody, refuseRepeatedMembers, refuseUnstorableText } from './json-body.ts';

it('reads names that are written with escapes as they are, whatever was read before', async () => {
  const app = express().post('/', jsonBody({ bytesMax: 1024 }), (req, res) => {
    res.json(req.body);
  });
  const server = app.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const read = async (body: string) => (await fetch(url, { method: 'POST', body })).json();
  await read('{"slug":"a","\\\\u0072ate":1}');
  expect(await read('\ufeff{"slug":"a","\\u0072atelimit":1}')).toEqual({ slug: 'a', ratelimit: 1 });
});

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
