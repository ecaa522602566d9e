import { type RedactionMap, Restorer } from '@sluice/guardrails';
import {
  allTexts,
  escaped,
  HeldSpeech,
  type HeldVoice,
  type JsonObject,
  type SpeechFormat,
  SpeechStream,
} from '@sluice/providers';
import type { BodyReply, ReplySink, StreamReply } from '../exchange/reply.ts';
import { jsonObjectIn } from '../http/json-body.ts';

/** What identifiers stand for, put back into an answer on its last steps to the caller: nobody keeps or logs it. */
export function restoredBody(reply: BodyReply, originals: RedactionMap): BodyReply {
  if (!reply.body.includes('{{')) return reply;
  const json = jsonObjectIn(reply.body);
  const body =
    json === undefined
      ? Buffer.from(restored(reply.body.toString('utf8'), originals))
      : Buffer.from(JSON.stringify(restoredJson(json, originals)));
  return { ...reply, body };
}

function restoredJson(json: JsonObject, originals: RedactionMap): JsonObject {
  const texts = allTexts(json);
  return texts.replace(
    texts.parts.map((part) => (part.includes('{{') ? restored(part, originals) : null)),
  );
}

function restored(text: string, originals: RedactionMap): string {
  const restorer = new Restorer(originals);
  return restorer.push(text) + restorer.end();
}

/** The same of a stream: what may be the beginning of an identifier waits until it is known. */
export function restoredStream(
  reply: StreamReply,
  format: SpeechFormat,
  originals: RedactionMap,
): StreamReply {
  // A length was the upstream's; with other words it would be wrong.
  const { 'content-length': _length, ...headers } = reply.headers;
  return {
    ...reply,
    headers,
    pipeTo: (sink) => reply.pipeTo(new RestoringSink(sink, format, originals)),
  };
}

class RestoringSink implements ReplySink {
  readonly #sink: ReplySink;
  readonly #stream: SpeechStream;
  readonly #held: HeldSpeech;
  readonly #originals: RedactionMap;
  /** As they stand in the text that JSON is. */
  readonly #escaped: RedactionMap;
  readonly #restorers = new Map<HeldVoice, Restorer>();
  #wantsMore = true;

  constructor(sink: ReplySink, format: SpeechFormat, originals: RedactionMap) {
    this.#sink = sink;
    this.#stream = new SpeechStream(format);
    this.#held = new HeldSpeech({ format, listens: () => true, keeps: format.repeats });
    this.#originals = originals;
    this.#escaped = new Map([...originals].map(([name, original]) => [name, escaped(original)]));
  }

  write(chunk: Buffer): boolean {
    this.#wantsMore = true;
    for (const utterance of this.#stream.push(chunk)) {
      if (utterance.isPing !== true) {
        this.#held.add(utterance, 0);
        continue;
      }
      // It overtakes only what has to wait.
      this.#give();
      this.#send(utterance.bytes);
    }
    this.#give();
    return this.#wantsMore;
  }

  onDrain(listener: () => void): void {
    this.#sink.onDrain(listener);
  }

  end(): void {
    for (const utterance of this.#stream.end().utterances) this.#held.add(utterance, 0);
    this.#held.closeAll();
    this.#give();
    this.#sink.end();
  }

  cut(code: Parameters<ReplySink['cut']>[0]): void {
    this.#sink.cut(code);
  }

  #give(): void {
    for (const voice of this.#held.undecided()) this.#decide(voice);
    const bytes = this.#held.take();
    if (bytes !== undefined) this.#send(bytes);
  }

  #decide(voice: HeldVoice): void {
    const restorer = this.#restorers.get(voice) ?? this.#open(voice);
    let text = restorer.push(voice.text.slice(restorer.heldLength));
    if (voice.isClosed) {
      text += restorer.end();
      this.#restorers.delete(voice);
    }
    voice.decide(voice.length - restorer.heldLength, text);
  }

  #open(voice: HeldVoice): Restorer {
    const restorer = new Restorer(voice.kind === 'called' ? this.#escaped : this.#originals);
    this.#restorers.set(voice, restorer);
    return restorer;
  }

  #send(bytes: Buffer): void {
    if (!this.#sink.write(bytes)) this.#wantsMore = false;
  }
}
