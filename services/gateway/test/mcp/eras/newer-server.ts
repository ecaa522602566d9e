import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  inputRequired,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { keepAliveMs } from '@sluice/testkit';
import type { FixtureLog } from '../fixture-server.ts';

export interface NewerServer {
  readonly url: string;
  announce(): void;
  close(): Promise<void>;
}

type Json = Record<string, unknown>;

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
const tool = (name: string) => ({
  name,
  description: `Tool ${name}`,
  inputSchema: { type: 'object' as const },
});
const pages = [
  ['echo', 'headers', 'write'],
  ['slow', 'progress', 'announce'],
  ['sample', 'ask', 'roots', 'fails'],
].map((names) => names.map(tool));

/** What `fixtureServer` offers, in the newer era and in it alone. */
export async function startNewerServer(log: FixtureLog): Promise<NewerServer> {
  const handler = createMcpHandler(() => serverOf(log), { legacy: 'reject' });
  const handle = toNodeHandler(handler);
  const server = createServer(
    { keepAliveTimeout: keepAliveMs },
    (req, res) => void handle(req, res),
  );
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    announce() {
      handler.notify.toolsChanged();
      handler.notify.resourceUpdated('test://one');
    },
    async close() {
      await handler.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function serverOf(log: FixtureLog): Server {
  const server = new Server(
    { name: 'fixture', title: 'A fixture', version: '7.1', websiteUrl: 'https://example.org' },
    {
      instructions: 'Be careful with write.',
      capabilities: {
        tools: { listChanged: true },
        prompts: {},
        resources: { subscribe: true, listChanged: true },
        logging: {},
        completions: {},
        experimental: { 'example.org/odd': { kept: true } },
      },
    },
  );
  server.setRequestHandler('tools/list', ({ params }) => {
    const page = Number(params?.cursor ?? 0);
    const tools = pages[page] ?? [];
    return page + 1 < pages.length ? { tools, nextCursor: String(page + 1) } : { tools };
  });
  server.setRequestHandler('tools/call', (({ params }: { params: Json }, context: ServerContext) =>
    call(params, context, log)) as never);
  server.setRequestHandler('resources/list', () => ({
    resources: [
      { uri: 'test://one', name: 'one' },
      { uri: 'test://two', name: 'two' },
    ],
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://item/{id}', name: 'item' }],
  }));
  server.setRequestHandler('resources/read', ({ params }) => ({
    contents: [{ uri: params.uri, text: `content of ${params.uri}` }],
  }));
  server.setRequestHandler('prompts/list', () => ({
    prompts: [{ name: 'greet', arguments: [{ name: 'who' }] }],
  }));
  server.setRequestHandler('prompts/get', ({ params }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Hello ${params.arguments?.who}` } }],
  }));
  server.setRequestHandler('completion/complete', ({ params }) => ({
    completion: { values: [`${params.argument.value}!`] },
  }));
  return server;
}

async function call(params: Json, context: ServerContext, log: FixtureLog) {
  const { mcpReq } = context;
  const args = (params.arguments ?? {}) as Json;
  const answer = mcpReq.inputResponses?.answer as Json | undefined;
  switch (params.name) {
    case 'echo':
      return text(JSON.stringify(args));
    case 'write':
      log.writes += 1;
      return text(`${log.writes}`);
    case 'fails':
      return { ...text('it failed'), isError: true };
    case 'slow':
      mcpReq.signal.addEventListener('abort', () => (log.cancelled += 1));
      await delay(Number(args.ms ?? 10_000), undefined, { signal: mcpReq.signal }).catch(
        () => undefined,
      );
      return text('slept');
    case 'progress': {
      const progressToken = mcpReq._meta?.progressToken;
      const steps = Number(args.steps ?? 3);
      for (let progress = 1; progress <= steps; progress++) {
        if (progressToken !== undefined)
          await mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress, total: steps },
          });
        await mcpReq.log('info', `step ${progress}`);
      }
      return text('done');
    }
    case 'sample':
      if (answer !== undefined) return text(JSON.stringify(answer.content));
      return asked(
        inputRequired.createMessage({
          messages: [{ role: 'user', content: { type: 'text', text: String(args.say) } }],
          maxTokens: 10,
        }),
      );
    case 'ask':
      if (answer !== undefined) return text(JSON.stringify(answer));
      return asked(
        inputRequired.elicit({
          message: 'Your name?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
        }),
      );
    case 'roots':
      if (answer !== undefined) return text(JSON.stringify(answer.roots));
      return asked(inputRequired.listRoots());
    default:
      throw new Error(`unknown tool ${String(params.name)}`);
  }
}

function asked(answer: ReturnType<typeof inputRequired.listRoots>) {
  return inputRequired({ inputRequests: { answer } });
}
