/**
 * Marks of the prompt cache as Anthropic takes them, its clouds alike.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching, November 2026.
 */
import { type JsonRecord, listOf, recordOf } from './refusal.ts';

/** Where a mark stands, and how long it asks the prefix to be kept. */
export interface CacheMark {
  at: string;
  ttl: string;
}

const marksMax = 4;

/** `marks` in the order in which they are read: tools, system, messages, the request's own. */
export function faultOfMarks(marks: readonly CacheMark[]): string | undefined {
  if (marks.length > marksMax)
    return `A maximum of ${marksMax} blocks with cache_control may be provided. Found ${marks.length}.`;
  let isShort = false;
  for (const { at, ttl } of marks) {
    if (ttl !== '5m' && ttl !== '1h')
      return `${at}.cache_control.ephemeral.ttl: Input should be '5m' or '1h'`;
    if (ttl === '1h' && isShort)
      return `${at}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: \`tools\`, \`system\`, \`messages\`.`;
    isShort ||= ttl === '5m';
  }
  return undefined;
}

/** A request of messages. */
export function faultOfCacheControl(body: JsonRecord): string | undefined {
  const marks: CacheMark[] = [];
  const look = (block: JsonRecord, at: string): string | undefined => {
    for (const [index, inner] of listOf(block.content).entries()) {
      const fault = look(recordOf(inner), `${at}.content.${index}`);
      if (fault !== undefined) return fault;
    }
    if (block.cache_control === undefined || block.cache_control === null) return undefined;
    const { type, ttl = '5m', ...more } = recordOf(block.cache_control);
    if (type !== 'ephemeral') return `${at}.cache_control.type: Input should be 'ephemeral'`;
    const [further] = Object.keys(more);
    if (further !== undefined)
      return `${at}.cache_control.ephemeral.${further}: Extra inputs are not permitted`;
    if (block.type === 'thinking' || block.type === 'redacted_thinking')
      return `${at}.${block.type}.cache_control: Extra inputs are not permitted`;
    if (block.type === 'text' && String(block.text).trim() === '')
      return `${at}.text: cache_control cannot be set for empty text blocks`;
    if (block.defer_loading === true)
      return `Tool '${block.name}' cannot have both defer_loading=true and cache_control set.`;
    marks.push({ at, ttl: String(ttl) });
    return undefined;
  };
  for (const key of ['tools', 'system', 'messages'])
    for (const [index, value] of listOf(body[key]).entries()) {
      const fault = look(recordOf(value), `${key}.${index}`);
      if (fault !== undefined) return fault;
    }
  if (body.cache_control !== undefined && body.cache_control !== null)
    marks.push({ at: 'request', ttl: String(recordOf(body.cache_control).ttl ?? '5m') });
  return faultOfMarks(marks);
}

/** Models whose prefixes Converse keeps for an hour. */
const keptAnHour = /claude-(?:opus|sonnet|haiku)-(?:4-[5-9]|[5-9])|claude-(?:fable|mythos)/;

/** A request of Converse, where a mark is a block of its own. https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html */
export function faultOfCachePoints(model: string, body: JsonRecord): string | undefined {
  const tools = pointsIn(listOf(recordOf(body.toolConfig).tools), 'toolConfig.tools');
  const marks = [
    ...tools,
    ...pointsIn(listOf(body.system), 'system'),
    ...listOf(body.messages).flatMap((turn, index) =>
      pointsIn(listOf(recordOf(turn).content), `messages.${index}.content`),
    ),
  ];
  if (marks.length === 0) return undefined;
  const isClaude = model.includes('anthropic.');
  if (!isClaude && !model.includes('amazon.nova'))
    return 'You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information.';
  if (!isClaude && tools.length > 0)
    return 'This model does not support cache points in toolConfig.tools.';
  const hour = marks.find(({ ttl }) => ttl === '1h');
  if (hour !== undefined && !(isClaude && keptAnHour.test(model)))
    return `${hour.at}: extended TTL prompt caching is not supported by this model.`;
  return faultOfMarks(marks);
}

function pointsIn(blocks: readonly unknown[], at: string): CacheMark[] {
  return blocks.flatMap((value, index) => {
    const { cachePoint } = recordOf(value);
    if (cachePoint === undefined) return [];
    return [{ at: `${at}.${index}`, ttl: String(recordOf(cachePoint).ttl ?? '5m') }];
  });
}
