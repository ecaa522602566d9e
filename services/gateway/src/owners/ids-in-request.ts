import { matchObject, type NamedObject, objectsAt } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { canonicalFileId, type JsonObject, type JsonValue } from '@sluice/providers';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { NamedObjects } from '../exchange/named-objects.ts';
import { repeatedMember } from '../http/repeated-members.ts';

type Id = NamedObjects['ids'][number];

/** More than any request has reason to name; what is beyond is refused, since nobody would look at it. */
const idsMax = 500;
/** Of a batch, whose requests come in one body. */
const idsOfBatchMax = 20_000;
/** Of no vendor that we know are longer: those of files may be addresses, escaped twice. */
export const idLengthMax = 4096;

const inBucket = /^(?:s3|gs):\/\//i;

/** The ids that a request names, each once, with the place of the first that says it. */
export class NamedIds {
  readonly ids: Id[] = [];
  readonly #seen = new Set<string>();
  readonly #max: number;

  constructor(max = idsMax) {
    this.#max = max;
  }

  /** @throws GatewayError for one that is too long, and for too many */
  add({ kind, at: field, isAddress }: NamedObject, given: unknown): void {
    if (typeof given !== 'string' || given === '') return;
    if (isAddress === true && !inBucket.test(given)) return;
    const id = kind === 'file' ? canonicalFileId(given) : given;
    if (given.length > idLengthMax)
      throw new GatewayError('request.invalid_field', {
        field,
        message: `An id has at most ${idLengthMax} characters.`,
      });
    if (this.#seen.has(id)) return;
    if (this.ids.length === this.#max)
      throw new GatewayError('request.invalid_field', {
        field,
        message: `A request names at most ${this.#max} objects by their ids.`,
      });
    this.#seen.add(id);
    this.ids.push({ kind, id, field, ...(isAddress && { isAddress }) });
  }
}

/**
 * The ids of what stays at a provider that a request names, in its path and its
 * body, as its operation says where they stand.
 * @throws GatewayError for ids of which two readers may see different ones, and for too many
 */
export function idsInRequest({ subject, arrival }: ModelExchange): readonly Id[] {
  let { names } = subject.operation.objects ?? {};
  let passing: ReturnType<typeof objectsAt>['ids'] = [];
  // Nobody gets past an owner by another prefix, or by a path that no row knows.
  if (subject.operation.id === 'proxy') {
    const at = objectsAt(arrival.method, subject.pathname);
    names = at.facts?.names;
    passing = at.ids;
  }
  if (names === undefined && passing.length === 0) return none;
  const found = new NamedIds(
    subject.operation.id === 'createMessageBatch' ? idsOfBatchMax : idsMax,
  );
  for (const { kind, id, at } of passing) found.add({ kind, at }, id);
  let parameters: Readonly<Record<string, string>> | undefined;
  let isInBody = false;
  const body = subject.form === undefined ? subject.json : nestedFields(subject.json);
  for (const name of names ?? []) {
    const [where, ...members] = name.at.split('.');
    if (where === 'path') {
      parameters ??= matchObject(arrival.method, subject.pathname)?.parameters ?? {};
      found.add(name, parameters[members[0] ?? '']);
      continue;
    }
    if (where === 'query') {
      for (const id of new URLSearchParams(subject.search).getAll(members[0] ?? ''))
        found.add(name, id);
      continue;
    }
    const before = found.ids.length;
    collect(body, members, (id) => found.add(name, id));
    isInBody ||= found.ids.length > before;
  }
  // Of a form's fields that are there twice, both are seen.
  if (isInBody && subject.form === undefined) refuseRepeated(subject.body);
  return found.ids;
}

const none: readonly Id[] = [];

function collect(
  value: JsonValue | undefined,
  members: readonly string[],
  onId: (id: unknown) => void,
): void {
  const [first, ...rest] = members;
  if (first === undefined) {
    // A form has a list where it has a field twice.
    for (const id of Array.isArray(value) ? value : [value]) onId(id);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (first === '*') for (const item of Object.values(value)) collect(item, rest, onId);
  else if (!Array.isArray(value) && Object.hasOwn(value, first)) collect(value[first], rest, onId);
}

/** A form's fields as JSON would have them: `a[0][b]`, `a[][b]` and `a[b]` are members of members. */
function nestedFields(fields: JsonObject | undefined): JsonObject {
  const nested: JsonObject = {};
  for (const [index, [name, value]] of Object.entries(fields ?? {}).entries()) {
    const [first = '', ...steps] = name.split(/\]?\[|\]$/);
    let at = nested;
    let step = first;
    for (const next of steps.filter((one, place) => one !== '' || place < steps.length - 1)) {
      const inner = Object.hasOwn(at, step) ? at[step] : undefined;
      const object: JsonObject = isObject(inner) ? inner : {};
      setOwn(at, step, object);
      at = object;
      step = next === '' ? `[${index}]` : next;
    }
    setOwn(at, step, value);
  }
  return nested;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Also of a name that objects inherit. */
function setOwn(object: JsonObject, name: string, value: JsonValue | undefined): void {
  Object.defineProperty(object, name, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  });
}

/** Whoever takes the first of two members would be sent where the last one belongs. */
function refuseRepeated(body: Buffer | undefined): void {
  const repeated = body === undefined ? undefined : repeatedMember(body);
  if (repeated !== undefined)
    throw new GatewayError('request.ambiguous_member', {
      field: 'body',
      message: `The body has the member "${repeated.slice(0, 80)}" twice in one object, and names objects by their ids.`,
    });
}
