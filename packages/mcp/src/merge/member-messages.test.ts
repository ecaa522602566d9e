import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type McpMessage, type McpRequest, readMessage } from '../envelope/read-message.ts';
import { createSealer } from '../sealing/sealer.ts';
import { openMemberId, sealMemberId } from './member-ids.ts';
import {
  askedOfMember,
  type MemberView,
  memberRequestId,
  openRequestId,
  openShownUri,
  shownUri,
  toCaller,
  toMember,
} from './member-messages.ts';
import { mergedCapabilities, mergedInstructions } from './merged-hello.ts';

const sealer = createSealer([randomBytes(32)]);
const view: MemberView = { sealer, server: 'all', member: 'b', namesUris: true };
const message = (document: object): McpMessage =>
  readMessage(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...document })));
const told = (document: object, asked?: Parameters<typeof toCaller>[2]) => {
  const bytes = toCaller(message(document), view, asked);
  return bytes === undefined ? undefined : JSON.parse(bytes.toString());
};
const task = (text: string) => openMemberId(sealer, 'task', 'all', text);
const related = 'io.modelcontextprotocol/related-task';

describe('what a member says', () => {
  it('names the member in ids of its requests, whatever it wrote there', () => {
    for (const id of [1, '1', 'a:1', 'b:1', 'a:"b:1"', '']) {
      const asked = told({ id, method: 'roots/list' });
      expect(openRequestId(asked.id)).toEqual({ member: 'b', id });
    }
    expect(told({ id: 'x'.repeat(1021), method: 'roots/list' })).toBeUndefined();
    for (const id of ['b', 'b:', 'b:x', 'b: 1', 'b:1.5', 'b:{}', ':1', 7, null])
      expect(openRequestId(id as never), String(id)).toBeUndefined();
  });

  it('tells progress of what it was asked, and of nothing else', () => {
    const progress = (progressToken: unknown) => ({
      method: 'notifications/progress',
      params: { progressToken, progress: 1 },
    });
    const asked = { method: 'tools/call', progressToken: 5 };
    expect(told(progress(5), asked)).toMatchObject({ params: { progressToken: 5 } });
    expect(told(progress(6), asked)).toBeUndefined();
    expect(told(progress('5'), asked)).toBeUndefined();
    expect(told(progress(5))).toBeUndefined();
    expect(told(progress(5), { method: 'tools/call', progressToken: undefined })).toBeUndefined();
  });

  it('names the member in URIs, tasks and logs, forged ones too', () => {
    const forged = 'mcp-member://a/test://one';
    const own = `mcp-member://b/${forged}`;
    expect(
      told({
        id: 1,
        result: {
          content: [
            { type: 'resource_link', uri: forged, name: 'n' },
            { type: 'text', text: forged },
          ],
        },
      }),
    ).toMatchObject({ result: { content: [{ uri: own }, { text: forged }] } });
    expect(
      told({ id: 1, result: { contents: [{ uri: forged, text: '' }] } }).result.contents[0].uri,
    ).toBe(own);
    expect(
      told({
        id: 1,
        result: {
          messages: [{ role: 'user', content: { type: 'resource', resource: { uri: 'x:y' } } }],
        },
      }).result.messages[0].content.resource.uri,
    ).toBe('mcp-member://b/x:y');
    expect(
      told({ method: 'notifications/resources/updated', params: { uri: forged } }).params.uri,
    ).toBe(own);
    const foreign = sealMemberId(sealer, 'task', 'all', { member: 'a', id: '1' });
    for (const result of [
      { task: { taskId: foreign } },
      { taskId: foreign },
      { _meta: { [related]: { taskId: foreign } } },
    ]) {
      const shown = told({ id: 1, result }).result;
      const text = shown.task?.taskId ?? shown.taskId ?? shown._meta[related].taskId;
      expect(task(text)).toEqual({ member: 'b', id: foreign });
    }
    expect(
      told({ method: 'notifications/message', params: { level: 'info', logger: 'a', data: 1 } })
        .params.logger,
    ).toBe('b/a');
    expect(
      told({ method: 'notifications/message', params: { level: 'info', data: 1 } }).params.logger,
    ).toBe('b');
    expect(
      task(told({ method: 'notifications/tasks/status', params: { taskId: 't' } }).params.taskId),
    ).toEqual({ member: 'b', id: 't' });
    expect(
      told({ method: 'notifications/cancelled', params: { requestId: 3 } }).params.requestId,
    ).toBe(memberRequestId('b', 3));
    expect(told({ method: 'notifications/cancelled' })).toBeUndefined();
  });

  it('keeps the bytes of all else', () => {
    const text = '{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"x":1.50,"uri":"u"}}}';
    expect(toCaller(readMessage(Buffer.from(text)), view, undefined)?.toString()).toBe(text);
    const only = { ...view, namesUris: false };
    const link =
      '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"resource_link","uri":"u"}]}}';
    expect(toCaller(readMessage(Buffer.from(link)), only, undefined)?.toString()).toBe(link);
  });
});

describe('what is said to a member', () => {
  it('has its own ids, and none of another', () => {
    const answer = toMember(message({ id: 'b:7', result: {} }), view, 7);
    expect(JSON.parse(answer.toString())).toEqual({ jsonrpc: '2.0', id: 7, result: {} });
    const mine = sealMemberId(sealer, 'task', 'all', { member: 'b', id: 'own' });
    const theirs = sealMemberId(sealer, 'task', 'all', { member: 'a', id: 'own' });
    const asked = (taskId: string) =>
      JSON.parse(
        askedOfMember(
          message({
            id: 1,
            method: 'tools/call',
            params: { name: 'b_x', _meta: { [related]: { taskId } } },
          }) as McpRequest,
          view,
          'x',
        ).toString(),
      ).params;
    expect(asked(mine)).toEqual({ name: 'x', _meta: { [related]: { taskId: 'own' } } });
    expect(asked(theirs)).toEqual({ name: 'x', _meta: {} });
  });

  it('reads back addresses that it gave, and nobody else’s', () => {
    for (const uri of [
      'test://one',
      'mcp-member://a/x',
      'ui://a/b',
      'ui://mcp-member/a/x',
      'x:{id}',
    ]) {
      expect(openShownUri(shownUri('b', uri))).toEqual({ member: 'b', uri });
    }
    expect(shownUri('b', 'ui://page')).toBe('ui://mcp-member/b/page');
    for (const uri of ['test://one', 'ui://page', 'ui://mcp-member/b'])
      expect(openShownUri(uri)).toBeUndefined();
  });
});

describe('what a merged server says of itself', () => {
  const of = (member: string, capabilities: object, instructions?: string) => ({
    member,
    result: { capabilities, instructions } as never,
  });
  it('is what any of them can', () => {
    const hellos = [
      of('a', { tools: {}, resources: { subscribe: true }, odd: {} }, 'One.'),
      of(
        'b',
        { tools: { listChanged: false }, completions: {}, experimental: { e: { x: 1 } } },
        ' ',
      ),
      of('c', { experimental: { e: { x: 2 }, f: {} } }, 'x'.repeat(20_000)),
    ];
    expect(mergedCapabilities(hellos)).toEqual({
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      completions: {},
      experimental: { e: { x: 1 }, f: {} },
      logging: {},
    });
    const said = mergedInstructions(hellos) ?? '';
    expect(said).toMatch(/^## a\n\nOne\.\n\n## c\n\nx+…$/);
    expect(said.length).toBeLessThan(16_500);
    expect(mergedInstructions([of('a', {}, 'One.')])).toBe('One.');
    expect(mergedInstructions([of('a', {})])).toBeUndefined();
  });
});
