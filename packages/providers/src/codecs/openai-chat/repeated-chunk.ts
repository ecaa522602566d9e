/**
 * Chunks of a stream differ in their text alone, most of them. Once one was read
 * as a text and nothing else, those that have the same bytes around another text
 * are such texts too, and need not be parsed.
 */
export class RepeatedChunk {
  #head: string | undefined;
  #tail = '';

  /** The text of a chunk like the one that was learnt; undefined = it has to be read. */
  textOf(data: string): string | undefined {
    const head = this.#head;
    if (head === undefined || !data.startsWith(head)) return undefined;
    const end = data.indexOf('"', head.length);
    if (end <= head.length || !this.#isTail(data, end)) return undefined;
    const text = data.slice(head.length, end);
    return isPlain(text) ? text : undefined;
  }

  /** `text` is all that this chunk says. */
  learn(data: string, text: string): void {
    this.#head = undefined;
    const at = data.indexOf(member);
    const start = at + member.length;
    const end = start + text.length;
    // Of two that could be meant neither is.
    const isThere = at !== -1 && !data.includes(member, start) && data[end] === '"';
    if (!isThere || !isPlain(text) || data.slice(start, end) !== text) return;
    this.#head = data.slice(0, start);
    this.#tail = withoutPadding(data.slice(end));
  }

  forget(): void {
    this.#head = undefined;
  }

  /** The padding that OpenAI adds is another with each chunk, and means nothing. */
  #isTail(data: string, from: number): boolean {
    const tail = this.#tail;
    if (data.length === from + tail.length) return data.endsWith(tail);
    return data.startsWith(tail.slice(0, -1), from) && withoutPadding(data.slice(from)) === tail;
  }
}

const member = '"content":"';

/** What stands for itself in a JSON text: nothing escaped, and nothing that would have to be. */
function isPlain(text: string): boolean {
  return !escaped.test(text);
}

const escaped = /["\\\p{Cc}]/u;

function withoutPadding(tail: string): string {
  return tail.replace(padding, '}');
}

const padding = /,"obfuscation":"[A-Za-z0-9]*"\}$/;
