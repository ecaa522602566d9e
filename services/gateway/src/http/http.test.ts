import { createServiceKey } from '@sluice/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCallerHeaders, validateCallerHeaders } from './caller-headers.ts';
import { replaceTopLevelString } from './edit-json.ts';
import { parseJsonBody } from './json-body.ts';

describe('readCallerHeaders', () => {
  it('takes the service key from its own header and leaves Authorization to the provider', () => {
    const caller = readCallerHeaders({ 'x-service-api-key': 'sl_1', authorization: 'Bearer sk-2' });
    expect(caller).toMatchObject({ serviceKey: 'sl_1', upstreamKey: 'sk-2' });
  });

  it.each(['api-key', 'x-goog-api-key', 'x-api-key'])(
    'takes the provider’s key from %s',
    (name) => {
      const keys = (headers: Record<string, string>) => {
        const { serviceKey, upstreamKey } = readCallerHeaders(headers);
        return [serviceKey, upstreamKey];
      };
      const bearer = 'Bearer sl_1';
      expect(keys({ 'x-service-api-key': 'sl_1', [name]: 'own' })).toEqual(['sl_1', 'own']);
      expect(keys({ authorization: bearer, [name]: 'own' })).toEqual(['sl_1', 'own']);
      expect(keys({ 'x-service-api-key': 'sl_1', [name]: 'sl_1' })).toEqual(['sl_1', undefined]);
      expect(
        keys({ 'x-service-api-key': 'sl_1', authorization: 'Bearer t', [name]: 'own' }),
      ).toEqual(['sl_1', 't']);
    },
  );

  it.each(['api-key', 'x-goog-api-key', 'x-api-key'])(
    'takes the service key from %s, where a vendor’s client puts its key',
    (name) => {
      const { serviceKey, upstreamKey } = readCallerHeaders({ [name]: 'sl_1' });
      expect([serviceKey, upstreamKey]).toEqual(['sl_1', undefined]);
      const key = createServiceKey('sl_');
      const beside = readCallerHeaders({ [name]: key, authorization: 'Bearer ya29.token' });
      expect([beside.serviceKey, beside.upstreamKey]).toEqual([key, 'ya29.token']);
    },
  );

  it('takes the service key from Authorization when that is all there is', () => {
    const caller = readCallerHeaders({ authorization: 'Bearer sl_1' });
    expect(caller.serviceKey).toBe('sl_1');
    expect(caller.upstreamKey).toBeUndefined();
  });

  it('reads metadata, and treats what is not JSON as none', () => {
    expect(
      readCallerHeaders({ 'x-service-metadata': '{"_user":"a","n":1,"o":{}}' }).metadata,
    ).toEqual({ _user: 'a', n: '1' });
    expect(readCallerHeaders({ 'x-service-metadata': '{oops' }).metadata).toEqual({});
  });

  it('keeps whole characters of metadata only', () => {
    const sent = JSON.stringify({ a: 'x\ud800', b: `${'x'.repeat(127)}\u{1f600}`, 'c\udfff': 'y' });
    const escaped = sent.replace(/[^\x20-\x7e]/gu, '\\ud83d\\ude00');
    expect(readCallerHeaders({ 'x-service-metadata': escaped }).metadata).toEqual({
      a: 'x\ufffd',
      b: `${'x'.repeat(127)}\ufffd`,
      'c\ufffd': 'y',
    });
  });

  it('keeps numbers and booleans of metadata for those who compare them', () => {
    const caller = readCallerHeaders({
      baggage: 'n=9,team=a',
      'x-service-metadata': '{"n":1,"b":true,"t":"true"}',
    });
    expect(caller.metadata).toEqual({ n: '1', b: 'true', t: 'true', team: 'a' });
    expect(caller.metadataValues).toEqual({ n: 1, b: true, t: 'true', team: 'a' });
    const texts = readCallerHeaders({ 'x-service-metadata': '{"t":"true"}' });
    expect(texts.metadataValues).toBe(texts.metadata);
  });

  it.each([
    ['true', true],
    ['false', false],
    ['TRUE', false],
    ['1', false],
    ['', false],
  ])('refreshes the cache for the text "true" alone: %j', (value, expected) => {
    const caller = readCallerHeaders({ 'x-service-cache-force-refresh': value });
    expect(caller.cacheForceRefresh).toBe(expected);
  });

  it.each([
    ['false', false],
    ['true', true],
    ['0', true],
    ['False', true],
  ])('keeps contents unless debug is the text "false": %j', (value, expected) => {
    expect(readCallerHeaders({ 'x-service-debug': value }).debug).toBe(expected);
  });

  it('needs no header: no refresh, no namespace, contents kept', () => {
    expect(readCallerHeaders({})).toMatchObject({
      strictParams: false,
      cacheForceRefresh: false,
      cacheNamespace: undefined,
      debug: true,
    });
    expect(readCallerHeaders({ 'x-service-cache-namespace': 'eu' }).cacheNamespace).toBe('eu');
  });

  it('lets explicit metadata win over baggage', () => {
    const caller = readCallerHeaders({
      baggage: 'team=a%20b,_user=x',
      'x-service-metadata': '{"_user":"y"}',
    });
    expect(caller.metadata).toEqual({ team: 'a b', _user: 'y' });
  });

  it('takes the trace from traceparent unless it is named', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    expect(readCallerHeaders({ traceparent })).toMatchObject({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentSpanId: 'b7ad6b7169203331',
    });
    expect(readCallerHeaders({ traceparent, 'x-service-trace-id': 't' }).traceId).toBe('t');
  });

  it.each([
    ['x-service-request-timeout', 'soon'],
    ['x-service-request-timeout', '-1'],
    ['x-service-forward-headers', 'x-a, x-service-forward-headers'],
    ['x-service-forward-headers', 'bad header'],
  ])('refuses %s: %s', (name, value) => {
    expect(() => validateCallerHeaders(readCallerHeaders({ [name]: value }))).toThrow(
      expect.objectContaining({ code: 'request.invalid_header', field: name }),
    );
  });

  it('reads forward lists with and without brackets', () => {
    expect(
      readCallerHeaders({ 'x-service-forward-headers': '["X-A", "x-b"]' }).forwardHeaders,
    ).toEqual(['x-a', 'x-b']);
    expect(readCallerHeaders({ 'x-service-forward-headers': 'X-A,x-b' }).forwardHeaders).toEqual([
      'x-a',
      'x-b',
    ]);
  });
});

describe('parseJsonBody', () => {
  it.each([
    ['', 'request.malformed_json'],
    ['{"a":', 'request.malformed_json'],
    ['[]', 'request.invalid_field'],
    ['"text"', 'request.invalid_field'],
    ['null', 'request.invalid_field'],
    [`{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`, 'request.too_deep'],
    [`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`, 'request.too_deep'],
  ])('refuses %.20s with %s', (text, code) => {
    expect(() => parseJsonBody(Buffer.from(text))).toThrow(expect.objectContaining({ code }));
  });

  it('refuses bytes that are not UTF-8', () => {
    expect(() => parseJsonBody(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]))).toThrow(
      expect.objectContaining({ code: 'request.malformed_json' }),
    );
  });

  it('survives a hundred thousand levels', () => {
    expect(() => parseJsonBody(Buffer.from(`{"a":${'['.repeat(100_000)}`))).toThrow(
      expect.objectContaining({ status: 400 }),
    );
  });
});

describe('replaceTopLevelString', () => {
  const edit = (text: string, value = 'new') =>
    replaceTopLevelString(Buffer.from(text), 'model', value).toString();

  it('changes the value and nothing else', () => {
    expect(edit('{ "n": 1.0e+2,\n "model" : "old" , "z":{"model":"inner"}, "n":1 }')).toBe(
      '{ "n": 1.0e+2,\n "model" : "new" , "z":{"model":"inner"}, "n":1 }',
    );
  });

  it('finds the key in its escaped spelling, and every duplicate', () => {
    expect(edit('{"mo\\u0064el":"a","model":"b"}')).toBe('{"mo\\u0064el":"new","model":"new"}');
  });

  it('is not fooled by values that look like the key', () => {
    expect(edit('{"a":"model","b":["model","x"],"c":"\\"model\\":\\"q\\""}')).toBe(
      '{"a":"model","b":["model","x"],"c":"\\"model\\":\\"q\\""}',
    );
  });

  it('leaves an equal document for any other key, whatever stands around', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, model) => {
        const text = JSON.stringify({ before: value, model: 'old', after: value });
        expect(JSON.parse(edit(text, model))).toEqual(
          JSON.parse(JSON.stringify({ before: value, model, after: value })),
        );
      }),
    );
  });
});
