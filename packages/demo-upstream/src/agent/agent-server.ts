import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject, type JsonObject, VendorFault } from '../protocol.ts';
import { agentCard } from './agent-card.ts';
import { AgentTasks, type Task } from './agent-tasks.ts';
import { type AgentForm, answerIn, eventIn, taskIn, textOf } from './agent-words.ts';

export const agentPath = '/agent';

/** A demo A2A agent below one path: JSON-RPC and REST, of 0.3 and 1.0. */
export interface AgentServer {
  /** @param path  below the agent's own, without its query */
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    readText: () => Promise<string>,
  ): Promise<void>;
  /** Cancels what is at work. */
  close(): void;
}

class AgentFault extends Error {
  readonly code: number;
  readonly status: number;

  constructor(code: number, status: number, message: string) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

type Operation = 'send' | 'stream' | 'get' | 'cancel' | 'subscribe' | 'list';

const methods: Readonly<Record<string, Operation>> = {
  'message/send': 'send',
  'message/stream': 'stream',
  'tasks/get': 'get',
  'tasks/cancel': 'cancel',
  'tasks/resubscribe': 'subscribe',
};
const methodsOf1: Readonly<Record<string, Operation>> = {
  SendMessage: 'send',
  SendStreamingMessage: 'stream',
  GetTask: 'get',
  CancelTask: 'cancel',
  SubscribeToTask: 'subscribe',
  ListTasks: 'list',
};
const cards = ['/.well-known/agent-card.json', '/.well-known/agent.json'];

export function createAgentServer(): AgentServer {
  const tasks = new AgentTasks();

  /** One answer, or a stream of them as `tell` is called. @throws AgentFault */
  async function perform(
    operation: Operation,
    form: AgentForm,
    params: JsonObject,
    signal: AbortSignal,
    tell: (answer: JsonObject) => void,
  ): Promise<JsonObject | undefined> {
    if (operation === 'list') {
      const all = tasks.list().map((task) => taskIn(form, task));
      return { tasks: all, nextPageToken: '', pageSize: all.length, totalSize: all.length };
    }
    if (operation === 'send' || operation === 'stream') {
      const message = isObject(params.message) ? params.message : params.request;
      const text = textOf(message);
      if (text === '') throw new AgentFault(-32602, 400, 'The message has no text');
      const given = isObject(message) ? message.contextId : undefined;
      const task = tasks.begin(text, typeof given === 'string' && given !== '' ? given : undefined);
      if (operation === 'stream') return follow(task);
      if (!isAtOnce(form, params.configuration)) await tasks.finished(task);
      return answerIn(form, task);
    }
    const task = tasks.find(String(params.id));
    if (task === undefined) throw new AgentFault(-32001, 404, 'Task not found');
    if (operation === 'subscribe') return follow(task);
    if (operation === 'cancel' && !(await tasks.cancel(task)))
      throw new AgentFault(-32002, 400, 'The task is over');
    return taskIn(form, task);

    async function follow(task: Task): Promise<undefined> {
      await tasks.follow(task, (event) => tell(eventIn(form, event)), signal);
    }
  }

  async function answerRpc(text: string, response: ServerResponse, version: string): Promise<void> {
    let id: unknown = null;
    const isOf1 = version.startsWith('1.');
    const wrap = (result: JsonObject) => ({ jsonrpc: '2.0', id, result });
    try {
      const body = readJson(text);
      id = body.id ?? null;
      const operation = (isOf1 ? methodsOf1 : methods)[String(body.method)];
      if (operation === undefined) throw new AgentFault(-32601, 404, 'Method not found');
      const params = isObject(body.params) ? body.params : {};
      const form = isOf1 ? '1.0' : 'rpc-0.3';
      await reply(response, operation, 'application/json', wrap, (signal, tell) =>
        perform(operation, form, params, signal, tell),
      );
    } catch (error) {
      const { code, message } = faultOf(error);
      sendJson(response, 200, 'application/json', { jsonrpc: '2.0', id, error: { code, message } });
    }
  }

  async function answerRest(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    readText: () => Promise<string>,
  ): Promise<void> {
    const type = 'application/a2a+json';
    try {
      const found = restOperation(request.method ?? 'GET', path.replace(/^\/v1(?=\/)/, ''));
      if (found === undefined) throw new AgentFault(-32601, 404, 'There is no such path');
      const text = await readText();
      const params = text === '' ? {} : readJson(text);
      const form = path.startsWith('/v1/') ? 'rest-0.3' : '1.0';
      await reply(
        response,
        found.operation,
        type,
        (result) => result,
        (signal, tell) => perform(found.operation, form, { ...params, id: found.id }, signal, tell),
      );
    } catch (error) {
      const { status, message } = faultOf(error);
      const word = status === 404 ? 'NOT_FOUND' : 'INVALID_ARGUMENT';
      sendJson(response, status, type, { error: { code: status, status: word, message } });
    }
  }

  return {
    async answer(request, response, path, readText) {
      if (cards.includes(path)) {
        request.resume();
        const card = agentCard(`http://${request.headers.host ?? 'localhost'}${agentPath}`);
        sendJson(response, 200, 'application/json', card);
        return;
      }
      if (path !== '' && path !== '/') return answerRest(request, response, path, readText);
      if (request.method !== 'POST') {
        request.resume();
        sendJson(response, 405, 'application/json', { error: 'POST a JSON-RPC message here' });
        return;
      }
      const version = String(request.headers['a2a-version'] ?? '0.3');
      await answerRpc(await readText(), response, version);
    },
    close: () => tasks.close(),
  };
}

/** Whether the caller wants the task as it begins. A false `blocking` is left out in the REST form of 0.3. */
function isAtOnce(form: AgentForm, configuration: unknown): boolean {
  if (!isObject(configuration)) return false;
  if (form === '1.0') return configuration.returnImmediately === true;
  return form === 'rest-0.3' ? configuration.blocking !== true : configuration.blocking === false;
}

function restOperation(
  method: string,
  path: string,
): { operation: Operation; id?: string } | undefined {
  if (method === 'POST' && path === '/message:send') return { operation: 'send' };
  if (method === 'POST' && path === '/message:stream') return { operation: 'stream' };
  if (method === 'GET' && path === '/tasks') return { operation: 'list' };
  const [, id, verb] = /^\/tasks\/([^/:]+)(?::(cancel|subscribe))?$/.exec(path) ?? [];
  if (id === undefined) return undefined;
  if (verb === undefined) return method === 'GET' ? { operation: 'get', id } : undefined;
  if (verb === 'cancel' && method !== 'POST') return undefined;
  return { operation: verb as Operation, id };
}

/** Writes what the operation gives: one JSON answer, or events until it is over. */
async function reply(
  response: ServerResponse,
  operation: Operation,
  type: string,
  wrap: (answer: JsonObject) => JsonObject,
  perform: (
    signal: AbortSignal,
    tell: (answer: JsonObject) => void,
  ) => Promise<JsonObject | undefined>,
): Promise<void> {
  const left = new AbortController();
  response.once('close', () => left.abort());
  const answer = await perform(left.signal, (event) => {
    if (response.destroyed) return;
    if (!response.headersSent)
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    response.write(`data: ${JSON.stringify(wrap(event))}\n\n`);
  });
  if (answer === undefined || operation === 'stream' || operation === 'subscribe') response.end();
  else sendJson(response, 200, type, wrap(answer));
}

/** @throws AgentFault */
function readJson(text: string): JsonObject {
  try {
    const body: unknown = JSON.parse(text);
    if (isObject(body)) return body;
  } catch {}
  throw new AgentFault(-32700, 400, 'The body is no JSON object');
}

function faultOf(error: unknown): { code: number; status: number; message: string } {
  if (error instanceof AgentFault) return error;
  if (error instanceof VendorFault)
    return { code: -32600, status: error.status, message: error.message };
  return { code: -32603, status: 500, message: 'The agent had an error' };
}

function sendJson(response: ServerResponse, status: number, type: string, body: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': type });
  response.end(JSON.stringify(body));
}
