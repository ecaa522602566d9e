import type { JsonObject } from '@sluice/contracts';
import type { Quirks } from '../contract.ts';
import { arrayOf, objectOf } from './json-access.ts';

/** The body with the provider's quirks applied; undefined when it stays as it is. */
export function applyQuirks(body: JsonObject, quirks: Quirks | undefined): JsonObject | undefined {
  if (quirks === undefined) return undefined;
  let edited: JsonObject | undefined;
  for (const from in quirks.rename) {
    const value = body[from];
    const to = quirks.rename[from];
    if (value === undefined || to === undefined) continue;
    edited ??= { ...body };
    delete edited[from];
    if (body[to] === undefined) edited[to] = value;
  }
  for (const key of quirks.drop ?? []) {
    if (body[key] === undefined) continue;
    edited ??= { ...body };
    delete edited[key];
  }
  for (const key in quirks.force) {
    const value = quirks.force[key];
    if (value !== undefined) edited = { ...(edited ?? body), [key]: value };
  }
  if (quirks.developerAsSystem === true && hasDeveloper(body)) {
    const messages = (arrayOf(body.messages) ?? []).map((message) => {
      const object = objectOf(message);
      return object?.role === 'developer' ? { ...object, role: 'system' } : message;
    });
    edited = { ...(edited ?? body), messages };
  }
  return edited;
}

function hasDeveloper(body: JsonObject): boolean {
  return (
    arrayOf(body.messages)?.some((message) => objectOf(message)?.role === 'developer') ?? false
  );
}
