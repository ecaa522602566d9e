import type { McpMessage } from '@sluice/mcp';
import type { UpstreamCall } from '../calls/upstream-call.ts';
import type { McpCall } from './mcp-call.ts';
import { HeardReply } from './merged/heard-reply.ts';
import { pipeEvents } from './server-reply.ts';

/** What a server tells on a stream that belongs to no request, until that ends. @param heard false = its caller reads too slowly */
export function hearStream(
  call: McpCall,
  upstream: UpstreamCall,
  heard: (message: McpMessage, id: string | undefined) => boolean,
): Promise<void> {
  const reply = new HeardReply(call.reply, {
    message: (message, event) => heard(message, event?.id),
  });
  return new Promise<void>((resolve) => {
    const end = () => {
      reply.endStream();
      resolve();
    };
    pipeEvents({ ...call, reply }, upstream, {
      awaited: 'none',
      event: ({ bytes }) => bytes,
      end,
      fail: end,
    });
  });
}
