import type { JsonValue } from '../../contract.ts';
import type { AvroType } from './avro-schema.ts';

/** Thrown where bytes end before a value does. */
export class AvroEnd extends Error {}

const depthMax = 64;

/**
 * Values as https://avro.apache.org/docs/1.12.0/specification/#binary-encoding
 * has them, as JSON: bytes in base64, whole numbers beyond 2^53 as texts, no number as null.
 */
export class AvroBytes {
  readonly #bytes: Buffer;
  #at = 0;
  #valuesLeft: number;

  /** @param valuesMax how many values it may say that there are: some take no bytes */
  constructor(bytes: Buffer, valuesMax = Number.POSITIVE_INFINITY) {
    this.#bytes = bytes;
    this.#valuesLeft = valuesMax;
  }

  get at(): number {
    return this.#at;
  }

  /** @throws AvroEnd, Error for what is no such value */
  value(type: AvroType, depth = 0): JsonValue {
    if (depth > depthMax || --this.#valuesLeft < 0) throw new Error('too many values');
    switch (type.kind) {
      case 'null':
        return null;
      case 'boolean':
        return this.take(1)[0] === 1;
      case 'int':
        return this.#whole();
      case 'float':
        return numberOrNone(this.take(4).readFloatLE());
      case 'double':
        return numberOrNone(this.take(8).readDoubleLE());
      case 'bytes':
        return this.take(this.count()).toString('base64');
      case 'string':
        return this.take(this.count()).toString('utf8');
      case 'fixed':
        return this.take(type.size).toString('base64');
      case 'enum':
        return chosen(type.symbols, this.count());
      case 'union':
        return this.value(chosen(type.branches, this.count()), depth + 1);
      case 'array':
        return [...this.#items(() => this.value(type.of, depth + 1))];
      case 'map':
        return Object.fromEntries(this.#items(() => this.#pair(type.of, depth)));
      case 'record':
        return Object.fromEntries(
          type.fields.map((field) => [field.name, this.value(field.type, depth + 1)]),
        );
    }
  }

  /** A whole number that must not be negative. */
  count(): number {
    const number = this.#whole();
    if (typeof number === 'number' && number >= 0) return number;
    throw new Error('a length that is none');
  }

  take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new AvroEnd();
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  #pair(type: AvroType, depth: number): [string, JsonValue] {
    const name = this.take(this.count()).toString('utf8');
    return [name, this.value(type, depth + 1)];
  }

  *#items<Item>(next: () => Item): Generator<Item, void> {
    for (;;) {
      let count = this.#whole();
      if (count === 0) return;
      if (typeof count !== 'number') throw new Error('too many values');
      if (count < 0) {
        count = -count;
        // What they take in bytes, for those that leave them out.
        this.count();
      }
      for (let at = 0; at < count; at++) yield next();
    }
  }

  /** Zigzag, in groups of seven bits. */
  #whole(): number | string {
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.take(1)[0] as number;
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) return (low >>> 1) ^ -(low & 1);
    }
    let long = BigInt(low);
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.take(1)[0] as number;
      long |= BigInt(byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      const whole = BigInt.asIntN(64, (long >> 1n) ^ -(long & 1n));
      const number = Number(whole);
      return Number.isSafeInteger(number) ? number : String(whole);
    }
    throw new Error('a number that does not end');
  }
}

function numberOrNone(number: number): number | null {
  return Number.isFinite(number) ? number : null;
}

function chosen<Choice>(choices: readonly Choice[], at: number): Choice {
  const choice = choices[at];
  if (choice === undefined) throw new Error('a choice that is not there');
  return choice;
}
