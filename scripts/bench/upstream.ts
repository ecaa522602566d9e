import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  messageEvents,
  messageReply,
  paceMark,
  responseReply,
  streamEvents,
  unaryReply,
} from './canned.ts';
import { echoSockets } from './relay-sockets.ts';
import {
  agentEvents,
  agentReply,
  slowTool,
  streamingTool,
  toolReplies,
  toolStreamEvents,
} from './tool-canned.ts';

/**
 * The bench's model provider, a process of its own: answers every POST with the
 * same chat reply or the same 100 events, in Anthropic's format at `/messages`;
 * at `/responses` and below it everything with the same response.
 * A child of `main.ts`, which reads the port from its first message.
 *
 * Events leave one at a time, because written at once they would arrive
 * together and hide what a proxy spends on each. The caller chooses the pace
 * by the request's `user`: `bench-every-10` is one event each 10 ms, and
 * `bench-every-0` one each turn of the event loop, as a provider sends that is
 * faster than its caller.
 */
interface OpenStream {
  res: ServerResponse;
  events: readonly Buffer[];
  sent: number;
  everyMs: number;
  nextAt: number;
}
const open = new Set<OpenStream>();
let ticking: NodeJS.Timeout | undefined;

function tick(): void {
  const now = performance.now();
  for (const stream of open) {
    if (now < stream.nextAt) continue;
    stream.res.write(stream.events[stream.sent]);
    stream.nextAt += stream.everyMs;
    stream.sent += 1;
    if (stream.sent < stream.events.length) continue;
    stream.res.end();
    open.delete(stream);
  }
  if (open.size > 0) return;
  clearInterval(ticking);
  ticking = undefined;
}

function startStream(res: ServerResponse, events: readonly Buffer[], everyMs: number): void {
  res.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'x-request-id': 'req_bench',
    'openai-processing-ms': '12',
  });
  // The role comes with the first token, as vendors send it: they have nothing to say before.
  res.write(Buffer.concat(events.slice(0, 2)));
  if (everyMs === 0) {
    let sent = 2;
    const next = (): void => {
      res.write(events[sent]);
      sent += 1;
      if (sent < events.length && !res.destroyed) setImmediate(next);
      else res.end();
    };
    setImmediate(next);
    return;
  }
  const stream = { res, events, sent: 2, everyMs, nextAt: performance.now() + everyMs };
  open.add(stream);
  res.on('close', () => open.delete(stream));
  ticking ??= setInterval(tick, 1);
}

/** An MCP server at `/mcp`, an agent at `/agent`. */
function answerTools(url: string, body: string, res: ServerResponse): void {
  const { method = '', params } = JSON.parse(body === '' ? '{}' : body) as {
    method?: string;
    params?: { name?: string };
  };
  const isAgent = url.startsWith('/agent');
  if (!isAgent && params?.name === slowTool) {
    startStream(res, toolStreamEvents, 1_000);
    return;
  }
  if (isAgent ? method === 'message/stream' : params?.name === streamingTool) {
    startBurst(res, isAgent ? agentEvents : toolStreamEvents);
    return;
  }
  const reply = isAgent ? agentReply : toolReplies[method];
  if (reply === undefined) return void res.writeHead(202).end();
  res.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(reply),
    ...(method === 'initialize' ? { 'mcp-session-id': 'bench-0123456789abcdef' } : {}),
  });
  res.end(reply);
}

/** One event each turn of the event loop. */
function startBurst(res: ServerResponse, events: readonly Buffer[]): void {
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  let sent = 0;
  const next = (): void => {
    res.write(events[sent]);
    sent += 1;
    if (sent < events.length && !res.destroyed) setImmediate(next);
    else res.end();
  };
  next();
}

const server = createServer((req, res) => {
  if (req.url?.startsWith('/mcp') === true || req.url?.startsWith('/agent') === true) {
    const { url } = req;
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => answerTools(url, Buffer.concat(chunks).toString(), res));
    return;
  }
  let everyMs: number | undefined;
  req.on('data', (chunk: Buffer) => {
    const at = chunk.indexOf(paceMark);
    if (at !== -1)
      everyMs = Number.parseInt(
        chunk.toString('latin1', at + paceMark.length, at + paceMark.length + 6),
        10,
      );
  });
  req.on('end', () => {
    const isMessages = req.url?.endsWith('/messages') === true;
    if (everyMs !== undefined) {
      startStream(res, isMessages ? messageEvents : streamEvents, everyMs);
      return;
    }
    const isResponse = req.url?.includes('/responses') === true;
    const reply = isMessages ? messageReply : isResponse ? responseReply : unaryReply;
    res.writeHead(200, {
      'content-type': 'application/json',
      'content-length': reply.length,
      'x-request-id': 'req_bench',
      'openai-processing-ms': '12',
    });
    res.end(reply);
  });
});
echoSockets(server);
server.keepAliveTimeout = 120_000;
// Whoever opens thousands of connections at once is to wait for the proxy, and not for this.
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', 4096, () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('disconnect', () => process.exit(0));
