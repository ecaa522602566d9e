import { expect, it } from 'vitest';
import type { ReplyConsumer, UpstreamCall } from '../calls/upstream-call.ts';
import { hearStream } from './hear-stream.ts';
import type { McpCall } from './mcp-call.ts';

it('tells each message of a piece once, and passes over what is none', async () => {
  const told = (name: string) => `data: {"jsonrpc":"2.0","method":"notifications/${name}"}\n\n`;
  const upstream = {
    resume() {},
    abort() {},
    consume(consumer: ReplyConsumer) {
      consumer.data(Buffer.from(`${told('one')}data: {"jsonrpc":"2.0"}\n\n${told('two')}`));
      consumer.data(Buffer.from(told('three')));
      consumer.end();
    },
  } as unknown as UpstreamCall;
  const reply = { isOver: false, onDrain() {}, onClose() {} };
  const heard: unknown[] = [];
  await hearStream({ reply } as unknown as McpCall, upstream, ({ document }) => {
    heard.push(document.method);
    return true;
  });
  expect(heard).toEqual(['notifications/one', 'notifications/two', 'notifications/three']);
});
