import { JSONRPCMessageSchema } from '@modelcontextprotocol/core';
import { ownTime } from '@sluice/testkit/own-time';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { McpFault } from '../fault.ts';
import { MessageEdit } from './edit-message.ts';
import { idKey, type McpMessage, messageBounds, readMessage } from './read-message.ts';

const read = (text: string) => readMessage(Buffer.from(text));

function faultOf(text: string | Buffer): McpFault {
  try {
    readMessage(Buffer.from(text));
  } catch (error) {
    if (error instanceof McpFault) return error;
    throw error;
  }
  throw new Error('no fault');
}

const told = ({ status, code, idText }: McpFault) => [status, code, idText];

describe('readMessage', () => {
  it('tells requests, notifications, results and errors, and keeps their bytes', () => {
    const request = read(
      '{ "jsonrpc":"2.0","id":1.0,"method":"tools/call","params":{"name":"\\u0061dd","arguments":{"x":1e2},"_meta":{"progressToken":"p"}}}',
    );
    expect(request).toMatchObject({
      kind: 'request',
      id: 1,
      idText: '1.0',
      subject: 'add',
      progressToken: 'p',
    });
    expect(request.bytes.toString()).toContain('1e2');
    expect(read('{"jsonrpc":"2.0","method":"notifications/initialized"}').kind).toBe(
      'notification',
    );
    expect(read('{"jsonrpc":"2.0","id":"a","result":{"_meta":{}}}')).toMatchObject({
      kind: 'response',
      meta: {},
    });
    const error = '{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x","data":[1]}}';
    expect(read(error)).toMatchObject({
      kind: 'error',
      id: undefined,
      error: { code: -1, data: [1] },
    });
    expect(read(`\ufeff${error}`).bytes.toString()).toBe(error);
  });

  it.each([
    ['tools/call', { name: 'constructor' }, 'constructor'],
    ['prompts/get', { name: '__proto__' }, '__proto__'],
    ['resources/read', { uri: 'a:b' }, 'a:b'],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'p' } }, 'p'],
    ['completion/complete', { ref: { type: 'ref/resource', uri: 'u:{x}' } }, 'u:{x}'],
    ['tasks/get', { taskId: 't' }, 't'],
    ['tools/call', { name: ['a'] }, undefined],
    ['tools/call', {}, undefined],
    ['tools/list', { name: 'x' }, undefined],
  ])('finds what %s of %j is about', (method, params, subject) => {
    const message = read(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    expect(message).toMatchObject({ subject });
  });

  const call = (params: string, id = '1') =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`;

  it.each([
    ['no JSON', '{', [400, -32700, undefined]],
    ['nothing', '', [400, -32700, undefined]],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), [400, -32700, undefined]],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', [400, -32600, undefined]],
    ['an empty batch', '[]', [400, -32600, undefined]],
    ['a number', '7', [400, -32600, undefined]],
    ['another JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"ping"}', [400, -32600, '1']],
    ['neither method nor result', '{"jsonrpc":"2.0","id":1}', [400, -32600, '1']],
    [
      'a method and a result',
      '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}',
      [400, -32600, '1'],
    ],
    [
      'a result and an error',
      '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}',
      [400, -32600, '1'],
    ],
    ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', [400, -32600, undefined]],
    ['half an id', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', [400, -32600, undefined]],
    [
      'an id beyond all integers',
      '{"jsonrpc":"2.0","id":1e400,"method":"ping"}',
      [400, -32600, undefined],
    ],
    [
      'an id that is two numbers',
      '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}',
      [400, -32600, undefined],
    ],
    [
      'a huge id',
      `{"jsonrpc":"2.0","id":"${'x'.repeat(5000)}","method":"ping"}`,
      [400, -32600, undefined],
    ],
    [
      'a number of a megabyte',
      `{"jsonrpc":"2.0","id":1${'0'.repeat(1_000_000)}e-1000000,"method":"ping"}`,
      [400, -32600, undefined],
    ],
    [
      'half a surrogate as id',
      '{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
      [400, -32600, undefined],
    ],
    ['two ids', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', [400, -32600, undefined]],
    [
      'two ids, one of them in escapes',
      '{"jsonrpc":"2.0","id":1,"\\u0069d":1,"method":"ping"}',
      [400, -32600, undefined],
    ],
    [
      'two methods',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call"}',
      [400, -32600, undefined],
    ],
    [
      'a method in capitals',
      '{"jsonrpc":"2.0","id":1,"Method":"tools/call","method":"tools/list"}',
      [400, -32600, undefined],
    ],
    [
      'a name by a long s',
      '{"jsonrpc":"2.0","id":1,"method":"ping","param\u017f":{}}',
      [400, -32600, undefined],
    ],
    ['two names', call('{"name":"a","name":"b"}'), [400, -32600, undefined]],
    ['a name in capitals', call('{"name":"a","Name":"b"}'), [400, -32600, '1']],
    [
      'two arguments of one name',
      call('{"name":"a","arguments":{"path":"/ok","p\\u0061th":"/etc"}}'),
      [400, -32600, undefined],
    ],
    ['half a surrogate in a name', call('{"name":"a\\udc00"}'), [400, -32602, '1']],
    [
      'a name of ten thousand letters',
      call(`{"name":"${'a'.repeat(10_000)}"}`),
      [400, -32602, '1'],
    ],
    ['params that are a list', call('[1]'), [400, -32602, '1']],
    ['_meta that is a text', call('{"name":"a","_meta":"x"}'), [400, -32602, '1']],
    [
      'a token that is an object',
      call('{"name":"a","_meta":{"progressToken":{}}}'),
      [400, -32602, '1'],
    ],
    [
      'nesting',
      call(`{"name":"a","arguments":${'['.repeat(200)}${']'.repeat(200)}}`),
      [400, -32600, undefined],
    ],
    ['nesting that never ends', '{"a":'.repeat(100_000), [400, -32600, undefined]],
    [
      'a million values',
      call(`{"arguments":[${'1,'.repeat(700_000)}1]}`),
      [400, -32600, undefined],
    ],
    [
      'five megabytes',
      call(`{"arguments":{"a":"${'x'.repeat(5_000_000)}"}}`),
      [413, -32600, undefined],
    ],
    ['a result that is a text', '{"jsonrpc":"2.0","id":1,"result":"x"}', [400, -32600, '1']],
    ['an error that is a text', '{"jsonrpc":"2.0","id":1,"error":"x"}', [400, -32600, '1']],
  ] as const)('refuses %s', (_, text, expected) => {
    expect(told(faultOf(text as string | Buffer))).toEqual(expected);
  });

  it('lets doubled names pass deep in a result, not in its envelope', () => {
    const bounds = messageBounds.upstream;
    const text = '{"jsonrpc":"2.0","id":1,"result":{"a":{"b":1,"b":2}}}';
    expect(readMessage(Buffer.from(text), bounds).kind).toBe('response');
    expect(() =>
      readMessage(Buffer.from('{"jsonrpc":"2.0","id":1,"id":2,"result":{}}'), bounds),
    ).toThrow(McpFault);
  });

  // Short ones are counted, long ones are walked through.
  it.each([0, 5000])(
    'tells a server’s notifications by their names, with %i characters more',
    (more) => {
      const telling = (members: string, params: string) =>
        readMessage(
          Buffer.from(
            `{"jsonrpc":"2.0",${members},"params":{${params},"message":"${'x'.repeat(more)}"}}`,
          ),
          messageBounds.upstream,
        );
      const method = '"method":"notifications/progress"';
      expect(telling(method, '"progress":1,"data":{"b":1,"b":2}')).toMatchObject({
        kind: 'notification',
        params: { progress: 1 },
      });
      for (const [members, params] of [
        [`${method},"method":"notifications/message"`, '"progress":1'],
        [`${method},"Method":"notifications/message"`, '"progress":1'],
        [method, '"progress":1,"progress":2'],
        [method, '"_META":{},"progress":2'],
        [method, '"_meta":{"a":1,"a":2},"progress":2'],
      ] as const)
        expect(() => telling(members, params)).toThrow(McpFault);
    },
  );

  it('says of any envelope what the SDK says, and never throws anything else', () => {
    const id = fc.oneof(
      fc.integer(),
      fc.string(),
      fc.constantFrom(undefined, null, 1.5, true, {}, []),
    );
    const params = fc.oneof(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.constantFrom(undefined, null, 1, []),
    );
    const error = fc.oneof(fc.record({ code: fc.integer(), message: fc.string() }), fc.jsonValue());
    const envelope = fc.record(
      {
        jsonrpc: fc.constantFrom('2.0', '2.0', '2.0', '1.0', 2),
        id,
        method: fc.oneof(fc.constantFrom('ping', 'x/y'), fc.jsonValue()),
        params,
        result: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
        error,
      },
      { requiredKeys: ['jsonrpc'] },
    );
    const sound = fc.record(
      {
        jsonrpc: fc.constant('2.0'),
        id: fc.oneof(fc.integer(), fc.string()),
        method: fc.constantFrom('ping', 'x/y'),
        params: fc.dictionary(fc.string(), fc.jsonValue()),
      },
      { requiredKeys: ['jsonrpc', 'method'] },
    );
    let agreed = 0;
    fc.assert(
      fc.property(fc.oneof(envelope, sound), (value) => {
        const text = JSON.stringify(value);
        // Members that have no business there are passed on, and the SDK refuses them.
        const known = JSON.parse(text);
        if (known.method === undefined) delete known.params;
        const parsed = JSONRPCMessageSchema.safeParse(known);
        let message: McpMessage | undefined;
        try {
          message = read(text);
        } catch (error) {
          expect(error).toBeInstanceOf(McpFault);
        }
        // What we take beyond it: an error whose id nobody knew. What we refuse beyond it stands above.
        const isOurs = message?.kind === 'error' && message.id === undefined;
        if (message !== undefined && !isOurs) expect(parsed.success, text).toBe(true);
        if (message !== undefined) expect(message.bytes.toString()).toBe(text);
        if (parsed.success && message !== undefined) agreed++;
      }),
      { numRuns: 2000 },
    );
    expect(agreed).toBeGreaterThan(500);
  });

  it('takes every message of the SDK', () => {
    const messages: object[] = [
      {
        jsonrpc: '2.0',
        id: 0,
        method: 'initialize',
        params: {
          protocolVersion: '2025-11-25',
          capabilities: {},
          clientInfo: { name: 'a', version: '1' },
        },
      },
      {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 3, progress: 0.5 },
      },
      { jsonrpc: '2.0', id: 'x', result: { content: [{ type: 'text', text: 'a' }] } },
      { jsonrpc: '2.0', id: -1, error: { code: -32601, message: 'no' } },
    ];
    for (const message of messages) expect(read(JSON.stringify(message)).document).toEqual(message);
  });

  it('never throws anything but a fault, whatever the bytes are', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      ':',
      ',',
      '"id"',
      '"jsonrpc":"2.0"',
      '1',
      'null',
      '\\',
      ' ',
      '\u0000',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
          fc.array(pieces, { maxLength: 40 }).map((list) => Buffer.from(list.join(''))),
        ),
        (bytes) => {
          try {
            readMessage(bytes);
          } catch (error) {
            expect(error).toBeInstanceOf(McpFault);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('reads a message of four megabytes in a fraction of a second, whatever is in it', () => {
    const worst = [
      call(`{"arguments":{"a":"${'\\"'.repeat(2_000_000)}"}}`),
      call(
        `{"arguments":{${Array.from({ length: 30_000 }, (_, index) => `"${'k'.repeat(40)}${index}":{}`).join(',')}}}`,
      ),
      `{${Array.from({ length: 30_000 }, (_, index) => `"k${index}":1`).join(',')},"jsonrpc":"2.0","id":1,"method":"ping"}`,
      call(`{${Array.from({ length: 30_000 }, (_, index) => `"k${index}":1`).join(',')}}`),
    ];
    for (const text of worst) {
      const bytes = Buffer.from(text);
      const spentMs = ownTime();
      readMessage(bytes);
      expect(spentMs()).toBeLessThan(400);
    }
  });
});

describe('idKey', () => {
  it('is one for equal ids, and another for a number and its text', () => {
    const keyOf = (id: string) => {
      const message = read(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
      return message.kind === 'request' ? idKey(message.id) : '';
    };
    expect(keyOf('1')).toBe(keyOf('1.0'));
    expect(keyOf('"a"')).toBe(keyOf('"\\u0061"'));
    expect(keyOf('1')).not.toBe(keyOf('"1"'));
    expect(keyOf('"\\"1"')).not.toBe(keyOf('1'));
  });
});

describe('MessageEdit', () => {
  const text =
    '{"jsonrpc":"2.0" , "id":7,"method":"tools/call","params":{ "name":"\\u0061", "arguments":{"n":1.50},"_meta":{"progressToken":1,"x/y":null}}}';

  it('changes what it is asked to, and not a byte beside', () => {
    const bytes = new MessageEdit(read(text))
      .setId('"g1"')
      .setMeta('progressToken', 'p9')
      .setSubject('b')
      .bytes();
    expect(bytes.toString()).toBe(
      '{"jsonrpc":"2.0" , "id":"g1","method":"tools/call","params":{ "name":"b", "arguments":{"n":1.50},"_meta":{"progressToken":"p9","x/y":null}}}',
    );
  });

  it('adds and leaves out', () => {
    const bytes = new MessageEdit(read(text))
      .setMeta('progressToken', undefined)
      .setArgument('n', undefined)
      .setArgument('m', [1])
      .setParam('task', { ttl: 1 })
      .bytes();
    expect(JSON.parse(bytes.toString()).params).toEqual({
      name: 'a',
      arguments: { m: [1] },
      _meta: { 'x/y': null },
      task: { ttl: 1 },
    });
    const bare = new MessageEdit(read('{"jsonrpc":"2.0","id":1,"method":"tools/list"}'))
      .setMeta('a', 1)
      .bytes();
    expect(bare.toString()).toBe(
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"a":1}}}',
    );
  });

  it('names what a completion is for, and the uri of a read', () => {
    const completion =
      '{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"a:{x}"}}}';
    expect(new MessageEdit(read(completion)).setSubject('b:{x}').bytes().toString()).toContain(
      '"uri":"b:{x}"',
    );
    const ping = read('{"jsonrpc":"2.0","id":1,"method":"ping"}');
    expect(() => new MessageEdit(ping).setSubject('x')).toThrow();
  });

  it('gives the bytes themselves where nothing was asked for', () => {
    const message = read(text);
    expect(new MessageEdit(message).bytes()).toBe(message.bytes);
  });
});
