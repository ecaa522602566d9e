import type { JsonValue } from '@sluice/providers';
import { CheckError } from '../check.ts';

/**
 * What a partner answered, read along the paths that a verdict stands at. What
 * has another shape than the partner documents is no verdict: it throws.
 */
export class Reply {
  readonly #value: JsonValue | undefined;
  readonly #partner: string;
  readonly #path: string;

  constructor(value: JsonValue | undefined, partner: string, path = '') {
    this.#value = value;
    this.#partner = partner;
    this.#path = path;
  }

  /** A member of an object; absent reads as undefined further on. */
  at(name: string): Reply {
    return this.#child(this.#object()[name], name);
  }

  /** The same where there is one: undefined when it is absent or null. */
  maybe(name: string): Reply | undefined {
    const value = this.#object()[name];
    return value === undefined || value === null ? undefined : this.#child(value, name);
  }

  flag(): boolean {
    return typeof this.#value === 'boolean' ? this.#value : this.#refuse('true or false');
  }

  text(): string {
    return typeof this.#value === 'string' ? this.#value : this.#refuse('a text');
  }

  number(): number {
    return typeof this.#value === 'number' ? this.#value : this.#refuse('a number');
  }

  oneOf<const Choices extends readonly string[]>(...choices: Choices): Choices[number] {
    const value = this.text();
    return choices.find((choice) => choice === value) ?? this.#refuse(choices.join(', '));
  }

  list(): Reply[] {
    if (!Array.isArray(this.#value)) return this.#refuse('a list');
    return this.#value.map((item, index) => this.#child(item, String(index)));
  }

  /** A list of one thing for each of so many. */
  listOf(length: number): Reply[] {
    const items = this.list();
    return items.length === length ? items : this.#refuse(`a list of ${length}`);
  }

  entries(): [name: string, value: Reply][] {
    return Object.entries(this.#object()).map(([name, value]) => [name, this.#child(value, name)]);
  }

  /** As it was answered: for the data of a result. */
  json(): JsonValue {
    return this.#value ?? null;
  }

  /** @throws always: this is no answer that says something */
  refuse(expected: string): never {
    return this.#refuse(expected);
  }

  #object(): { readonly [name: string]: JsonValue | undefined } {
    const value = this.#value;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return this.#refuse('an object');
    return value;
  }

  #child(value: JsonValue | undefined, name: string): Reply {
    return new Reply(value, this.#partner, this.#path === '' ? name : `${this.#path}.${name}`);
  }

  #refuse(expected: string): never {
    const what = this.#path === '' ? 'it' : this.#path;
    throw new CheckError(
      'HostFailed',
      `${this.#partner} gave no answer that can be read: ${what} is not ${expected}.`,
    );
  }
}
