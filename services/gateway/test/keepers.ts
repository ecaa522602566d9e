import { json, sse, startUpstream, type Upstream } from '@sluice/testkit';

/** Servers that keep what they make, in the order in which they were started. */
export const upstreams: Upstream[] = [];
/** What each upstream has made, by its id. */
export const kept: Map<string, object>[] = [];
let made = 0;

export const kinds: Record<string, string> = {
  responses: 'response',
  conversations: 'conversation',
  vector_stores: 'vector_store',
  assistants: 'assistant',
  threads: 'thread',
  files: 'file',
  batches: 'batch',
  containers: 'container',
  skills: 'skill',
};

/** A server that keeps what it makes, and knows nothing of what others made. */
export async function startKeeper(): Promise<void> {
  const upstream = await startUpstream();
  const objects = new Map<string, object>();
  upstream.handle(({ method, path, body }) => {
    const [, , root = '', id, ...below] =
      path.replace('/audio/voices', '/voices').split('?')[0]?.split('/') ?? [];
    const asked = body.length === 0 ? {} : readJson(body);
    if (method === 'POST' && id === undefined) {
      const object = makeObject(root, asked);
      objects.set(object.id, object);
      return asked.stream === true ? sse(eventsOf(object)) : json(200, object);
    }
    if (method === 'GET' && id === undefined) return json(200, { object: 'list', data: [] });
    const found = objects.get(id ?? '');
    if (found === undefined) return json(404, { error: { message: `no ${root} ${id}` } });
    if (method === 'DELETE' && below.length === 0) objects.delete(id ?? '');
    return json(200, below.length === 0 ? found : { object: 'list', data: [], of: id });
  });
  upstreams.push(upstream);
  kept.push(objects);
}

function readJson(body: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(body.toString()) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function makeObject(root: string, { model, background }: Record<string, unknown>) {
  made++;
  const object = root === 'voices' ? 'audio.voice' : (kinds[root] ?? root);
  return {
    id: `${object}_${made}`,
    object,
    ...(model === undefined ? {} : { model }),
    ...(background === true ? { background, status: 'queued' } : {}),
    ...(object === 'response' ? { output: [], usage: null } : {}),
  };
}

export function eventsOf(object: object): string[] {
  const event = (type: string) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, response: object })}\n\n`;
  return [event('response.created'), event('response.completed')];
}
