import type { JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, objectOf } from '../json/json-access.ts';

/**
 * Fields gathered from many chunks. Each method answers whether the value
 * could be taken in; a `false` means that the stream has no faithful JSON.
 */
export class GatheredFields {
  readonly values: JsonObject = {};

  /** Null says nothing where something else is said. A second value must be the first one again. */
  same(key: string, value: JsonValue): boolean {
    const held = this.values[key];
    if (held === undefined || held === null) this.values[key] = value;
    else if (value !== null) return JSON.stringify(held) === JSON.stringify(value);
    return true;
  }

  /** May be said once: what a second one would mean (more, again, instead) is not known. */
  once(key: string, value: JsonValue): boolean {
    const held = this.values[key];
    if (held !== undefined && held !== null) return value === null;
    this.values[key] = value;
    return true;
  }

  /** The first value that is not empty stays. */
  first(key: string, value: JsonValue): boolean {
    this.values[key] ||= value;
    return true;
  }

  /** A text in fragments; null until there is one. */
  append(key: string, value: JsonValue): boolean {
    const held = this.values[key];
    if (value === null) {
      if (held === undefined) this.values[key] = null;
      return true;
    }
    if (typeof value !== 'string') return false;
    this.values[key] = typeof held === 'string' ? held + value : value;
    return true;
  }

  /** A list in pieces. */
  extend(key: string, value: JsonValue): boolean {
    const more = value === null ? [] : arrayOf(value);
    if (more === undefined) return false;
    this.values[key] = [...(arrayOf(this.values[key]) ?? []), ...more];
    return true;
  }

  /** An object whose lists go on from chunk to chunk, as `logprobs` does. */
  extendLists(key: string, value: JsonValue): boolean {
    if (value === null) {
      this.values[key] ??= null;
      return true;
    }
    const more = objectOf(value);
    if (more === undefined) return false;
    const lists = objectOf(this.values[key]) ?? {};
    this.values[key] = lists;
    for (const name in more) {
      const next = more[name];
      const held = arrayOf(lists[name]);
      if (next === null || next === undefined) lists[name] ??= null;
      else if (!Array.isArray(next)) return false;
      else if (held === undefined) lists[name] = [...next];
      else for (const item of next) held.push(item);
    }
    return true;
  }
}
