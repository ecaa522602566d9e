import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { metaKeys } from '../envelope/protocol.ts';
import { type McpRequest, readMessage } from '../envelope/read-message.ts';
import { McpFault } from '../fault.ts';
import { checkEra, requestHeaders, requireClientCapability } from './check-era.ts';
import { checkPostHeaders, checkStreamHeaders } from './check-transport.ts';
import { decodeHeaderValue, encodeHeaderValue, type HeaderMap } from './header-value.ts';
import { checkParamHeaders, paramHeadersFor, readParamHeaders } from './param-headers.ts';

const modern = '2026-07-28';
const envelope = (version: unknown = modern, capabilities: unknown = {}) => ({
  [metaKeys.protocolVersion]: version,
  [metaKeys.clientCapabilities]: capabilities,
});
const message = (method: string, params?: object, id: number | undefined = 1) =>
  readMessage(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method, params })));
const notification = (method: string, params?: object) =>
  readMessage(Buffer.from(JSON.stringify({ jsonrpc: '2.0', method, params })));

function outcome(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if (error instanceof McpFault) return [error.status, error.code];
    throw error;
  }
}

const right = (method: string, name?: string): HeaderMap => ({
  'mcp-protocol-version': modern,
  'mcp-method': method,
  ...(name === undefined ? {} : { 'mcp-name': name }),
});
const call = message('tools/call', { name: 'échantillon', _meta: envelope() });
const list = message('tools/list', { _meta: envelope() });

describe('checkEra', () => {
  it.each<[string, ReturnType<typeof message>, HeaderMap, unknown]>([
    ['a modern list', list, right('tools/list'), { era: 'modern', version: modern }],
    [
      'a modern call',
      call,
      right('tools/call', encodeHeaderValue('échantillon')),
      { era: 'modern', version: modern },
    ],
    [
      'spaces around values',
      list,
      { 'mcp-protocol-version': ` ${modern}\t`, 'mcp-method': ' tools/list ' },
      { era: 'modern', version: modern },
    ],
    ['no headers at all', list, {}, [400, -32020]],
    ['no method', list, { 'mcp-protocol-version': modern }, [400, -32020]],
    ['no version', list, { 'mcp-method': 'tools/list' }, [400, -32020]],
    ['no name', call, right('tools/call'), [400, -32020]],
    ['another name', call, right('tools/call', 'other'), [400, -32020]],
    [
      'a name in another case',
      message('tools/call', { name: 'A', _meta: envelope() }),
      right('tools/call', 'a'),
      [400, -32020],
    ],
    [
      'a name twice',
      message('tools/call', { name: 'a', _meta: envelope() }),
      right('tools/call', 'a, a'),
      [400, -32020],
    ],
    ['base64 that is none', call, right('tools/call', '=?base64?%%%?='), [400, -32020]],
    ['base64 of another name', call, right('tools/call', encodeHeaderValue('ö')), [400, -32020]],
    ['another method', list, right('tools/call'), [400, -32020]],
    ['a method in another case', list, right('Tools/List'), [400, -32020]],
    [
      'another version',
      list,
      { ...right('tools/list'), 'mcp-protocol-version': '2025-11-25' },
      [400, -32020],
    ],
    [
      'a version of the future',
      message('tools/list', { _meta: envelope('2099-01-01') }),
      { ...right('tools/list'), 'mcp-protocol-version': '2099-01-01' },
      [400, -32022],
    ],
    [
      'a legacy version in _meta',
      message('tools/list', { _meta: envelope('2025-11-25') }),
      { ...right('tools/list'), 'mcp-protocol-version': '2025-11-25' },
      [400, -32022],
    ],
    [
      'no capabilities',
      message('tools/list', { _meta: { [metaKeys.protocolVersion]: modern } }),
      right('tools/list'),
      [400, -32602],
    ],
    [
      'a version that is a number',
      message('tools/list', { _meta: envelope(2026) }),
      right('tools/list'),
      [400, -32602],
    ],
    [
      'client info that is a text',
      message('tools/list', { _meta: { ...envelope(), [metaKeys.clientInfo]: 'x' } }),
      right('tools/list'),
      [400, -32602],
    ],
    ['a modern header without _meta', message('tools/list'), right('tools/list'), [400, -32602]],
    [
      'a name in the header alone',
      message('tools/call', { _meta: envelope() }),
      right('tools/call', 'a'),
      [400, -32020],
    ],
    [
      'a probe without headers',
      message('server/discover', { _meta: envelope() }),
      {},
      { era: 'modern', version: modern },
    ],
    [
      'a probe with wrong headers',
      message('server/discover', { _meta: envelope() }),
      right('tools/list'),
      { era: 'modern', version: modern },
    ],
    [
      'a probe of the future',
      message('server/discover', { _meta: envelope('2099-01-01') }),
      {},
      [400, -32022],
    ],
    [
      'a method of before',
      message('resources/subscribe', { uri: 'test://one', _meta: envelope() }),
      right('resources/subscribe'),
      [404, -32601],
    ],
    ['a probe without _meta', message('server/discover'), {}, [400, -32602]],
    [
      'initialize',
      message('initialize', { protocolVersion: '2025-06-18' }),
      {},
      { era: 'legacy', version: '2025-06-18', isNamed: true },
    ],
    [
      'initialize with a modern header',
      message('initialize', { protocolVersion: '2025-06-18' }),
      right('initialize'),
      { era: 'legacy', version: '2025-06-18', isNamed: true },
    ],
    [
      'initialize of an unknown version',
      message('initialize', { protocolVersion: '2020-01-01' }),
      {},
      { era: 'legacy', version: '2025-11-25', isNamed: true },
    ],
    [
      'a legacy call without version',
      message('tools/list'),
      {},
      { era: 'legacy', version: '2025-03-26', isNamed: false },
    ],
    [
      'a legacy call',
      message('tools/list'),
      { 'mcp-protocol-version': '2025-11-25' },
      { era: 'legacy', version: '2025-11-25', isNamed: true },
    ],
    [
      'a legacy call of no version',
      message('tools/list'),
      { 'mcp-protocol-version': 'bogus' },
      [400, -32600],
    ],
    [
      'a legacy call of the SSE transport',
      message('tools/list'),
      { 'mcp-protocol-version': '2024-11-05' },
      [400, -32600],
    ],
    [
      'a legacy notification',
      notification('notifications/initialized'),
      { 'mcp-protocol-version': '2025-06-18' },
      { era: 'legacy', version: '2025-06-18', isNamed: true },
    ],
    [
      'a modern notification',
      notification('notifications/x'),
      { 'mcp-protocol-version': modern },
      { era: 'modern', version: modern },
    ],
    [
      'a probe of a version that nobody speaks',
      message('server/discover', { _meta: envelope('2099-01-01') }),
      { 'mcp-protocol-version': '2099-01-01' },
      [400, -32022],
    ],
    [
      'a probe of a version that nobody speaks, whose header says another',
      message('server/discover', { _meta: envelope('2099-01-01') }),
      { 'mcp-protocol-version': modern },
      [400, -32020],
    ],
    [
      'a prototype as method',
      message('constructor', { _meta: envelope() }),
      right('constructor'),
      { era: 'modern', version: modern },
    ],
  ])('%s', (_, sent, headers, expected) => {
    expect(outcome(() => checkEra(sent, headers))).toEqual(expected);
  });

  it('names what is supported, and answers the id', () => {
    try {
      checkEra(message('tools/list', { _meta: envelope('2099-01-01') }), {
        ...right('tools/list'),
        'mcp-protocol-version': '2099-01-01',
      });
    } catch (error) {
      expect(error).toMatchObject({
        idText: '1',
        data: { supported: [modern], requested: '2099-01-01' },
      });
    }
    expect.assertions(1);
  });

  it('lets pass what it would send itself, of any name', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }).filter((name) => name.isWellFormed()),
        (name) => {
          const params = { name, _meta: envelope() };
          const sent = message('tools/call', params);
          const headers = requestHeaders('tools/call', JSON.parse(JSON.stringify(params)), modern);
          for (const value of Object.values(headers))
            expect(value).toMatch(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/);
          expect(outcome(() => checkEra(sent, headers))).toMatchObject({ era: 'modern' });
        },
      ),
    );
  });
});

describe('header values', () => {
  it.each([
    ['a b', 'a b'],
    [' a', '=?base64?IGE=?='],
    ['=?base64?YQ==?=', '=?base64?PT9iYXNlNjQ/WVE9PT89?='],
    ['', '=?base64??='],
    ['a\r\nx: y', '=?base64?YQ0KeDogeQ==?='],
  ])('%j is sent as %j', (text, value) => {
    expect(encodeHeaderValue(text)).toBe(value);
    expect(decodeHeaderValue(value)).toBe(text);
  });

  it.each(['=?base64?YQ?=', '=?base64?YQ== ?=', '=?base64?/w==?=', '=?base64?YR==?='])(
    '%j says nothing',
    (value) => {
      expect(decodeHeaderValue(value)).toBeUndefined();
    },
  );
});

describe('transport headers', () => {
  const both = 'application/json, text/event-stream';
  it.each<[HeaderMap, unknown]>([
    [{ accept: both, 'content-type': 'application/json' }, undefined],
    [{ accept: both, 'content-type': 'Application/JSON; charset=utf-8' }, undefined],
    [{ accept: '*/*', 'content-type': 'application/json' }, undefined],
    [{ accept: 'application/json', 'content-type': 'application/json' }, [406, -32000]],
    [
      { accept: 'application/json, text/event-stream;q=0', 'content-type': 'application/json' },
      [406, -32000],
    ],
    [{ 'content-type': 'application/json' }, [406, -32000]],
    [{ accept: both }, [415, -32000]],
    [{ accept: both, 'content-type': 'text/plain' }, [415, -32000]],
  ])('%j', (headers, expected) => {
    expect(outcome(() => checkPostHeaders(headers))).toEqual(expected);
  });

  it('asks of a GET that it takes a stream', () => {
    expect(outcome(() => checkStreamHeaders({ accept: 'text/event-stream' }))).toBeUndefined();
    expect(outcome(() => checkStreamHeaders({ accept: 'application/json' }))).toEqual([
      406, -32000,
    ]);
  });
});

describe('requireClientCapability', () => {
  const asked = message('tools/call', {
    name: 'a',
    _meta: envelope(modern, { elicitation: { url: {} } }),
  }) as McpRequest;

  it.each([
    ['elicitation', undefined],
    ['elicitation.url', undefined],
    ['elicitation.form', [400, -32021]],
    ['sampling', [400, -32021]],
    ['constructor', [400, -32021]],
  ])('%s', (capability, expected) => {
    expect(outcome(() => requireClientCapability(asked, capability))).toEqual(expected);
  });
});

describe('Mcp-Param headers', () => {
  const schema = {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      deep: { type: 'object', properties: { count: { type: 'integer', 'x-mcp-header': 'Count' } } },
      dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
    },
  };
  const marks = readParamHeaders(schema).headers ?? [];

  it.each<[object, HeaderMap, unknown]>([
    [{ region: 'eu' }, { 'mcp-param-region': 'eu' }, undefined],
    [{ region: 'é' }, { 'mcp-param-region': encodeHeaderValue('é') }, undefined],
    [
      { deep: { count: 42 }, dry: false },
      { 'mcp-param-count': '42.0', 'mcp-param-dry': 'false' },
      undefined,
    ],
    [{ region: null }, {}, undefined],
    [{}, { 'mcp-param-region': 'x', 'mcp-param-unknown': 'y' }, undefined],
    [{ region: 'eu' }, {}, [400, -32020]],
    [{ region: 'eu' }, { 'mcp-param-region': 'us' }, [400, -32020]],
    [{ region: 'eu' }, { 'mcp-param-region': '=?base64?!?=' }, [400, -32020]],
    [{ deep: { count: 42 } }, { 'mcp-param-count': '0x2a' }, [400, -32020]],
    [{ dry: true }, { 'mcp-param-dry': 'True' }, [400, -32020]],
  ])('%j with %j', (args, headers, expected) => {
    expect(
      outcome(() => checkParamHeaders(marks, JSON.parse(JSON.stringify(args)), headers)),
    ).toEqual(expected);
  });

  it('sends what it would let pass', () => {
    fc.assert(
      fc.property(
        fc.record(
          {
            region: fc.string(),
            deep: fc.record({ count: fc.maxSafeInteger() }),
            dry: fc.boolean(),
          },
          { requiredKeys: [] },
        ),
        (args) => {
          const sent = JSON.parse(JSON.stringify(args));
          expect(
            outcome(() => checkParamHeaders(marks, sent, paramHeadersFor(marks, sent))),
          ).toBeUndefined();
        },
      ),
    );
  });

  const property = (inner: object) => ({ type: 'object', properties: { a: inner } });
  it.each<[string, unknown]>([
    ['a number', property({ type: 'number', 'x-mcp-header': 'A' })],
    ['an object', property({ type: 'object', 'x-mcp-header': 'A' })],
    ['no type', property({ 'x-mcp-header': 'A' })],
    ['no name', property({ type: 'string', 'x-mcp-header': '' })],
    ['a name that splits headers', property({ type: 'string', 'x-mcp-header': 'a\r\nx' })],
    [
      'a mark within items',
      property({ type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } }),
    ],
    [
      'a mark in a definition',
      { ...property({}), $defs: { d: { type: 'string', 'x-mcp-header': 'A' } } },
    ],
    ['a mark at the top', { type: 'string', 'x-mcp-header': 'A' }],
    [
      'one name twice',
      {
        properties: {
          a: { type: 'string', 'x-mcp-header': 'A' },
          b: { type: 'string', 'x-mcp-header': 'a' },
        },
      },
    ],
  ])('a tool with %s is not listed', (_, inputSchema) => {
    expect(readParamHeaders(JSON.parse(JSON.stringify(inputSchema))).fault).toBeTypeOf('string');
  });
});
