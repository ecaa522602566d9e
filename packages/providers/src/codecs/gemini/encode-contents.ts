import type {
  ChatMessage,
  ChatPart,
  JsonObject,
  ToolCallPart,
  ToolResultPart,
} from '@sluice/contracts';
import { compact } from '../../json/json-access.ts';
import { continuation } from '../anthropic-messages/encode-messages.ts';
import { callInput } from '../call-input.ts';
import { openProof } from '../proofs.ts';
import { audioType, encodeSource } from './media.ts';
import type { GeminiModel } from './models.ts';
import { formatName, skippedSignature } from './wire.ts';

export interface EncodedContents {
  system: JsonObject[];
  contents: JsonObject[];
}

interface Turn {
  /** Results of calls are the user's too, but stand in a content of their own. */
  kind: 'user' | 'model' | 'results';
  parts: JsonObject[];
}

/** Messages → `systemInstruction` and turns; messages of one side that follow each other are one turn. */
export function encodeContents(
  messages: ChatMessage[],
  model: GeminiModel,
  isOwn: boolean,
  dropped: string[],
): EncodedContents {
  const encoder = new ContentsEncoder(model, isOwn, dropped);
  for (const message of messages) encoder.add(message);
  return encoder.finish();
}

class ContentsEncoder {
  #model: GeminiModel;
  #isOwn: boolean;
  #dropped: string[];
  #system: JsonObject[] = [];
  #turns: Turn[] = [];
  /** Ids of all calls so far → their functions. */
  #names = new Map<string, string>();
  /** Ids of the calls of the last turn of the model, in their order. */
  #asked: string[] = [];
  /** Results of the open turn, each with its place among the calls. */
  #results: { place: number; part: JsonObject }[] = [];
  /** Where the model's last turn stands in the caller's body. */
  #answered = '';
  /** What tools returned beside text, where the model takes only text of them. */
  #returned: JsonObject[] = [];

  constructor(model: GeminiModel, isOwn: boolean, dropped: string[]) {
    this.#model = model;
    this.#isOwn = isOwn;
    this.#dropped = dropped;
  }

  add(message: ChatMessage): void {
    if (message.name !== undefined) this.#dropped.push(`${message.path}.name`);
    const parts: JsonObject[] = [];
    for (const part of message.parts) {
      this.#reportLost(part, message);
      if (part.type === 'tool-result') {
        this.#addResult(part, message);
        continue;
      }
      const encoded = this.#encodePart(part, message);
      if (encoded === undefined) this.#dropped.push(`${message.path}.${nameOf(part)}`);
      else if (encoded !== empty) parts.push(encoded);
    }
    if (message.role === 'system' || message.role === 'developer') this.#system.push(...parts);
    else if (message.role === 'assistant') {
      this.#answered = message.path;
      this.#closeResults();
      const calls = message.parts.filter((part) => part.type === 'tool-call');
      this.#asked = calls.map((call) => call.id);
      for (const call of calls) this.#names.set(call.id, call.name);
      this.#append('model', parts);
    } else if (parts.length > 0) {
      this.#closeResults();
      this.#append('user', parts);
    }
  }

  finish(): EncodedContents {
    this.#closeResults();
    this.#endWithUser();
    const contents = this.#turns.map(({ kind, parts }) => ({
      role: kind === 'model' ? 'model' : 'user',
      parts,
    }));
    return { system: this.#system, contents };
  }

  #endWithUser(): void {
    if (this.#model.takesPrefill || this.#turns.at(-1)?.kind !== 'model') return;
    this.#dropped.push(this.#answered);
    this.#append('user', [{ text: continuation }]);
  }

  #append(kind: Turn['kind'], parts: JsonObject[]): void {
    if (parts.length === 0) return;
    const last = this.#turns.at(-1);
    if (last?.kind === kind) last.parts.push(...parts);
    else this.#turns.push({ kind, parts });
  }

  /** All results of a parallel turn make one content, in the order of the calls. */
  #closeResults(): void {
    const sorted = this.#results.toSorted((a, b) => a.place - b.place);
    const returned = this.#returned;
    this.#results = [];
    this.#returned = [];
    this.#append(
      'results',
      sorted.map(({ part }) => part),
    );
    this.#append('user', returned);
  }

  #addResult(part: ToolResultPart, message: ChatMessage): void {
    const texts: string[] = [];
    const media: JsonObject[] = [];
    for (const piece of part.content) {
      if (piece.type === 'text') texts.push(piece.text);
      else if (piece.type === 'foreign')
        this.#dropped.push(`${message.path}.tool_result.${nameOf(piece)}`);
      else {
        this.#reportLost(piece, message);
        media.push(encodeSource(piece.source, fallbackType(piece.type)));
      }
    }
    const place = this.#asked.indexOf(part.toolCallId);
    const together = media.length > 0 && this.#model.isThirdGeneration;
    if (!together) this.#returned.push(...media);
    const functionResponse = compact({
      id: part.toolCallId === '' ? undefined : part.toolCallId,
      // Without its call in the history, the id is the best name there is.
      name: this.#names.get(part.toolCallId) ?? part.toolCallId,
      response: { [part.isError === true ? 'error' : 'output']: texts.join('\n') },
      parts: together ? media : undefined,
    });
    this.#results.push({
      place: place === -1 ? Number.MAX_SAFE_INTEGER : place,
      part: { functionResponse: functionResponse as JsonObject },
    });
  }

  #encodePart(part: Exclude<ChatPart, ToolResultPart>, message: ChatMessage) {
    switch (part.type) {
      case 'text':
        // A text without content is refused, but may be all that a signature stands on.
        if (part.text === '' && part.signature === undefined) return empty;
        return signed({ text: part.text }, part.signature);
      case 'refusal':
        return part.text === '' ? empty : { text: part.text };
      case 'thinking':
        return this.#encodeThinking(part.text, part.signature, message);
      case 'image':
        return signed(encodeSource(part.source, 'image/jpeg'), part.signature);
      case 'file':
        return encodeSource(part.source, fallbackType('file'));
      case 'audio':
        return { inlineData: { mimeType: audioType(part.format), data: part.data } };
      case 'tool-call':
        return signed(encodeCall(part), part.signature ?? this.#skipped(part, message));
      case 'redacted-thinking':
        return undefined;
      case 'foreign':
        return part.format === formatName ? part.value : undefined;
    }
  }

  /** Callers of this format have signatures without marks. */
  #encodeThinking(text: string, marked: string | undefined, message: ChatMessage) {
    const signature = this.#isOwn ? marked : openProof('geminiThought', marked);
    if (marked !== undefined && signature === undefined)
      this.#dropped.push(`${message.path}.thinking.signature`);
    if (text === '' && signature === undefined) return empty;
    return signed({ text, thought: true }, signature);
  }

  /** The first call of a step must be signed; one that came from another model cannot be. */
  #skipped(part: ToolCallPart, message: ChatMessage): string | undefined {
    if (!this.#model.isThirdGeneration) return undefined;
    const first = message.parts.find((other) => other.type === 'tool-call');
    return first === part ? skippedSignature : undefined;
  }

  /** Fields of a part that have no place here. */
  #reportLost(part: ChatPart, { path }: ChatMessage): void {
    if (part.type === 'text' && part.citations !== undefined)
      this.#dropped.push(`${path}.citations`);
    if (part.type === 'image' && part.detail !== undefined && part.detail !== 'auto')
      this.#dropped.push(`${path}.image_url.detail`);
    if (part.type !== 'file') return;
    if (part.filename !== undefined) this.#dropped.push(`${path}.file.filename`);
    if (part.context !== undefined) this.#dropped.push(`${path}.document.context`);
    if (part.citable !== undefined) this.#dropped.push(`${path}.document.citations`);
  }
}

/** A part that is carried by leaving it out. */
const empty: JsonObject = {};

function fallbackType(type: 'image' | 'file'): string {
  return type === 'image' ? 'image/jpeg' : 'application/pdf';
}

function signed(part: JsonObject, signature: string | undefined): JsonObject {
  return signature === undefined ? part : { ...part, thoughtSignature: signature };
}

function encodeCall(part: ToolCallPart): JsonObject {
  const args = callInput(part);
  const id: JsonObject = part.id === '' ? {} : { id: part.id };
  return { functionCall: { ...id, name: part.name, args } };
}

/** How a part that could not be carried is named in `dropped`. */
function nameOf(part: ChatPart): string {
  if (part.type === 'foreign') return String(part.value.type ?? 'part');
  return part.type.replaceAll('-', '_');
}
