/** Beyond it, values stand in the text: parameters travel in the address of the question, which servers bound. */
const boundLengthMax = 4096;

type Type = 'String' | 'Int64' | 'UInt32' | 'UInt64' | 'Float64' | 'Array(UInt32)';

/** The values of one question, each bound to a placeholder in its text. */
export class Parameters {
  readonly values: Record<string, unknown> = {};
  #length = 0;
  #count = 0;

  /** What stands for the value in the text. */
  bind(type: Type, value: string | number | bigint | readonly number[]): string {
    if (typeof value === 'string' && !this.#hasRoom(value.length)) return textLiteral(value);
    if (Array.isArray(value) && !this.#hasRoom(value.length * 5)) return `[${value.join(',')}]`;
    this.#count += 1;
    const name = `p${this.#count}`;
    // The embedded engine's client refuses numbers that are whole and wide, whatever the type; as text they are what they are.
    this.values[name] = typeof value === 'bigint' || type === 'Float64' ? String(value) : value;
    return `{${name}:${type}}`;
  }

  /** A list of texts, for `IN`. */
  bindTexts(values: readonly string[]): string {
    if (!this.#hasRoom(values.reduce((sum, value) => sum + value.length + 3, 0)))
      return `(${values.map(textLiteral).join(',')})`;
    this.#count += 1;
    const name = `p${this.#count}`;
    this.values[name] = values;
    return `{${name}:Array(String)}`;
  }

  #hasRoom(length: number): boolean {
    if (this.#length + length > boundLengthMax) return false;
    this.#length += length;
    return true;
  }
}

/** Any text as SQL writes it. */
export function textLiteral(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&').replaceAll('\0', '\\0')}'`;
}
