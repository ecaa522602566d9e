import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { LegacyUpstream } from './legacy-upstream.ts';

/** Of everything that tools may say; `tools` may change while sessions are open. */
export interface GuardFixture {
  tools: Record<string, unknown>[];
  /** Arguments of all calls that came, by tool. */
  readonly calls: { name: string; arguments: Record<string, unknown> }[];
}

export const cardSchema = {
  type: 'object',
  properties: {
    holder: { type: 'string', maxLength: 60 },
    mail: { type: 'string' },
    count: { type: 'integer' },
  },
  required: ['holder', 'mail', 'count'],
  additionalProperties: false,
};

export const tool = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  description: `Tool ${name}`,
  inputSchema: { type: 'object' },
  ...more,
});

export function guardFixture(): GuardFixture {
  return {
    tools: [
      tool('say'),
      tool('record', { outputSchema: cardSchema }),
      tool('large'),
      tool('breaks'),
    ],
    calls: [],
  };
}

/** A server whose answers are what it is called with. */
export function guardServer(fixture: GuardFixture): Server {
  const server = new Server(
    { name: 'guarded', version: '1' },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: fixture.tools }) as never);
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const { name, arguments: args = {}, _meta } = params;
    fixture.calls.push({ name, arguments: args });
    if (_meta?.progressToken !== undefined)
      await extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken: _meta.progressToken, progress: 1, message: 'half way' },
      });
    const said = String(args.say ?? '');
    if (name === 'breaks') throw new Error(said);
    if (name === 'large')
      return { content: [{ type: 'text', text: 'ü'.repeat(Number(args.size)) }] };
    if (name !== 'record') return { content: [{ type: 'text', text: said }] };
    const structuredContent = { holder: 'Ada', mail: said, count: 3 };
    return {
      content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
      structuredContent,
    };
  });
  return server;
}

/** How often a tool was called there. */
export function callsOf({ requests }: LegacyUpstream, name: string): number {
  return requests.filter(({ body }) => body?.method === 'tools/call' && body.params?.name === name)
    .length;
}
