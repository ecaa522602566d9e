import type {
  CacheControl,
  ChatMessage,
  ChatPart,
  ChatRequest,
  ChatTool,
  JsonObject,
} from '@sluice/contracts';
import { objectOf } from '../json/json-access.ts';

/** Which marks of the prompt cache an upstream takes. */
export interface CacheRules {
  /** At most so many, the request's own among them. */
  readonly marksMax: number;
  readonly onTools: boolean;
  readonly onAnswers: boolean;
  /** The request's own, which asks for all there is; `implied` = that is what happens anyway. */
  readonly onRequest: boolean | 'implied';
  /** A prefix may be asked to be kept for an hour. */
  readonly anHour: boolean;
  /** For half an hour or half a day, in OpenAI's words: `30m`, `12h`. */
  readonly halfADay?: true;
}

export const noCacheMarks: CacheRules = {
  marksMax: 0,
  onTools: false,
  onAnswers: false,
  onRequest: false,
  anHour: false,
};

/** https://platform.claude.com/docs/en/build-with-claude/prompt-caching, November 2026. */
export const claudeCacheMarks: CacheRules = {
  marksMax: 4,
  onTools: true,
  onAnswers: true,
  onRequest: true,
  anHour: true,
};

/** What carries a mark. Marks are told apart by it. */
type Holder = ChatPart | ChatTool | ChatRequest;

interface Mark {
  readonly holder: Holder;
  readonly control: CacheControl;
  readonly path: string;
  readonly place: 'tools' | 'system' | 'answers' | 'turns' | 'request';
}

/**
 * The request with those marks alone that the upstream takes: what it refuses
 * would cost the whole request, what is left out costs a cache. A request
 * without any is returned as it is.
 */
export function fitCacheMarks(
  request: ChatRequest,
  rules: CacheRules,
  dropped: string[],
): ChatRequest {
  const marks = marksIn(request, rules);
  if (marks.length === 0) return request;
  const fitted = new Map<Holder, CacheControl | undefined>();
  // Parts of one message have one name.
  const named = new Set<string>();
  const name = ({ path }: Mark, field: string): void => {
    if (!named.has(path + field)) dropped.push(path + field);
    named.add(path + field);
  };
  const leaveOut = (mark: Mark): void => {
    fitted.set(mark.holder, undefined);
    name(mark, 'cache_control');
  };
  const taken = marks.filter((mark) => {
    if (mark.place === 'request' && (rules.onRequest === 'implied' || isAtTheEnd(mark, request))) {
      fitted.set(mark.holder, undefined);
      return false;
    }
    if (isTaken(mark, rules)) return true;
    leaveOut(mark);
    return false;
  });
  const surplus = new Set(leastUseful(taken).slice(0, Math.max(0, taken.length - rules.marksMax)));
  for (const mark of surplus) leaveOut(mark);
  // A prefix may not be kept longer than what stands before it.
  let isShort = !rules.anHour;
  for (const mark of taken) {
    if (surplus.has(mark)) continue;
    const { type, ttl } = mark.control;
    if (rules.halfADay === true && isOpenAis(ttl)) continue;
    // Nobody else keeps one for so long; what is OpenAI's shortest is the others' own.
    const asksLong = ttl === '1h' || ttl === '12h';
    if (!asksLong) isShort = true;
    if (ttl === '12h' || (asksLong && isShort)) name(mark, 'cache_control.ttl');
    if (isShort && (asksLong || !rules.anHour || isOpenAis(ttl))) fitted.set(mark.holder, { type });
    else if (ttl === '12h') fitted.set(mark.holder, { type, ttl: '1h' });
  }
  return fitted.size === 0 ? request : withMarks(request, fitted);
}

function isOpenAis(ttl: string | undefined): boolean {
  return ttl === '30m' || ttl === '12h';
}

function isTaken({ place, holder }: Mark, rules: CacheRules): boolean {
  if (rules.marksMax === 0 || isDeferred(holder)) return false;
  if (place === 'tools') return rules.onTools;
  if (place === 'answers') return rules.onAnswers;
  return place !== 'request' || rules.onRequest !== false;
}

/** Tools that the model has to look for are not at the beginning of any prompt. */
function isDeferred(holder: Holder): boolean {
  return (
    'path' in holder && holder.type === 'function' && holder.extensions?.defer_loading === true
  );
}

/** The last part has a mark of its own: the request's would say the same again. */
function isAtTheEnd({ holder }: Mark, { messages }: ChatRequest): boolean {
  const last = messages.at(-1)?.parts.at(-1);
  return last !== undefined && last !== holder && controlOf(last) !== undefined;
}

/** Of each place the last mark holds the most; of the turns it is what the next request begins with. */
function leastUseful(marks: readonly Mark[]): Mark[] {
  const order = new Set<Mark>();
  for (const place of ['tools', 'system', 'answers', 'turns'] as const)
    for (const mark of marks.filter((each) => each.place === place).slice(0, -1)) order.add(mark);
  // Behind them the last of each place.
  for (const mark of marks) order.add(mark);
  return [...order];
}

/** In the order in which they count: tools, system, turns, the request's own. */
function marksIn(request: ChatRequest, { onTools }: CacheRules): Mark[] {
  const marks: Mark[] = [];
  for (const tool of request.tools ?? []) {
    // A provider's own tool, where marks are not known, is not known either.
    const control = tool.type === 'provider' && !onTools ? undefined : controlOf(tool);
    if (control !== undefined)
      marks.push({ holder: tool, control, path: `${tool.path}.`, place: 'tools' });
  }
  let isOpening = true;
  for (const message of request.messages) {
    const isSystem = message.role === 'system' || message.role === 'developer';
    isOpening &&= isSystem;
    const place = isOpening ? 'system' : message.role === 'assistant' ? 'answers' : 'turns';
    for (const part of message.parts) addMarks(part, message, place, marks);
  }
  const { cacheControl: control } = request;
  if (control !== undefined) marks.push({ holder: request, control, path: '', place: 'request' });
  return marks;
}

function addMarks(part: ChatPart, message: ChatMessage, place: Mark['place'], out: Mark[]): void {
  if (part.type === 'tool-result')
    for (const piece of part.content) addMarks(piece, message, place, out);
  const control = controlOf(part);
  if (control !== undefined) out.push({ holder: part, control, path: `${message.path}.`, place });
}

function controlOf(holder: ChatPart | ChatTool): CacheControl | undefined {
  if (holder.type === 'provider') {
    const control = objectOf(holder.value.cache_control);
    return control === undefined ? undefined : { ...(control as JsonObject & CacheControl) };
  }
  return 'cacheControl' in holder ? holder.cacheControl : undefined;
}

function withMarks(
  request: ChatRequest,
  fitted: ReadonlyMap<Holder, CacheControl | undefined>,
): ChatRequest {
  const tools = request.tools?.map((tool) => (fitted.has(tool) ? remarked(tool, fitted) : tool));
  const messages = request.messages.map((message) => {
    if (!message.parts.some((part) => isTouched(part, fitted))) return message;
    return { ...message, parts: message.parts.map((part) => remarkedPart(part, fitted)) };
  });
  const { cacheControl, ...rest } = request;
  const own = fitted.has(request) ? fitted.get(request) : cacheControl;
  return {
    ...rest,
    messages,
    ...(tools === undefined ? {} : { tools }),
    ...(own === undefined ? {} : { cacheControl: own }),
  };
}

function isTouched(part: ChatPart, fitted: ReadonlyMap<Holder, unknown>): boolean {
  if (fitted.has(part)) return true;
  return part.type === 'tool-result' && part.content.some((piece) => fitted.has(piece));
}

function remarkedPart(
  part: ChatPart,
  fitted: ReadonlyMap<Holder, CacheControl | undefined>,
): ChatPart {
  const own = fitted.has(part) ? remarked(part, fitted) : part;
  if (own.type !== 'tool-result') return own;
  const content = own.content.map((piece) => (fitted.has(piece) ? remarked(piece, fitted) : piece));
  return { ...own, content };
}

function remarked<H extends ChatPart | ChatTool>(
  holder: H,
  fitted: ReadonlyMap<Holder, CacheControl | undefined>,
): H {
  const control = fitted.get(holder);
  if (holder.type === 'provider') {
    const { cache_control: _, ...value } = holder.value;
    return {
      ...holder,
      value: control === undefined ? value : { ...value, cache_control: { ...control } },
    };
  }
  const copy: H & { cacheControl?: CacheControl } = { ...holder };
  if (control === undefined) delete copy.cacheControl;
  else copy.cacheControl = control;
  return copy;
}
