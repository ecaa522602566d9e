import { ListToolsResultSchema } from '@modelcontextprotocol/core';
import { ownTime } from '@sluice/testkit/own-time';
import { describe, expect, it } from 'vitest';
import type { Who } from '../access/decide.ts';
import { type CapabilityRow, compileServer, type ServerRules } from '../access/server-view.ts';
import { MessageEdit } from '../envelope/edit-message.ts';
import {
  type McpRequest,
  type McpResponse,
  messageBounds,
  readMessage,
} from '../envelope/read-message.ts';
import { McpFault } from '../fault.ts';
import { PinMemory, pinOf } from '../pins/pin-of.ts';
import { filterList } from './filter-list.ts';
import { listKindOf, type listKinds } from './list-kinds.ts';
import { prepareCall } from './prepare-call.ts';

const row = (name: string, over: Partial<CapabilityRow> = {}): CapabilityRow => ({
  type: 'tool',
  name,
  enabled: true,
  pin: '',
  renamedTo: '',
  description: '',
  fixedArguments: undefined,
  hiddenArguments: [],
  ...over,
});
const server = (capabilities: CapabilityRow[], over: Partial<ServerRules> = {}) =>
  compileServer({
    enabled: true,
    usersAllowed: true,
    userAccess: {},
    capabilities,
    allowsNew: true,
    onDrift: 'alert',
    access: [],
    deniedAs: 'disabled',
    ...over,
  });
const who: Who = { key: undefined, userId: undefined, metadata: {}, claims: undefined };
const reply = (text: string) =>
  readMessage(Buffer.from(text), messageBounds.upstream) as McpResponse;
const pins = new PinMemory();
const kind = listKindOf('tools/list') as (typeof listKinds)[number];
const legacy = { kind, pins, isModern: false, ttlMsMax: 0 };
const modern = { ...legacy, isModern: true };

const text =
  '{"jsonrpc": "2.0", "id":3,"result":{ "tools" : [\n {"name":"\\u0061dd","inputSchema":{"type":"object","properties":{"n":{"maximum":1e3},"key":{}},"required":["key" , "n"]},"description":"Adds","x":1.0},\n {"name":"drop","inputSchema":{}} ],"nextCursor":"c1","extra":null}}';

describe('filterList', () => {
  it('gives the bytes that came where nothing is to change', () => {
    const came = reply(text);
    const { bytes, items, hidden, nextCursor } = filterList(server([]), who, came, legacy);
    expect(bytes).toBe(came.bytes);
    expect([items.map((item) => item.name), hidden, nextCursor]).toEqual([
      ['add', 'drop'],
      [],
      'c1',
    ]);
  });

  it('leaves out, renames, describes anew and hides arguments, and not a byte beside', () => {
    const view = server([
      row('add', { renamedTo: 'sum', description: 'Sums "up"', fixedArguments: { key: 's' } }),
      row('drop', { enabled: false }),
    ]);
    const { bytes, hidden } = filterList(view, who, reply(text), legacy);
    expect(bytes.toString()).toBe(
      '{"jsonrpc": "2.0", "id":3,"result":{ "tools" : [{"name":"sum","inputSchema":{"type":"object","properties":{"n":{"maximum":1e3}},"required":[  "n"]},"description":"Sums \\"up\\"","x":1.0}],"nextCursor":"c1","extra":null}}',
    );
    expect(hidden).toEqual([{ name: 'drop', reason: 'capability_disabled' }]);
  });

  it('gives an empty page with the next cursor where nothing is left', () => {
    const { bytes } = filterList(server([], { allowsNew: false }), who, reply(text), legacy);
    expect(JSON.parse(bytes.toString()).result).toEqual({
      tools: [],
      nextCursor: 'c1',
      extra: null,
    });
  });

  it('leaves out what is no definition or could be read as two', () => {
    const tools =
      '[{"name":"a"},{"name":"a","description":"evil"},7,null,{"title":"x"},{"name":"b","name":"c"},{"name":"d","inputSchema":{"type":"object","type":"array"}},{"name":"\\ud800"},{"name":""},{"name":"ok"}]';
    const { bytes, unusable } = filterList(
      server([]),
      who,
      reply(`{"jsonrpc":"2.0","id":1,"result":{"tools":${tools}}}`),
      legacy,
    );
    expect(JSON.parse(bytes.toString()).result.tools).toEqual([{ name: 'a' }, { name: 'ok' }]);
    expect(unusable).toBe(8);
  });

  it.each(['{}', '{"tools":{}}', '{"tools":null}', '{"prompts":[]}'])(
    '%s is no list of tools',
    (result) => {
      expect(() =>
        filterList(server([]), who, reply(`{"jsonrpc":"2.0","id":1,"result":${result}}`), legacy),
      ).toThrow(McpFault);
    },
  );

  it('refuses a hundred thousand tools, in no time', () => {
    const tools = Array.from({ length: 20_000 }, (_, index) => `{"name":"t${index}"}`).join(',');
    const spentMs = ownTime();
    const read = () =>
      filterList(
        server([]),
        who,
        reply(`{"jsonrpc":"2.0","id":1,"result":{"tools":[${tools}]}}`),
        legacy,
      );
    expect(read).toThrow(/at most 10000/);
    const all = `{"jsonrpc":"2.0","id":1,"result":{"tools":[${`${tools},`.repeat(5)}{}]}}`;
    expect(() => reply(all)).toThrow(/too many values/);
    expect(spentMs()).toBeLessThan(1000);
  });

  it.each<[string, object | undefined]>([
    ['{"tools":[],"cacheScope":"public","ttlMs":60000}', { cacheScope: 'private', ttlMs: 0 }],
    ['{"tools":[],"cacheScope":"private","ttlMs":0}', undefined],
    ['{"tools":[]}', { cacheScope: 'private', ttlMs: 0 }],
    ['{"tools":[],"cacheScope":7,"ttlMs":-5}', { cacheScope: 'private', ttlMs: 0 }],
  ])('a modern caller keeps %s for itself', (result, expected) => {
    const came = reply(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
    const { bytes } = filterList(server([]), who, came, modern);
    if (expected === undefined) expect(bytes).toBe(came.bytes);
    else expect(JSON.parse(bytes.toString()).result).toMatchObject(expected);
    const capped = filterList(server([]), who, came, { ...modern, ttlMsMax: 1000 });
    expect(JSON.parse(capped.bytes.toString()).result.ttlMs).toBeLessThanOrEqual(1000);
  });

  it('leaves out tools whose marks for headers break the rules, for modern callers', () => {
    const bad =
      '{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":"number","x-mcp-header":"X"}}}}';
    const came = reply(`{"jsonrpc":"2.0","id":1,"result":{"tools":[${bad}]}}`);
    expect(filterList(server([]), who, came, modern).hidden).toEqual([
      { name: 'a', reason: 'illegal_headers' },
    ]);
    expect(filterList(server([]), who, came, legacy).hidden).toEqual([]);
  });

  it('tells of drift, hides it or blocks it', () => {
    const came = reply(
      '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","description":"new"},{"name":"b"}]}}',
    );
    const pinned = [
      row('a', { pin: pinOf({ name: 'a', description: 'old' }) }),
      row('b', { pin: pinOf({ name: 'b' }) }),
    ];
    const shown = (onDrift: string) => filterList(server(pinned, { onDrift }), who, came, legacy);
    expect(shown('alert')).toMatchObject({ drifted: ['a'], hidden: [] });
    expect(shown('hide')).toMatchObject({
      drifted: [],
      hidden: [{ name: 'a', reason: 'definition_changed' }],
    });
    expect(JSON.parse(shown('block').bytes.toString()).result.tools).toEqual([{ name: 'b' }]);
  });

  it('filters resources by their URIs and templates by theirs', () => {
    const resources = listKindOf('resources/list') as typeof kind;
    const templates = listKindOf('resources/templates/list') as typeof kind;
    const view = server([
      row('x://a', { type: 'resource', enabled: false }),
      row('y://{id}', { type: 'resource_template', enabled: false }),
    ]);
    const list = reply(
      '{"jsonrpc":"2.0","id":1,"result":{"resources":[{"uri":"x://a","name":"b"},{"uri":"y://1","name":"x://a"},{"uri":"z://1","name":"c"}]}}',
    );
    expect(
      filterList(view, who, list, { ...legacy, kind: resources }).hidden.map(({ name }) => name),
    ).toEqual(['x://a', 'y://1']);
    const page = reply(
      '{"jsonrpc":"2.0","id":1,"result":{"resourceTemplates":[{"uriTemplate":"y://{id}","name":"b"},{"uriTemplate":"z://{id}","name":"c"}]}}',
    );
    expect(
      filterList(view, who, page, { ...legacy, kind: templates }).hidden.map(({ name }) => name),
    ).toEqual(['y://{id}']);
  });

  it('leaves a list that the SDK reads', () => {
    const tool = (index: number) => ({
      name: `tool_${index}`,
      description: 'd'.repeat(200),
      inputSchema: {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'integer' } },
        required: ['a'],
      },
      annotations: { readOnlyHint: true },
    });
    const tools = Array.from({ length: 500 }, (_, index) => tool(index));
    const rows = tools.map(({ name }, index) =>
      row(name, {
        enabled: index % 5 !== 0,
        renamedTo: index % 7 === 0 ? `renamed_${index}` : '',
        hiddenArguments: index % 3 === 0 ? ['a'] : [],
      }),
    );
    const { bytes } = filterList(
      server(rows),
      who,
      reply(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools } })),
      legacy,
    );
    const { result } = JSON.parse(bytes.toString());
    expect(ListToolsResultSchema.parse(result).tools).toHaveLength(400);
    expect(
      result.tools.filter((entry: { name: string }) => entry.name.startsWith('renamed_')).length,
    ).toBeGreaterThan(50);
  });
});

describe('prepareCall', () => {
  const request = (params: object, method = 'tools/call') =>
    readMessage(
      Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })),
    ) as McpRequest;
  const prepared = (message: McpRequest, name: string, over: Partial<CapabilityRow>) => {
    const edit = new MessageEdit(message);
    const args = prepareCall(edit, message, {
      allowed: true,
      name,
      row: row(name, over),
      isDrifted: false,
    });
    const { params } = JSON.parse(edit.bytes().toString());
    expect(params.arguments ?? {}).toEqual(args);
    return params;
  };

  it('has the name that the upstream knows, and the arguments that are fixed', () => {
    const message = request({ name: 'sum', arguments: { n: 1, key: 'mine', secret: 1 } });
    const params = prepared(message, 'add', {
      fixedArguments: { key: 'ours', tenant: { id: 7 } },
      hiddenArguments: ['secret'],
    });
    expect(params).toEqual({ name: 'add', arguments: { n: 1, key: 'ours', tenant: { id: 7 } } });
  });

  it.each(['__proto__', 'constructor'])('knows an argument %s for what it is', (name) => {
    const fixed = JSON.parse(`{"${name}":1}`);
    const params = prepared(request(JSON.parse(`{"name":"a","arguments":{"${name}":2}}`)), 'a', {
      fixedArguments: fixed,
    });
    expect(JSON.stringify(params)).toBe(`{"name":"a","arguments":{"${name}":1}}`);
    const hidden = prepared(request(JSON.parse(`{"name":"a","arguments":{"${name}":2}}`)), 'a', {
      hiddenArguments: [name],
    });
    expect(JSON.stringify(hidden)).toBe('{"name":"a","arguments":{}}');
  });

  it('adds arguments to a call without any, and leaves one alone that needs nothing', () => {
    expect(prepared(request({ name: 'a' }), 'a', { fixedArguments: { x: null } })).toEqual({
      name: 'a',
      arguments: { x: null },
    });
    const message = request({ name: 'a', arguments: { n: 1 } });
    const edit = new MessageEdit(message);
    prepareCall(edit, message, {
      allowed: true,
      name: 'a',
      row: row('a', { hiddenArguments: ['z'] }),
      isDrifted: false,
    });
    expect(edit.bytes()).toBe(message.bytes);
  });

  it('leaves a read alone', () => {
    const message = request({ uri: 'x://1' }, 'resources/read');
    const edit = new MessageEdit(message);
    prepareCall(edit, message, {
      allowed: true,
      name: 'x://1',
      row: row('x://{a}', { type: 'resource_template', fixedArguments: { a: 1 } }),
      isDrifted: false,
    });
    expect(edit.bytes()).toBe(message.bytes);
  });
});
