import { parsed } from '../jobs/demo-files.ts';
import {
  type Identity,
  inputTokens,
  type MadeResponse,
  makeResponse,
  readInput,
  type Told,
} from '../openai-responses.ts';
import { invalidType, missing } from '../openai-vendor.ts';
import {
  type DemoAnswer,
  type DemoBody,
  type DemoContext,
  isObject,
  type JsonObject,
  VendorFault,
} from '../protocol.ts';
import { streamResponse } from '../responses-stream.ts';
import { followWork, takesMs, type Work, workAt } from './background-work.ts';
import { DemoConversations, saidBytesMax, tooLong } from './demo-conversations.ts';
import { checkCalls, type Item, itemPage, listedItems, numberIn } from './items.ts';
import { Kept } from './kept.ts';

interface KeptResponse {
  readonly response: JsonObject;
  /** All that its model was told. */
  readonly told: readonly Item[];
  readonly work: Work | undefined;
  /** It was asked for as a stream as well. */
  readonly isStreamed: boolean;
}

/** What goes on from something: an answer, or the refusal to give one. */
interface From {
  readonly before: readonly Item[];
  readonly conversation: string | undefined;
}

const responsesMax = { count: 1000, bytes: 32 * 1024 * 1024 };
/** As the vendor has it: later its events cannot be had again. */
const streamedForMs = 300_000;

/**
 * Responses and conversations that are kept, in memory, as OpenAI's:
 * https://platform.openai.com/docs/api-reference/responses
 */
export class DemoResponses {
  readonly #responses = new Kept<KeptResponse>(responsesMax);
  readonly #conversations: DemoConversations;
  readonly #now: () => number;
  #made = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#conversations = new DemoConversations(now, () => this.#newId());
  }

  /** `POST /v1/responses` @throws VendorFault */
  create(body: DemoBody, context: DemoContext): DemoAnswer {
    const from = this.#from(body);
    const { background = false } = body;
    if (background !== null && typeof background !== 'boolean')
      throw invalidType('background', 'a boolean', background);
    const isBackground = background === true;
    if (isBackground && body.store === false)
      throw new VendorFault(400, "Background mode requires 'store' to be true.", {
        param: 'background',
        code: 'invalid_value',
      });
    const own = this.#resolve(this.#own(body, from), from.before);
    const told: Told = { before: from.before, input: own };
    checkCalls([...from.before, ...own]);

    const bytes = context.bytes + lengthOf(from.before);
    const isStateful = isBackground || from.conversation !== undefined || from.before.length > 0;
    if (bytes > saidBytesMax && isStateful) throw tooLong('input');
    const isKept = body.store !== false && bytes <= saidBytesMax;
    const id = this.#newId();
    const make = (takenMs: number) =>
      described(
        makeResponse(body, told, context, isKept ? this.#identity(id, takenMs) : undefined),
        body,
        isKept,
        from,
      );
    const whole = [...from.before, ...listedItems(own, id)];
    if (isBackground) return this.#begin(make, whole, from, { body, context, bytes });

    const made = make(0);
    const end = () => {
      if (isKept) {
        const kept = { response: made.response, told: whole, work: undefined, isStreamed: false };
        this.#responses.set(String(made.response.id), kept, bytes + lengthOf(made.response.output));
      }
      if (from.conversation !== undefined)
        this.#conversations.append(from.conversation, said(made, whole, from));
    };
    if (body.stream === true)
      return {
        kind: 'sse',
        events: endedBy(streamResponse(made.response, made.items), end),
        eventDelayMs: context.script.eventDelayMs,
      };
    end();
    return { kind: 'json', body: made.response };
  }

  /** What is below `/v1/responses/`, and conversations; undefined = the path is of neither. @throws VendorFault */
  answer(
    method: string,
    url: string,
    readText: () => Promise<string>,
  ): Promise<DemoAnswer> | undefined {
    const [path = '', search] = url.split('?');
    const [, , root, ...rest] = path.split('/').map(decoded);
    const query = new URLSearchParams(search);
    if (root === 'conversations') return this.#ofConversations(method, rest, query, readText);
    const [id, part] = rest;
    if (root !== 'responses' || id === undefined || id === '') return undefined;
    return this.#ofResponses(method, [id, part], query, readText);
  }

  async #ofConversations(
    method: string,
    path: readonly string[],
    query: URLSearchParams,
    readText: () => Promise<string>,
  ): Promise<DemoAnswer> {
    const text = method === 'POST' ? await readText() : '';
    const body = this.#conversations.answer(method, path, text === '' ? {} : parsed(text), query);
    return json(body ?? unknownUrl(method, `/v1/conversations/${path.join('/')}`));
  }

  async #ofResponses(
    method: string,
    [id, part]: readonly [string, string | undefined],
    query: URLSearchParams,
    readText: () => Promise<string>,
  ): Promise<DemoAnswer> {
    if (method === 'POST' && part === undefined) {
      if (id === 'input_tokens') return json(this.#count(parsed(await readText())));
      if (id === 'compact') return json(this.#compact(parsed(await readText())));
    }
    const kept = this.#responses.get(id);
    if (kept === undefined) throw notFound('Response', id);
    switch (`${method} ${part ?? ''}`) {
      case 'GET ':
        return query.get('stream') === 'true'
          ? this.#follow(kept, query)
          : json(this.#present(kept));
      case 'GET input_items':
        return json(itemPage(kept.told, query));
      case 'DELETE ':
        if (kept.work !== undefined) kept.work.isStopped = true;
        this.#responses.delete(id);
        return json({ id, object: 'response', deleted: true });
      case 'POST cancel':
        if (kept.work === undefined)
          throw new VendorFault(400, 'Cannot cancel a synchronous response.');
        if (isGoing(this.#present(kept))) kept.work.isStopped = true;
        return json(this.#present(kept));
      default:
        return unknownUrl(method, `/v1/responses/${id}/${part ?? ''}`);
    }
  }

  #present({ response, work }: KeptResponse): JsonObject {
    return work === undefined ? response : workAt(work, this.#now());
  }

  #begin(
    make: (takenMs: number) => MadeResponse,
    told: readonly Item[],
    from: From,
    { body, context, bytes }: { body: DemoBody; context: DemoContext; bytes: number },
  ): DemoAnswer {
    const { errorStatus } = context.script;
    const takes = takesMs(make(0), context.script);
    const made = make(takes);
    const outcome = errorStatus === undefined ? made : { ...made, ...failed(made, errorStatus) };
    const work: Work = {
      ...outcome,
      madeAtMs: this.#now(),
      takesMs: takes,
      isStopped: false,
    };
    const kept = { response: work.response, told, work, isStreamed: body.stream === true };
    const id = String(work.response.id);
    this.#responses.set(id, kept, bytes + lengthOf(made.response.output));
    if (from.conversation !== undefined)
      this.#conversations.await(from.conversation, () => {
        const now = this.#present(kept);
        if (isGoing(now)) return undefined;
        return now.status === 'completed' || now.status === 'incomplete'
          ? said(made, told, from)
          : [];
      });
    if (!kept.isStreamed) return json(this.#present(kept));
    return { kind: 'sse', events: followWork(work, -1, this.#now), eventDelayMs: 0 };
  }

  #follow({ work, isStreamed, response }: KeptResponse, query: URLSearchParams): DemoAnswer {
    if (work === undefined || !isStreamed)
      throw new VendorFault(
        400,
        `Response with id '${String(response.id)}' cannot be streamed: it was not created with background=true and stream=true.`,
        { param: 'stream' },
      );
    if (this.#now() - work.madeAtMs > streamedForMs)
      throw new VendorFault(
        400,
        'This response can no longer be streamed because it is more than 5 minutes old',
      );
    const after = numberIn(query, 'starting_after', 0);
    return { kind: 'sse', events: followWork(work, after ?? -1, this.#now), eventDelayMs: 0 };
  }

  /** `POST /v1/responses/input_tokens` */
  #count(body: JsonObject): JsonObject {
    const from = this.#from(body);
    const told = { before: from.before, input: this.#own(body, from) };
    return { object: 'response.input_tokens', input_tokens: inputTokens(body, told) };
  }

  /** `POST /v1/responses/compact` */
  #compact(body: JsonObject): JsonObject {
    if (typeof body.model !== 'string') throw missing('model');
    const from = this.#from(body);
    const input = this.#own(body, from);
    const madeOf = this.#newId();
    const users = [...from.before, ...listedItems(input, madeOf)].filter(
      ({ type, role }) => type === 'message' && role === 'user',
    );
    const tokens = inputTokens(body, { before: from.before, input });
    const sealed = Buffer.from(`sluice demo compaction of ${tokens} tokens`).toString('base64');
    return {
      id: `resp_demo${madeOf}`,
      object: 'response.compaction',
      created_at: Math.floor(this.#now() / 1000),
      output: [
        ...users,
        { id: `cmp_demo${madeOf}`, type: 'compaction', encrypted_content: sealed },
      ],
      usage: {
        input_tokens: tokens,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 10,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: tokens + 10,
      },
    };
  }

  #identity(id: string, takenMs: number): Identity {
    const at = (ms: number) => Math.floor(ms / 1000);
    return { id, createdAtS: at(this.#now()), completedAtS: at(this.#now() + takenMs) };
  }

  /** Without the prefix that says of what. */
  #newId(): string {
    return `${(++this.#made).toString(36).padStart(6, '0')}${this.#now().toString(36)}`;
  }

  #own(body: JsonObject, { before, conversation }: From): JsonObject[] {
    const goesOn = before.length > 0 || conversation !== undefined;
    return body.input === undefined && goesOn ? [] : readInput(body.input);
  }

  /** What a request goes on from. @throws VendorFault */
  #from({ previous_response_id: previous, conversation }: JsonObject): From {
    const hasPrevious = previous !== undefined && previous !== null;
    const hasConversation = conversation !== undefined && conversation !== null;
    if (hasPrevious && hasConversation)
      throw new VendorFault(
        400,
        "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Ensure you are only providing one of them.",
        { param: 'previous_response_id', code: 'mutually_exclusive_parameters' },
      );
    if (hasConversation) {
      const id = isObject(conversation) ? conversation.id : conversation;
      if (typeof id !== 'string') throw invalidType('conversation', 'a string', id);
      return { before: this.#conversations.open(id).items, conversation: id };
    }
    if (!hasPrevious) return { before: [], conversation: undefined };
    if (typeof previous !== 'string')
      throw invalidType('previous_response_id', 'a string', previous);
    const kept = this.#responses.get(previous);
    if (kept === undefined)
      throw new VendorFault(400, `Previous response with id '${previous}' not found.`, {
        param: 'previous_response_id',
        code: 'previous_response_not_found',
      });
    const response = this.#present(kept);
    if (isGoing(response))
      throw new VendorFault(400, `Previous response with id '${previous}' is still in progress.`, {
        param: 'previous_response_id',
      });
    return { before: [...kept.told, ...outputOf(response)], conversation: undefined };
  }

  /** Items in the place of references to them. @throws VendorFault 404 */
  #resolve(own: readonly JsonObject[], before: readonly Item[]): JsonObject[] {
    return own.map((item, index) => {
      if (item.type !== 'item_reference') return item;
      if (typeof item.id !== 'string') throw invalidType(`input[${index}].id`, 'a string', item.id);
      const found = before.find(({ id }) => id === item.id) ?? this.#item(item.id);
      if (found === undefined) throw notFound('Item', item.id, 'input');
      return found;
    });
  }

  #item(id: unknown): Item | undefined {
    for (const kept of this.#responses.values()) {
      const items = [...outputOf(this.#present(kept)), ...kept.told];
      const found = items.find((item) => item.id === id);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

function described(
  { response, items }: MadeResponse,
  body: DemoBody,
  isKept: boolean,
  { conversation }: From,
): MadeResponse {
  const told = conversation === undefined ? {} : { conversation: { id: conversation } };
  const store = body.store !== false && isKept;
  return { response: { ...response, store, ...told }, items };
}

/** What a conversation is told of a response: its own input, and what was answered. */
function said({ response }: MadeResponse, told: readonly Item[], { before }: From): Item[] {
  return [...told.slice(before.length), ...outputOf(response)];
}

function outputOf({ output }: JsonObject): Item[] {
  return output as Item[];
}

function failed({ response }: MadeResponse, status: number): MadeResponse {
  const error = {
    code: status === 429 ? 'rate_limit_exceeded' : 'server_error',
    message: `The demo model was asked to answer with ${status}.`,
  };
  const rest = { output: [], usage: null, completed_at: null, incomplete_details: null };
  return { response: { ...response, ...rest, status: 'failed', error }, items: [] };
}

function isGoing({ status }: JsonObject): boolean {
  return status === 'queued' || status === 'in_progress';
}

/** Whatever ends with an event is there before that is told. */
function* endedBy(events: Iterable<string>, end: () => void): Generator<string> {
  let next: string | undefined;
  for (const event of events) {
    if (next !== undefined) yield next;
    next = event;
  }
  end();
  if (next !== undefined) yield next;
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) && value.length === 0 ? 0 : JSON.stringify(value).length;
}

function notFound(what: 'Response' | 'Item', id: string, param?: string): VendorFault {
  const message = `${what} with id '${id}' not found.`;
  return new VendorFault(404, message, param === undefined ? {} : { param });
}

function unknownUrl(method: string, path: string): never {
  throw new VendorFault(404, `Invalid URL (${method} ${path})`);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function json(body: unknown): DemoAnswer {
  return { kind: 'json', body };
}
