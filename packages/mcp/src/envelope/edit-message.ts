import type { JsonValue } from '@sluice/contracts';
import { JsonEdit } from '@sluice/json';
import { subjectFields } from './protocol.ts';
import type { McpMessage } from './read-message.ts';

/**
 * Changes of one message; all else keeps its bytes. Texts are JSON where the name says so, values where it does not.
 */
export class MessageEdit {
  readonly #edit: JsonEdit;
  readonly #message: McpMessage;

  constructor(message: McpMessage) {
    this.#message = message;
    this.#edit = new JsonEdit(message.bytes);
  }

  /** @param idText JSON text of an id */
  setId(idText: string): this {
    this.#edit.set(['id'], idText);
    return this;
  }

  /** Of params or of a result; undefined = left out. */
  setMeta(name: string, value: JsonValue | undefined): this {
    this.#edit.set([this.#holder(), '_meta', name], textOf(value));
    return this;
  }

  /** What the method is about: the name of a tool or prompt, a URI, a task; of a completion what it refers to. */
  setSubject(subject: string): this {
    const { kind, document } = this.#message;
    const method = kind === 'request' || kind === 'notification' ? String(document.method) : '';
    const field = subjectFields.get(method);
    const json = JSON.stringify(subject);
    if (field !== undefined) this.#edit.set(['params', field], json);
    else if (method === 'completion/complete') {
      const { ref } = (document.params ?? {}) as { ref?: { type?: JsonValue } };
      this.#edit.set(['params', 'ref', ref?.type === 'ref/prompt' ? 'name' : 'uri'], json);
    } else throw new Error(`${method} is about nothing`);
    return this;
  }

  /** A member of params, e.g. `cursor`, `requestId`; undefined = left out. */
  setParam(name: string, value: JsonValue | undefined): this {
    this.#edit.set(['params', name], textOf(value));
    return this;
  }

  /** An argument of a call; undefined = left out. */
  setArgument(name: string, value: JsonValue | undefined): this {
    this.#edit.set(['params', 'arguments', name], textOf(value));
    return this;
  }

  /** A member of a result, e.g. `nextCursor`, `resultType`; undefined = left out. */
  setResult(name: string, value: JsonValue | undefined): this {
    this.#edit.set(['result', name], textOf(value));
    return this;
  }

  /** Any value, by its path from the message down. @param json JSON text; undefined = left out */
  setAt(path: readonly (string | number)[], json: string | undefined): this {
    this.#edit.set(path, json);
    return this;
  }

  /** The message with all changes; its own bytes where there are none. */
  bytes(): Buffer {
    return this.#edit.bytes();
  }

  #holder(): string {
    return this.#message.kind === 'response' ? 'result' : 'params';
  }
}

function textOf(value: JsonValue | undefined): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}
