import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { agentPath, createAgentServer } from './agent/agent-server.ts';
import { anthropicVendor, countTokens, createMessage } from './anthropic-messages.ts';
import { formAsJson } from './form-body.ts';
import { createDemoBatches, type DemoBatches } from './jobs/demo-batches.ts';
import { createDemoJobs, type DemoJobs } from './jobs/demo-jobs.ts';
import { createMcpServer, mcpPath } from './mcp/mcp-server.ts';
import { createSpeech, createTranscript } from './openai-audio.ts';
import { createChatCompletion } from './openai-chat.ts';
import { createCompletion } from './openai-completions.ts';
import { createEmbeddings } from './openai-embeddings.ts';
import { createImages } from './openai-images.ts';
import { createModeration } from './openai-moderations.ts';
import { listModels, openAiVendor, retrieveModel } from './openai-vendor.ts';
import { type DemoAnswer, type DemoEndpoint, type Vendor, VendorFault } from './protocol.ts';
import { createDemoRealtime } from './realtime/demo-realtime.ts';
import { createRerank } from './rerank.ts';
import { scriptOf } from './scripted-model.ts';
import { DemoResponses } from './stored/demo-responses.ts';

export interface DemoUpstream {
  readonly url: string;
  readonly port: number;
  /** Lets answers under way finish for a moment, then cuts them. */
  close(): Promise<void>;
}

type Endpoints = Readonly<Record<string, DemoEndpoint>>;

const responsesPath = '/v1/responses';

/** Those that keep nothing. */
const endpoints: Endpoints = {
  '/v1/chat/completions': createChatCompletion,
  '/v1/completions': createCompletion,
  '/v1/embeddings': createEmbeddings,
  '/v1/rerank': createRerank,
  '/v1/moderations': createModeration,
  '/v1/images/generations': createImages,
  '/v1/images/edits': createImages,
  '/v1/audio/speech': createSpeech,
  '/v1/audio/transcriptions': createTranscript,
  '/v1/audio/translations': createTranscript,
  '/v1/messages': createMessage,
  '/v1/messages/count_tokens': countTokens,
};

const bodyBytesMax = 64 * 1024 * 1024;
const drainMs = 2000;

/** Listens and answers until closed. Port 0 takes a free one. */
export async function startDemoUpstream(options: {
  port: number;
  host?: string;
}): Promise<DemoUpstream> {
  const host = options.host ?? '127.0.0.1';
  const mcp = createMcpServer();
  const agent = createAgentServer();
  const realtime = createDemoRealtime();
  const responses = new DemoResponses();
  const all: Endpoints = {
    ...endpoints,
    [responsesPath]: (body, context) => responses.create(body, context),
  };
  const kept: Kept = {
    endpoints: all,
    responses,
    jobs: createDemoJobs(),
    batches: createDemoBatches((path, text) => answerLine(all, path, text)),
  };
  const server = createServer((request, response) => {
    const path = pathOf(request);
    if (path === mcpPath) {
      void mcp.answer(request, response, () => readText(request));
      return;
    }
    if (path === agentPath || path.startsWith(`${agentPath}/`)) {
      const below = path.slice(agentPath.length);
      agent
        .answer(request, response, below, () => readText(request))
        .catch(() => response.destroy());
      return;
    }
    const answering = path.startsWith('/v1/realtime/')
      ? answerCall(request, response)
      : respond(request, response, kept);
    answering.catch((error: unknown) => {
      const vendor = vendorOf(request.url ?? '');
      const fault =
        error instanceof VendorFault ? error : new VendorFault(500, 'The server had an error.');
      if (response.headersSent || response.destroyed) response.destroy();
      else sendJson(response, fault.status, vendor.errorBody(fault), fault.headers);
    });
  });
  async function answerCall(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!(await realtime.answer(request, response, () => readText(request))))
      await respond(request, response, kept);
  }
  server.on('upgrade', realtime.upgrade);
  // Gateways keep connections open; ours must not close them while a request is on its way.
  server.keepAliveTimeout = 75_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), drainMs);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        mcp.close();
        agent.close();
        realtime.close();
        server.closeIdleConnections();
      }),
  };
}

interface Kept {
  readonly endpoints: Endpoints;
  readonly responses: DemoResponses;
  readonly jobs: DemoJobs;
  readonly batches: DemoBatches;
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  { endpoints, responses, jobs, batches }: Kept,
): Promise<void> {
  const path = pathOf(request);
  const { method = 'GET', url = '/', headers } = request;
  const stored = await (responses.answer(method, url, () => readText(request)) ??
    batches.answer(method, url, headers['content-type'] ?? '', () => readBytes(request)));
  if (stored !== undefined) {
    if (!request.readableEnded) request.resume();
    await send(response, stored);
    return;
  }
  const job = await jobs.answer(method, url, () => readText(request));
  if (job !== undefined) {
    if (!request.readableEnded) request.resume();
    if (job.kind === 'json') sendJson(response, 200, job.body);
    else {
      response.writeHead(200, {
        'content-type': 'video/mp4',
        'content-length': job.bytes.length,
      });
      response.end(job.bytes);
    }
    return;
  }
  const endpoint = endpoints[path];
  if (endpoint === undefined || method !== 'POST') {
    request.resume();
    sendJson(response, 200, answerToOther(endpoints, request, path));
    return;
  }

  const vendor = vendorOf(path);
  const text = await readText(request);
  const body = vendor.parseBody(text, request);
  const script = scriptOf(body.model, request.headers['x-demo-events']);
  // What a model's name asks for comes to pass in the background then.
  const isAnsweredAtOnce = path === responsesPath && body.background === true;
  if (script.delayMs > 0 && !isAnsweredAtOnce) await delay(script.delayMs);
  if (script.errorStatus !== undefined && !isAnsweredAtOnce)
    throw vendor.scriptedFault(script.errorStatus);
  await send(response, endpoint(body, { script, bytes: text.length, headers: request.headers }));
}

function pathOf(request: IncomingMessage): string {
  const url = request.url ?? '/';
  const queryAt = url.indexOf('?');
  return queryAt < 0 ? url : url.slice(0, queryAt);
}

/** The answer to what takes no body. @throws VendorFault for what does not exist. */
function answerToOther(endpoints: Endpoints, request: IncomingMessage, path: string): unknown {
  const method = request.method ?? 'GET';
  if (method === 'GET' || method === 'HEAD') {
    if (path === '/health') return { status: 'ok' };
    if (path === '/v1/models') return listModels(request.headers);
    if (path.startsWith('/v1/models/'))
      return retrieveModel(path.slice('/v1/models/'.length), request.headers);
  }
  if (endpoints[path] === undefined) throw new VendorFault(404, `Invalid URL (${method} ${path})`);
  const hint = '(HINT: Perhaps you meant to use a different HTTP method?)';
  throw new VendorFault(405, `Not allowed to ${method} on ${path} ${hint}`);
}

function vendorOf(path: string): Vendor {
  return path.startsWith('/v1/messages') ? anthropicVendor : openAiVendor;
}

/** What a line of a batch is answered. @throws VendorFault */
function answerLine(endpoints: Endpoints, path: string, text: string): unknown {
  const body = openAiVendor.parseBody(text);
  const script = scriptOf(body.model, undefined);
  if (script.errorStatus !== undefined) throw openAiVendor.scriptedFault(script.errorStatus);
  const answer = endpoints[path]?.(body, { script, bytes: text.length, headers: {} });
  if (answer?.kind === 'json') return answer.body;
  throw new VendorFault(400, 'Streams are not supported in batches.');
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bodyBytesMax) throw new VendorFault(413, 'The request is too large.');
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length);
}

/** The body as text; a form as the JSON that stands for it. */
async function readText(request: IncomingMessage): Promise<string> {
  const body = await readBytes(request);
  const isForm = /^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '');
  return isForm ? formAsJson(body, request) : body.toString('utf8');
}

async function send(response: ServerResponse, answer: DemoAnswer): Promise<void> {
  if (answer.kind === 'json') {
    sendJson(response, 200, answer.body, answer.headers);
    return;
  }
  const isStream = answer.kind === 'sse';
  response.writeHead(200, {
    'content-type': isStream ? 'text/event-stream; charset=utf-8' : answer.contentType,
    ...(isStream ? { 'cache-control': 'no-cache' } : {}),
    ...answer.headers,
  });
  const delayMs = isStream ? answer.eventDelayMs : 0;
  for await (const piece of isStream ? answer.events : answer.pieces) {
    if (response.destroyed) return;
    if (!response.write(piece)) await drained(response);
    // One turn of the loop per event: written in one turn they would leave as one packet, which no model does.
    await (delayMs > 0 ? delay(delayMs) : new Promise(setImmediate));
  }
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', resolve);
    response.once('close', resolve);
  });
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}
