import { createHash } from 'node:crypto';
import { json, type RecordedRequest, refuseMessages, type UpstreamHandler } from '@sluice/testkit';

interface Block {
  cache_control?: { ttl?: string };
}

/** How many blocks before a mark are looked at for a prefix that is held. */
const lookBack = 20;

/**
 * An upstream of messages that keeps what prompts begin with, up to each mark,
 * as the vendor does: for each key apart, and told in its usage. A token is four characters.
 */
export function keepingPrefixes(refuses: (key: string) => boolean = () => false): UpstreamHandler {
  const held = new Map<string, Set<string>>();
  return (request: RecordedRequest) => {
    const key = String(request.headers['x-api-key']);
    if (refuses(key))
      return json(503, { type: 'error', error: { type: 'api_error', message: 'x' } });
    const refusal = refuseMessages(request.json());
    if (refusal !== undefined) return json(refusal.status, refusal.body);
    const prefixes = held.get(key) ?? new Set();
    held.set(key, prefixes);
    const { input, read, written } = useOf(request.json() as Record<string, unknown>, prefixes);
    return json(200, {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-4-5',
      content: [{ type: 'text', text: 'Yes.' }],
      stop_reason: 'end_turn',
      usage: {
        input_tokens: input - read - written,
        cache_read_input_tokens: read,
        cache_creation_input_tokens: written,
        output_tokens: 2,
      },
    });
  };
}

function useOf(body: Record<string, unknown>, prefixes: Set<string>) {
  const blocks = [...blocksOf(body.tools), ...blocksOf(body.system)];
  for (const { role, content } of body.messages as { role: string; content: unknown }[])
    blocks.push(...blocksOf(content).map((block) => ({ ...block, role })));
  const hash = createHash('sha256');
  let sum = 0;
  const ends = blocks.map(({ cache_control: mark, ...block }) => {
    const text = JSON.stringify(block);
    sum += Math.ceil(text.length / 4);
    hash.update(text);
    return { prefix: hash.copy().digest('hex'), sum, isMarked: mark !== undefined };
  });
  const marks = ends.flatMap(({ isMarked }, index) => (isMarked ? [index] : []));
  const known = ends.findLastIndex(
    ({ prefix }, index) =>
      prefixes.has(prefix) && marks.some((mark) => index <= mark && mark - index <= lookBack),
  );
  const read = ends[known]?.sum ?? 0;
  const last = ends[marks.at(-1) ?? -1];
  for (const mark of marks) prefixes.add(ends[mark]?.prefix ?? '');
  return { input: sum, read, written: Math.max(0, (last?.sum ?? 0) - read) };
}

function blocksOf(value: unknown): Block[] {
  if (typeof value === 'string') return [{ type: 'text', text: value } as Block];
  return Array.isArray(value) ? (value as Block[]) : [];
}
