import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { batchLineHeader, canonicalPrefix, storedId, writeBatchLine } from '@sluice/contracts';
import type { Dispatcher } from 'undici';
import { pause } from '../pause.ts';
import { awayCodes, bytesOf, errorIn, jsonIn, wasAsked } from '../through-gateway/answers.ts';
import { told, tooLarge } from './call-line.ts';
import { headerEnding } from './line-facts.ts';
import { linesOf } from './lines.ts';

/** What a provider is to run, as the gateway noted it when the batch was made. */
export interface ManagedPlan {
  /** Its batches are made of lines, with no file of its own. */
  readonly takesLines: boolean;
  /** It is asked in OpenAI's words, which know nothing of models and options of a batch. */
  readonly isOpenAi: boolean;
  readonly options: Readonly<Record<string, unknown>>;
}

/** How far it has come, noted as it goes on. */
export interface ManagedState {
  readonly file?: string;
  /** The provider has not looked it through yet. */
  readonly isUnread?: boolean;
  /** When the provider was asked to make the batch, Unix ms; 0 = surely in vain. */
  readonly askedAtMs?: number;
  readonly batch?: string;
  readonly isCounted?: boolean;
}

export interface ManagedRunParts {
  readonly batchId: string;
  readonly inputFileId: string;
  readonly endpoint: string;
  readonly window: string;
  readonly plan: ManagedPlan;
  /** Of its requests. */
  readonly headers: Readonly<Record<string, string>>;
  readonly state: ManagedState;
  readonly token: () => string;
  readonly pool: Dispatcher;
  readonly timeoutMs: number;
  readonly intervalMs: number;
  readonly endsAtMs: number;
  readonly lineBytesMax: number;
  readonly input: () => AsyncGenerator<Buffer, void>;
  readonly note: (state: ManagedState) => Promise<void>;
  readonly signals: {
    readonly cut: AbortSignal;
    readonly leave: AbortSignal;
    readonly cancelled: AbortSignal;
  };
}

/** What a provider made of it: how it ended there; or why it never began. */
export type ManagedEnd =
  | { readonly status: 'completed' | 'failed' | 'expired' | 'cancelled'; readonly message?: string }
  | 'left';

/** The provider's refusal, or the gateway's: nothing is gained by asking again. */
export class Refused extends Error {}

/** Nothing was done, and may be asked again later. */
class NotNow extends Error {}

const answerBytesMax = 8 * 1024 * 1024;
/** One line of an output. */
const rowBytesMax = 16 * 1024 * 1024;
/** A list of batches is looked through so far. */
const pagesMax = 10;
/** ms; what was just made may not be in a provider's list yet. */
const listDelayMsMax = 30_000;
/** ms before a file that a provider has not read yet is looked at again; and until nobody waits for it any more. */
const readingMs = 250;
const readingMsMax = 10 * 60_000;
/** Refusals of a gateway that stand for no answer, where the provider did not hear the question. */
const unheardCodes: ReadonlySet<string> = new Set([
  'limit.unavailable',
  'object.owners_unavailable',
  'overloaded',
  'upstream.connect_timeout',
  'upstream.saturated',
  'upstream.unreachable',
]);
/** The same of a gateway that is not there. */
const unconnectedCodes: ReadonlySet<unknown> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** 529 is Anthropic's for `overloaded_error`: https://docs.claude.com/en/api/errors */
const laterStatuses: ReadonlySet<number> = new Set([412, 429, 529]);
/** Of two looks at a provider that is many machines the second may be the older one. */
const notEnded = 'batch.not_finished';
const ends = new Set(['completed', 'failed', 'expired', 'cancelled']);

/** A batch that a provider runs for the service: its file goes up, the batch is made, and looked at until it has ended. */
export class ManagedRun {
  readonly #parts: ManagedRunParts;
  #state: ManagedState;
  #provider: string | undefined;

  constructor(parts: ManagedRunParts) {
    this.#parts = parts;
    this.#state = parts.state;
  }

  /** Who ran it, as the gateway named it with the output. */
  get provider(): string | undefined {
    return this.#provider;
  }

  get isCounted(): boolean {
    return this.#state.isCounted === true;
  }

  /** @throws when a gateway, or the provider, is away */
  async run(): Promise<ManagedEnd> {
    try {
      if (this.#state.batch === undefined) {
        const end = await this.#begin();
        if (end !== undefined) return end;
      }
      return await this.#follow();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { status: 'failed', message: error.message };
    }
  }

  /** Undefined = the provider has it now. */
  async #begin(): Promise<ManagedEnd | undefined> {
    const { plan, signals, endsAtMs, intervalMs } = this.#parts;
    const { leave, cut, cancelled } = signals;
    if (this.#wasAsked) {
      if (plan.takesLines) throw new Refused(this.#told());
      let found = await this.#find();
      if (found === undefined) {
        const soon = Math.min(intervalMs, listDelayMsMax);
        await pause(soon, AbortSignal.any([leave, cut]));
        if (leave.aborted || cut.aborted) return 'left';
        found = await this.#find();
      }
      if (found !== undefined) {
        await this.#note({ batch: found });
        return undefined;
      }
    }
    if (leave.aborted || cut.aborted) return 'left';
    if (cancelled.aborted) return { status: 'cancelled' };
    if (Date.now() > endsAtMs) return { status: 'expired' };
    return this.#make();
  }

  get #wasAsked(): boolean {
    return (this.#state.askedAtMs ?? 0) > 0;
  }

  /** That nothing tells whether there is a batch. */
  #told(why = ''): string {
    const { headers } = this.#parts;
    const provider = headers[`${canonicalPrefix}provider`] ?? '';
    const at = new Date(this.#state.askedAtMs ?? 0).toISOString();
    return `At ${at} the provider ${provider} was asked to make the batch, and its answer did not arrive. It may have been made, and be billed: look for it among the provider's batches (GET /v1/batches with the provider named, or its console) before you make it again.${why && ` ${why}`}`;
  }

  async #make(): Promise<ManagedEnd | undefined> {
    const { plan, endpoint, window, inputFileId } = this.#parts;
    const model = await this.#modelOfFirst();
    if (!plan.takesLines && this.#state.file === undefined) {
      const file = await this.#upload(model);
      await this.#note({ file: idIn(file), ...(isUnread(file) ? { isUnread: true } : {}) });
    }
    const end = await this.#awaitReading();
    if (end !== undefined) return end;
    const body = {
      input_file_id: plan.takesLines ? storedId('file', inputFileId) : this.#state.file,
      endpoint,
      completion_window: window,
      ...(plan.isOpenAi ? {} : { model, provider_options: plan.options }),
    };
    // Whoever finds this note and no id knows that there may be a batch.
    await this.#note({ askedAtMs: Date.now() });
    let made: unknown;
    try {
      const bytes = Buffer.from(JSON.stringify(body));
      made = await this.#ask('POST', '/v1/batches', 'application/json', bytes);
    } catch (error) {
      if (isUndone(error)) await this.#note({ askedAtMs: 0 });
      throw error;
    }
    await this.#note({ batch: idIn(made) });
    return undefined;
  }

  /** Cohere and Azure take no batch of a file before they have looked it through. Undefined = they have. */
  async #awaitReading(): Promise<ManagedEnd | undefined> {
    if (this.#state.isUnread !== true) return undefined;
    const { signals, endsAtMs, intervalMs } = this.#parts;
    const { leave, cut, cancelled } = signals;
    const path = `/v1/files/${encodeURIComponent(this.#state.file ?? '')}`;
    const untilMs = Date.now() + readingMsMax;
    for (let wait = readingMs; ; wait = Math.min(2 * wait, intervalMs)) {
      const file = await this.#ask('GET', path);
      if ((file as VendorFile | undefined)?.status === 'error')
        throw new Refused('The provider looked the file through, and cannot use it.');
      // What never says that it was read may be taken all the same: the provider is asked.
      if (!isUnread(file) || Date.now() > untilMs) break;
      await pause(wait, AbortSignal.any([leave, cut, cancelled]));
      if (leave.aborted || cut.aborted) return 'left';
      if (cancelled.aborted) return { status: 'cancelled' };
      if (Date.now() > endsAtMs) return { status: 'expired' };
    }
    await this.#note({ isUnread: false });
    return undefined;
  }

  /** The batch that the provider has made of our file. @throws Refused where nobody can tell */
  async #find(): Promise<string | undefined> {
    let after = '';
    for (let page = 0; page < pagesMax; page += 1) {
      const { data, has_more: hasMore } = ((await this.#listed(after)) ?? {}) as BatchPage;
      if (!Array.isArray(data)) throw new Refused(this.#told('It gave no list of its batches.'));
      const batches = data as readonly { id?: unknown; input_file_id?: unknown }[];
      const ours = batches.find((one) => one?.input_file_id === this.#state.file);
      if (ours !== undefined) return idIn(ours);
      const last = batches.at(-1)?.id;
      if (hasMore !== true || typeof last !== 'string') return undefined;
      after = `&after=${encodeURIComponent(last)}`;
    }
    return undefined;
  }

  async #listed(after: string): Promise<unknown> {
    try {
      return await this.#ask('GET', `/v1/batches?limit=100${after}`);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      throw new Refused(this.#told(error.message));
    }
  }

  async #note(state: ManagedState): Promise<void> {
    this.#state = { ...this.#state, ...state };
    await this.#parts.note(this.#state);
  }

  /** Jobs of many vendors have one model. */
  async #modelOfFirst(): Promise<string> {
    const { input, lineBytesMax } = this.#parts;
    for await (const { bytes } of linesOf(input(), lineBytesMax)) {
      const line = bytes && (jsonIn(bytes) as { body?: { model?: unknown } } | undefined);
      return typeof line?.body?.model === 'string' ? line.body.model : '';
    }
    return '';
  }

  async #upload(model: string): Promise<unknown> {
    const boundary = `sluice-${randomUUID()}`;
    const { input, batchId } = this.#parts;
    const content = input();
    async function* form() {
      yield Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${batchId}.jsonl"\r\nContent-Type: application/jsonl\r\n\r\n`,
      );
      yield* content;
      yield Buffer.from(`\r\n--${boundary}--\r\n`);
    }
    const type = `multipart/form-data; boundary=${boundary}`;
    const extra = { 'x-service-provider-model': model, 'x-service-file-purpose': 'batch' };
    return this.#ask(
      'POST',
      '/v1/files',
      type,
      Readable.from(form(), { objectMode: false }),
      extra,
    );
  }

  /** Until it has ended there, or this process does. */
  async #follow(): Promise<ManagedEnd> {
    const { signals, intervalMs, endsAtMs } = this.#parts;
    const { leave, cut, cancelled } = signals;
    const path = `/v1/batches/${encodeURIComponent(this.#state.batch ?? '')}`;
    let isStopping = false;
    for (;;) {
      if (leave.aborted || cut.aborted) return 'left';
      const isLate = Date.now() > endsAtMs;
      if ((cancelled.aborted || isLate) && !isStopping) {
        isStopping = true;
        await this.#cancel(path);
      }
      const { status, errors } = (await this.#ask('GET', path)) as Batch;
      if (status !== undefined && ends.has(status)) {
        const [first] = errors?.data ?? [];
        const end = status === 'cancelled' && isLate && !cancelled.aborted ? 'expired' : status;
        return {
          status: end as 'completed',
          ...(typeof first?.message === 'string' ? { message: first.message } : {}),
        };
      }
      await pause(intervalMs, AbortSignal.any([leave, cut, ...(isStopping ? [] : [cancelled])]));
    }
  }

  /** What has just ended, or is being cancelled, is refused: a look at it says what becomes of it. */
  async #cancel(path: string): Promise<void> {
    try {
      await this.#ask('POST', `${path}/cancel`, 'application/json', Buffer.from('{}'));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
  }

  /** Every line of what it came to, as the gateway tells them. @throws as `#ask` does */
  async *output(): AsyncGenerator<string, void> {
    // It ended before there was one.
    if (this.#state.batch === undefined) return;
    const { batchId } = this.#parts;
    const path = `/v1/batches/${encodeURIComponent(this.#state.batch)}/output`;
    const reply = await this.#send('GET', path, undefined, undefined, {});
    if (reply.statusCode !== 200) {
      const bytes = await bytesOf(reply.body as never, answerBytesMax);
      throw faultOf(`GET ${placeOf(path)}/output`, reply, bytes && jsonIn(bytes));
    }
    this.#provider = headerEnding(reply.headers, '-provider');
    const body = reply.body as AsyncIterable<Buffer>;
    for await (const { number, bytes, head } of linesOf(generated(body), rowBytesMax)) {
      if (bytes !== undefined) yield bytes.toString('utf8');
      else yield told({ batchId, number, customId: customIdIn(head), ...tooLarge(rowBytesMax) });
    }
  }

  /** @throws Refused; NotNow, or another Error where nobody knows what came of it: both may be asked again */
  async #ask(
    method: 'GET' | 'POST',
    path: string,
    type?: string,
    body?: Buffer | Readable,
    extra: Record<string, string> = {},
  ): Promise<unknown> {
    const reply = await this.#send(method, path, type, body, extra);
    const bytes = await bytesOf(reply.body as never, answerBytesMax);
    const document = bytes && jsonIn(bytes);
    if (reply.statusCode < 300) return document;
    throw faultOf(`${method} ${placeOf(path)}`, reply, document);
  }

  #send(
    method: 'GET' | 'POST',
    path: string,
    type: string | undefined,
    body: Buffer | Readable | undefined,
    extra: Record<string, string>,
  ) {
    const { batchId, headers, token, pool, timeoutMs, signals } = this.#parts;
    const customId = `${method} ${path.split(/[/?]/)[2] ?? ''}`;
    return pool.request({
      method,
      path,
      headers: {
        authorization: `Bearer ${token()}`,
        [batchLineHeader]: writeBatchLine({ batchId, customId, headers: { ...headers, ...extra } }),
        ...(type === undefined ? {} : { 'content-type': type }),
      },
      body: body ?? null,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      signal: signals.cut,
    });
  }
}

/** Of a line whose end was not read: ids come before answers. Null = it is not there. */
function customIdIn(head: Buffer | undefined): string | null {
  const [, text] = /"custom_id"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(head?.toString('utf8') ?? '') ?? [];
  const id = text && jsonIn(Buffer.from(text));
  return typeof id === 'string' ? id : null;
}

/** `/v1/batches` of anything below it. */
function placeOf(path: string): string {
  const [place = ''] = path.split('?');
  return place.split('/').slice(0, 3).join('/');
}

function faultOf(
  asked: string,
  { statusCode: status, headers }: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>,
  document: unknown,
): Error {
  const { code, message } = errorIn(document);
  const isAway = !wasAsked(headers) && awayCodes.has(code);
  const said = `${asked}: ${status} ${message}`;
  const isLater = unheardCodes.has(code) || laterStatuses.has(status) || code === notEnded;
  if (isAway || isLater) return new NotNow(said);
  if (status >= 500 || status === 408) return new Error(said);
  return new Refused(said);
}

/** Whether an attempt to make something has surely made nothing. */
function isUndone(error: unknown): boolean {
  if (error instanceof Refused || error instanceof NotNow) return true;
  return unconnectedCodes.has((error as { code?: unknown } | undefined)?.code);
}

interface VendorFile {
  readonly status?: unknown;
}

/** `pending` and `running` are Azure's, beside OpenAI's. */
const unreadStates: ReadonlySet<unknown> = new Set(['uploaded', 'pending', 'running']);

function isUnread(file: unknown): boolean {
  return unreadStates.has((file as VendorFile | undefined)?.status);
}

interface BatchPage {
  readonly data?: unknown;
  readonly has_more?: unknown;
}

interface Batch {
  readonly status?: string;
  readonly errors?: { readonly data?: readonly { readonly message?: unknown }[] } | null;
}

async function* generated(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  yield* content;
}

function idIn(document: unknown): string {
  const { id } = (document ?? {}) as { id?: unknown };
  if (typeof id !== 'string' || id === '')
    throw new Refused('The provider gave no id of what it made.');
  return id;
}
