import type { IncomingMessage, ServerResponse } from 'node:http';

/** Where pages of any origin place calls, with a secret that was made for them. */
const paths: ReadonlySet<string> = new Set([
  '/v1/realtime/calls',
  '/v1/realtime/translations/calls',
]);

const readable = 'location, x-service-request-id, x-service-trace-id, x-request-id, retry-after';
/** Beside these, what a browser sends by itself; the last is of OpenAI's clients. */
const sendable = 'authorization, content-type, x-openai-agents-sdk';

/**
 * Tells browsers that a page may read the answer of a call. No cookie says who asks here, so that a page may do nothing
 * that its secret does not let anybody do. @returns whether the request was a browser's question, and is answered
 */
export function letPagesCall(req: IncomingMessage, res: ServerResponse): boolean {
  const url = req.url ?? '';
  if (!url.startsWith('/v1/realtime/') || !paths.has(url.split('?', 1)[0] ?? '')) return false;
  res.setHeader('access-control-allow-origin', '*');
  if (req.method !== 'OPTIONS') {
    res.setHeader('access-control-expose-headers', readable);
    return false;
  }
  res.writeHead(204, {
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': sendable,
    'access-control-max-age': '600',
  });
  res.end();
  return true;
}
