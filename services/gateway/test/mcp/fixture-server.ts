import { setTimeout as delay } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

/** What all sessions of one fixture did. */
export interface FixtureLog {
  /** How often `write` was carried out. */
  writes: number;
  /** Of slow calls: those that were told to stop. */
  cancelled: number;
}

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

/** A server of the older era with something of everything, one for each session. */
export function fixtureServer(log: FixtureLog): Server {
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
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const page = Number(params?.cursor ?? 0);
    const tools = pages[page] ?? [];
    return page + 1 < pages.length ? { tools, nextCursor: String(page + 1) } : { tools };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const { name, arguments: args = {}, _meta } = params;
    switch (name) {
      case 'echo':
        return text(JSON.stringify(args));
      case 'headers':
        return text(JSON.stringify(extra.requestInfo?.headers ?? {}));
      case 'write':
        log.writes += 1;
        return text(`${log.writes}`);
      case 'fails':
        return { ...text('it failed'), isError: true };
      case 'slow':
        extra.signal.addEventListener('abort', () => (log.cancelled += 1));
        await delay(Number(args.ms ?? 10_000), undefined, { signal: extra.signal }).catch(
          () => undefined,
        );
        return text('slept');
      case 'progress': {
        const steps = Number(args.steps ?? 3);
        for (let step = 1; step <= steps; step++) {
          await delay(Number(args.ms ?? 1));
          if (_meta?.progressToken !== undefined)
            await extra.sendNotification({
              method: 'notifications/progress',
              params: { progressToken: _meta.progressToken, progress: step, total: steps },
            });
          await extra.sendNotification({
            method: 'notifications/message',
            params: { level: 'info', data: `step ${step}` },
          });
        }
        return text('done');
      }
      case 'announce':
        await server.sendToolListChanged();
        await server.sendResourceUpdated({ uri: 'test://one' });
        return text('announced');
      case 'sample': {
        const { content } = await extra.sendRequest(
          {
            method: 'sampling/createMessage',
            params: {
              messages: [{ role: 'user', content: { type: 'text', text: String(args.say) } }],
              maxTokens: 10,
            },
          },
          (await import('@modelcontextprotocol/sdk/types.js')).CreateMessageResultSchema,
        );
        return text(JSON.stringify(content));
      }
      case 'ask': {
        const { ElicitResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
        const answers: unknown[] = [];
        for (let asked = 0; asked < Number(args.times ?? 1); asked++)
          answers.push(
            await extra.sendRequest(
              {
                method: 'elicitation/create',
                params: {
                  message: 'Your name?',
                  requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
                },
              },
              ElicitResultSchema,
            ),
          );
        return text(answers.map((answer) => JSON.stringify(answer)).join('\n'));
      }
      // As most servers ask: on the session's own stream, and not on that of the call.
      case 'ask apart': {
        const properties = { name: { type: 'string' as const } };
        const requestedSchema = { type: 'object' as const, properties };
        return text(JSON.stringify(await server.elicitInput({ message: 'Who?', requestedSchema })));
      }
      case 'roots': {
        const { roots } = await extra.sendRequest(
          { method: 'roots/list' },
          (await import('@modelcontextprotocol/sdk/types.js')).ListRootsResultSchema,
        );
        return text(JSON.stringify(roots));
      }
      default:
        throw new Error(`unknown tool ${name}`);
    }
  });
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: [
      { uri: 'test://one', name: 'one' },
      { uri: 'test://two', name: 'two' },
    ],
  }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [{ uriTemplate: 'test://item/{id}', name: 'item' }],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => ({
    contents: [{ uri: params.uri, text: `content of ${params.uri}` }],
  }));
  server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    if (params.uri === 'test://none') throw new McpError(-32002, 'Resource not found');
    return {};
  });
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: [{ name: 'greet', arguments: [{ name: 'who' }] }],
  }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Hello ${params.arguments?.who}` } }],
  }));
  server.setRequestHandler(CompleteRequestSchema, ({ params }) => ({
    completion: { values: [`${params.argument.value}!`] },
  }));
  server.setRequestHandler(SetLevelRequestSchema, () => ({}));
  return server;
}
