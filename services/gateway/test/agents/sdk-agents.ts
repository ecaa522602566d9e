import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentCard, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
} from '@a2a-js/sdk/server';
import {
  agentCardHandler,
  jsonRpcHandler,
  restHandler,
  UserBuilder,
} from '@a2a-js/sdk/server/express';
import type { AgentCard as OldCard, Message as OldMessage } from 'a2a-sdk-03';
import {
  type AgentExecutor as OldExecutor,
  DefaultRequestHandler as OldHandler,
  InMemoryTaskStore as OldStore,
} from 'a2a-sdk-03/server';
import {
  UserBuilder as OldUserBuilder,
  agentCardHandler as oldCardHandler,
  restHandler as oldRestHandler,
  jsonRpcHandler as oldRpcHandler,
} from 'a2a-sdk-03/server/express';
import express, { type Express } from 'express';

/** An agent that somebody else wrote, and every request that reached it. */
export interface SdkAgent {
  readonly url: string;
  readonly requests: { method: string; path: string; headers: IncomingHttpHeaders }[];
  close(): Promise<void>;
}

const usage = { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 };

async function host(mount: (app: Express, url: () => string) => void): Promise<SdkAgent> {
  const app = express();
  const requests: SdkAgent['requests'] = [];
  app.use((req, _res, next) => {
    requests.push({ method: req.method, path: req.originalUrl, headers: req.headers });
    next();
  });
  const server: Server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`;
  mount(app, () => url);
  return {
    url,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Works until it is told to stop, where the text asks for it; else it is done at once. */
const isSlow = (text: string) => text.startsWith('slow');

/** An agent of `@a2a-js/sdk` 1.3: JSON-RPC at its address, REST below it. @param pushes whether it calls back */
export function startAgent(pushes = false): Promise<SdkAgent> {
  const cancelled = new Set<string>();
  const executor: AgentExecutor = {
    async execute({ taskId, contextId, userMessage }, bus) {
      const [part] = userMessage.parts;
      const text = part?.content?.$case === 'text' ? part.content.value : '';
      const status = (state: TaskState) => ({ state, message: undefined, timestamp: undefined });
      bus.publish(
        AgentEvent.task({
          id: taskId,
          contextId,
          status: status(TaskState.TASK_STATE_WORKING),
          artifacts: [],
          history: [],
          metadata: undefined,
        }),
      );
      while (isSlow(text) && !cancelled.has(taskId))
        await new Promise((resolve) => setTimeout(resolve, 20));
      const isOff = cancelled.has(taskId);
      if (!isOff)
        bus.publish(
          AgentEvent.artifactUpdate({
            taskId,
            contextId,
            artifact: {
              artifactId: 'a',
              name: '',
              description: '',
              parts: [
                {
                  content: { $case: 'text', value: `heard ${text}` },
                  metadata: undefined,
                  filename: '',
                  mediaType: '',
                },
              ],
              metadata: undefined,
              extensions: [],
            },
            append: false,
            lastChunk: true,
            metadata: undefined,
          }),
        );
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId,
          status: status(isOff ? TaskState.TASK_STATE_CANCELED : TaskState.TASK_STATE_COMPLETED),
          metadata: { usage },
        }),
      );
      bus.finished();
    },
    async cancelTask(taskId) {
      cancelled.add(taskId);
    },
  };
  return host((app, url) => {
    const card = AgentCard.fromJSON({
      name: 'Stranger',
      description: 'Repeats',
      version: '1',
      capabilities: { streaming: true, pushNotifications: pushes },
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [{ id: 'repeat', name: 'Repeat', description: 'Repeats', tags: [] }],
      supportedInterfaces: [
        { url: url(), protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: `${url()}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      ],
      signatures: [{ protected: 'x', signature: 'y' }],
    });
    const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
    const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
    app.use(
      '/base/.well-known/agent-card.json',
      agentCardHandler({ agentCardProvider: requestHandler }),
    );
    app.use('/base/rest', restHandler(options));
    app.use('/base', jsonRpcHandler(options));
  });
}

/** An agent of `@a2a-js/sdk` 0.3.14, with REST outside of its address. */
export function startOldAgent(pushes = false): Promise<SdkAgent> {
  const cancelled = new Set<string>();
  const executor: OldExecutor = {
    async execute({ taskId, contextId, userMessage }, bus) {
      const [part] = (userMessage as OldMessage).parts;
      const text = part?.kind === 'text' ? part.text : '';
      bus.publish({ kind: 'task', id: taskId, contextId, status: { state: 'working' } });
      while (isSlow(text) && !cancelled.has(taskId))
        await new Promise((resolve) => setTimeout(resolve, 20));
      const isOff = cancelled.has(taskId);
      if (!isOff)
        bus.publish({
          kind: 'artifact-update',
          taskId,
          contextId,
          artifact: { artifactId: 'a', parts: [{ kind: 'text', text: `heard ${text}` }] },
        });
      bus.publish({
        kind: 'status-update',
        taskId,
        contextId,
        status: { state: isOff ? 'canceled' : 'completed' },
        final: true,
        metadata: { usage },
      });
      bus.finished();
    },
    async cancelTask(taskId) {
      cancelled.add(taskId);
    },
  };
  return host((app, url) => {
    const root = new URL(url()).origin;
    const card: OldCard = {
      name: 'Old stranger',
      description: 'Repeats',
      protocolVersion: '0.3.0',
      version: '1',
      url: url(),
      preferredTransport: 'JSONRPC',
      additionalInterfaces: [
        { url: url(), transport: 'JSONRPC' },
        { url: `${root}/elsewhere`, transport: 'HTTP+JSON' },
        { url: 'localhost:4001', transport: 'GRPC' },
      ],
      capabilities: { streaming: true, pushNotifications: pushes },
      defaultInputModes: ['text'],
      defaultOutputModes: ['text'],
      skills: [{ id: 'repeat', name: 'Repeat', description: 'Repeats', tags: [] }],
    };
    const requestHandler = new OldHandler(card, new OldStore(), executor);
    const options = { requestHandler, userBuilder: OldUserBuilder.noAuthentication };
    app.use(
      '/base/.well-known/agent-card.json',
      oldCardHandler({ agentCardProvider: requestHandler }),
    );
    app.use('/elsewhere', oldRestHandler(options));
    app.use('/base', oldRpcHandler(options));
  });
}
