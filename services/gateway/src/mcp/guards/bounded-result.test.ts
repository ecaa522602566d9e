import { type McpResponse, messageBounds, readMessage } from '@sluice/mcp';
import { expect, it } from 'vitest';
import type { ServerReply } from '../server-reply.ts';
import { boundedResult as bounded } from './bounded-result.ts';

const boundedResult = (reply: ServerReply, bytesMax: number) =>
  bounded(reply, bytesMax) as McpResponse;

const reply = (result: object) =>
  readMessage(
    Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result })),
    messageBounds.upstream,
  ) as McpResponse;
const text = (value: string) => ({ type: 'text', text: value });
const marker = text(
  expect.stringMatching(/^\[Cut by the gateway: the result has \d+ bytes/) as never,
);

it('leaves what is small enough as the bytes that it is', () => {
  const small = reply({ content: [text('a')] });
  expect(boundedResult(small, 1024)).toBe(small);
});

it.each([
  ['one text', [text('a'.repeat(9000))]],
  ['characters of two units', [text('\u{1f600}'.repeat(3000))]],
  ['what is longer as JSON', [text('"\n\u0001'.repeat(2000))]],
  ['many texts', Array.from({ length: 500 }, (_, at) => text(`text ${at}`))],
  ['a picture', [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(9000) }]],
])('keeps as much as fits, and says that it cut: %s', (_what, content) => {
  const cut = boundedResult(reply({ content }), 1024);
  expect(cut.bytes.length).toBeLessThanOrEqual(1024);
  expect((cut.result.content as unknown[]).at(-1)).toEqual(marker);
  expect(cut.bytes.toString('utf8')).not.toMatch(/\\ud[89a-f]/);
  expect(cut.result.isError).toBeUndefined();
});

it('keeps structured content whole, or the call has failed', () => {
  const content = [text('a'.repeat(3000))];
  const whole = boundedResult(reply({ content, structuredContent: { a: 'b'.repeat(300) } }), 1024);
  expect(whole.result.structuredContent).toEqual({ a: 'b'.repeat(300) });
  expect(whole.bytes.length).toBeLessThanOrEqual(1024);
  const failed = boundedResult(
    reply({ content, structuredContent: { a: 'b'.repeat(3000) } }),
    1024,
  );
  expect(failed.result).toMatchObject({ isError: true });
  expect(failed.result.structuredContent).toBeUndefined();
  expect(failed.bytes.length).toBeLessThanOrEqual(1024);
});

const large = 'a'.repeat(9000);
it.each([
  ['structured content alone', { structuredContent: { a: large } }],
  ['the result of old revisions', { toolResult: large }],
  ['content that is no list', { content: text(large) }],
  ['metadata', { content: [text('a')], _meta: { large } }],
  ['what nobody knows', { content: [text('a')], structuredContent: {}, large }],
])('lets a call have failed of which something else is too large: %s', (_what, result) => {
  for (const resultType of [undefined, 'complete']) {
    const failed = boundedResult(reply({ resultType, ...result }), 1024);
    const typed = resultType === undefined ? {} : { resultType };
    expect(failed.result).toEqual({ ...typed, content: [marker], isError: true });
  }
});

it('keeps a task whose result is too large, and what a server asks', () => {
  const task = { resultType: 'complete', taskId: 't', status: 'completed' };
  const told = boundedResult(reply({ ...task, result: { content: [text(large)] } }), 1024);
  expect(told.result).toEqual({ ...task, result: { content: [marker], isError: true } });
  const asks = reply({ resultType: 'input_required', requestState: large, inputRequests: {} });
  expect(boundedResult(asks, 1024)).toBe(asks);
});

it('shortens an error that is too large', () => {
  const error = { code: -32000, message: large, data: { large } };
  const long = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 'é', error }));
  const short = bounded(readMessage(long, messageBounds.upstream) as ServerReply, 1024);
  expect(short).toMatchObject({ kind: 'error', id: 'é', error: { code: -32000 } });
  expect(JSON.parse(short.bytes.toString()).error.message).toMatch(/^a{100} \[Cut by the gateway/);
});
