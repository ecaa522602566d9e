// Events: https://platform.openai.com/docs/api-reference/realtime-server-events
import type { WebSocket } from 'ws';
import { answerTo, tokensIn } from '../answer-text.ts';
import { isObject } from '../protocol.ts';
import { scriptOf } from '../scripted-model.ts';

type Event = Record<string, unknown>;

/** 24 kHz, 16 bits: a tenth of a second each piece, and one second at most. */
const pieceBytes = 4_800;
const piecesMax = 10;
const bytesPerAudioToken = 2_400;

/** One conversation, and all who hear of it: whoever opened it, or those who listen beside a call. */
export class DemoSession {
  readonly #listeners = new Set<WebSocket>();
  readonly #model: string;
  #session: Event;
  #said = '';
  #contextTokens = 0;
  #audioBytes = 0;
  #count = 0;
  #lastItemId: string | null = null;

  constructor(model: string, session: Event) {
    this.#model = model;
    this.#session = { type: 'realtime', model, id: 'sess_demo', ...session };
  }

  /** @param isFirst it opened the session, and is told so */
  join(socket: WebSocket, isFirst: boolean): void {
    this.#listeners.add(socket);
    socket.on('close', () => this.#listeners.delete(socket));
    socket.on('error', () => socket.terminate());
    socket.on('message', (data) => this.#take(String(data)));
    if (isFirst) this.#tell('session.created', { session: this.#session });
  }

  end(): void {
    for (const socket of this.#listeners) socket.close(1000);
  }

  #tell(type: string, members: Event): void {
    const text = JSON.stringify({ type, event_id: this.#id('event'), ...members });
    for (const socket of this.#listeners) socket.send(text);
  }

  #id(prefix: string): string {
    return `${prefix}_demo_${++this.#count}`;
  }

  #fail(code: string, message: string): void {
    this.#tell('error', { error: { type: 'invalid_request_error', code, message, param: null } });
  }

  #take(text: string): void {
    let event: unknown;
    try {
      event = JSON.parse(text);
    } catch {
      event = undefined;
    }
    if (!isObject(event)) this.#fail('invalid_json', 'The event is no JSON object.');
    else if (event.type === 'session.update') this.#update(event.session);
    else if (event.type === 'conversation.item.create') this.#add(event.item);
    else if (event.type === 'input_audio_buffer.append') {
      if (typeof event.audio === 'string') this.#audioBytes += (event.audio.length * 3) / 4;
    } else if (event.type === 'input_audio_buffer.commit') this.#hear();
    else if (event.type === 'response.create') this.#answer(event.response);
    else if (!silent.has(String(event.type)))
      this.#fail('invalid_value', `Invalid value: '${event.type}'.`);
  }

  #update(session: unknown): void {
    if (isObject(session)) this.#session = { ...this.#session, ...session, model: this.#model };
    this.#tell('session.updated', { session: this.#session });
  }

  #add(item: unknown): void {
    const { content } = isObject(item) ? item : {};
    const parts: unknown[] = Array.isArray(content) ? content : [];
    this.#said = parts
      .flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []))
      .join(' ');
    this.#contextTokens += tokensIn(this.#said);
    this.#keep({ ...(isObject(item) ? item : {}), id: this.#id('item') });
  }

  #keep(item: Event & { id: string }): void {
    const told = { previous_item_id: this.#lastItemId, item };
    this.#lastItemId = item.id;
    this.#tell('conversation.item.added', told);
    this.#tell('conversation.item.done', told);
  }

  /** What was heard is not understood, but counted. */
  #hear(): void {
    const tokens = Math.ceil(this.#audioBytes / (2 * bytesPerAudioToken));
    const item_id = this.#id('item');
    this.#tell('input_audio_buffer.committed', { item_id, previous_item_id: this.#lastItemId });
    const content = [{ type: 'input_audio', transcript: null }];
    this.#keep({ id: item_id, type: 'message', role: 'user', content });
    this.#said = `${(this.#audioBytes / 48_000).toFixed(1)} seconds of sound`;
    this.#tell('conversation.item.input_audio_transcription.completed', {
      item_id,
      content_index: 0,
      transcript: this.#said,
      usage: {
        type: 'tokens',
        total_tokens: tokens + tokensIn(this.#said),
        input_tokens: tokens,
        input_token_details: { text_tokens: 0, audio_tokens: tokens },
        output_tokens: tokensIn(this.#said),
      },
    });
    this.#audioBytes = 0;
  }

  #answer(asked: unknown): void {
    const wanted = isObject(asked) ? asked : {};
    const modalities = wanted.output_modalities ?? this.#session.output_modalities ?? ['audio'];
    const isSpoken = Array.isArray(modalities) && modalities.includes('audio');
    const response = { id: this.#id('resp'), object: 'realtime.response', status: 'in_progress' };
    const at = {
      response_id: response.id,
      item_id: this.#id('item'),
      output_index: 0,
      content_index: 0,
    };
    this.#tell('response.created', { response });
    const { pieces, tokens } = answerTo(this.#said, scriptOf(this.#model, undefined), undefined);
    const text = pieces.join('');
    const said = isSpoken ? 'response.output_audio_transcript' : 'response.output_text';
    for (const delta of pieces) this.#tell(`${said}.delta`, { ...at, delta });
    let audioTokens = 0;
    if (isSpoken)
      for (let piece = 0; piece < Math.min(piecesMax, pieces.length); piece++) {
        const delta = Buffer.alloc(pieceBytes, piece).toString('base64');
        this.#tell('response.output_audio.delta', { ...at, delta });
        audioTokens += pieceBytes / bytesPerAudioToken;
      }
    if (isSpoken) this.#tell('response.output_audio.done', at);
    this.#tell(`${said}.done`, { ...at, [isSpoken ? 'transcript' : 'text']: text });
    const content = isSpoken
      ? { type: 'output_audio', transcript: text }
      : { type: 'output_text', text };
    const item = { id: at.item_id, type: 'message', role: 'assistant', content: [content] };
    this.#keep(item);
    const inputTokens = this.#contextTokens;
    const usage = {
      total_tokens: inputTokens + tokens + audioTokens,
      input_tokens: inputTokens,
      output_tokens: tokens + audioTokens,
      input_token_details: { text_tokens: inputTokens, audio_tokens: 0, cached_tokens: 0 },
      output_token_details: { text_tokens: tokens, audio_tokens: audioTokens },
    };
    this.#contextTokens += tokens + audioTokens;
    this.#tell('response.done', {
      response: { ...response, status: 'completed', output: [item], usage },
    });
  }
}

/** Events that change nothing here. */
const silent: ReadonlySet<string> = new Set([
  'conversation.item.delete',
  'conversation.item.truncate',
  'input_audio_buffer.clear',
  'output_audio_buffer.clear',
  'response.cancel',
]);
