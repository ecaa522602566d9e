import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  type McpHttpHandler,
  McpServer,
} from '@modelcontextprotocol/server';
import { keepAliveMs } from '@sluice/testkit';
import { z } from 'zod';

export interface ModernUpstream {
  readonly url: string;
  readonly headers: IncomingHttpHeaders[];
  readonly notify: McpHttpHandler['notify'];
  /** Calls that were broken off by their caller. */
  readonly broken: string[];
  /** Ends all that is open. */
  cut(): void;
  close(): Promise<void>;
}

/** A server of the SDK of the newer era; `reject` = of that era alone. */
export async function startModernUpstream(
  legacy: 'stateless' | 'reject' = 'reject',
): Promise<ModernUpstream> {
  const headers: IncomingHttpHeaders[] = [];
  const broken: string[] = [];
  const handler = createMcpHandler(() => fixture(broken), { legacy });
  const handle = toNodeHandler(handler);
  const server = createServer({ keepAliveTimeout: keepAliveMs }, (req, res) => {
    headers.push(req.headers);
    void handle(req, res);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    headers,
    broken,
    notify: handler.notify,
    cut: () => server.closeAllConnections(),
    async close() {
      await handler.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

function fixture(broken: string[]): McpServer {
  const server = new McpServer(
    { name: 'modern-fixture', version: '3' },
    {
      instructions: 'Ask first.',
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        logging: {},
      },
    },
  );
  const said = z.object({ say: z.string() });
  server.registerTool('echo', { inputSchema: said }, async ({ say }) => text(say));
  server.registerTool('off', { inputSchema: said }, async ({ say }) => text(say));
  const marked = (name: string) => z.string().optional().meta({ 'x-mcp-header': name });
  const places = z.object({ tenant: marked('Tenant'), region: marked('Region') });
  server.registerTool('placed', { inputSchema: places }, async (sent) =>
    text(JSON.stringify(sent)),
  );
  server.registerTool('fails', {}, async () => ({ ...text('it failed'), isError: true }));
  server.registerTool('progress', {}, async (context) => {
    const { _meta } = context.mcpReq;
    for (const step of [1, 2, 3])
      if (_meta?.progressToken !== undefined)
        await context.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken: _meta.progressToken, progress: step, total: 3 },
        });
    return text('done');
  });
  server.registerTool('slow', {}, async (context) => {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 10_000);
      context.mcpReq.signal.addEventListener('abort', () => {
        broken.push('slow');
        clearTimeout(timer);
        resolve();
      });
    });
    return text('slept');
  });
  server.registerTool('confirm', { inputSchema: said }, async ({ say }, context) => {
    const schema = z.object({ name: z.string() });
    const answer = acceptedContent(context.mcpReq.inputResponses, 'who', schema);
    if (answer === undefined)
      return inputRequired({
        inputRequests: { who: inputRequired.elicit({ message: 'Who?', requestedSchema: schema }) },
        requestState: `state of ${say}`,
      });
    return text(`${say} by ${String(answer.name)}`);
  });
  server.registerResource('one', 'test://one', {}, async (uri) => ({
    contents: [{ uri: uri.href, text: 'content' }],
  }));
  return server;
}
