import { matchObject, type NamedObject, objectsAt } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { JsonObject, JsonValue } from '@sluice/providers';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { NamedObjects } from '../exchange/named-objects.ts';
import { repeatedMember } from '../http/repeated-members.ts';
import { isKeptAddress, objectId } from './object-id.ts';

type Id = NamedObjects['ids'][number];
/** `at` as callers read it. */
type Name = Omit<NamedObject, 'at'> & { readonly at: string };

/** More than any request has reason to name; what is beyond is refused, since nobody would look at it. */
const idsMax = 500;
/** Of a batch, whose requests come in one body. */
const idsOfBatchMax = 20_000;
const ofBatches: ReadonlySet<string> = new Set(['createBatch', 'createMessageBatch']);
/** Of no vendor that we know are longer: those of files may be addresses, escaped twice. */
export const idLengthMax = 4096;

/** The ids that a request names, each once, with the place of the first that says it. */
export class NamedIds {
  readonly ids: Id[] = [];
  readonly #seen = new Set<string>();
  readonly #max: number;

  constructor(max = idsMax) {
    this.#max = max;
  }

  /** @throws GatewayError for one that is too long, and for too many */
  add({ kind, at: field, isAddress, mayBeCommon, rows }: Name, given: unknown): void {
    if (typeof given !== 'string' || given === '') return;
    if (isAddress === true && !isKeptAddress(given)) return;
    const id = objectId(kind, given);
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
    this.ids.push({
      kind,
      id,
      field,
      ...(isAddress && { isAddress }),
      ...(mayBeCommon && { mayBeCommon }),
      ...(rows && { rows }),
    });
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
  const found = new NamedIds(ofBatches.has(subject.operation.id) ? idsOfBatchMax : idsMax);
  for (const { kind, id, at } of passing) found.add({ kind, at }, id);
  const places = placesOf(names ?? []);
  if (places.inAddress.length > 0) {
    const { parameters = {} } = matchObject(arrival.method, subject.pathname) ?? {};
    const query = new URLSearchParams(subject.search);
    for (const { name, where, member } of places.inAddress) {
      const given = where === 'path' ? [parameters[member]] : query.getAll(member);
      for (const id of given) found.add(name, id);
    }
  }
  const before = found.ids.length;
  const body = subject.form === undefined ? subject.json : nestedFields(subject.json);
  collect(body, places.inBody, found);
  const isInBody = found.ids.length > before;
  // Of a form's fields that are there twice, both are seen.
  if (isInBody && subject.form === undefined) refuseRepeated(subject.body);
  return found.ids;
}

/** The same of a body alone. @throws GatewayError for too many */
export function idsInBody(names: readonly NamedObject[], body: JsonObject): readonly Id[] {
  const found = new NamedIds();
  collect(body, placesOf(names).inBody, found);
  return found.ids;
}

const none: readonly Id[] = [];

/** What a value is looked at for. */
interface Place {
  /** It is an id itself. */
  name: NamedObject | undefined;
  readonly members: Map<string, Place>;
  /** Each item of a list, or member of an object. */
  each: Place | undefined;
}

interface Places {
  readonly inAddress: readonly {
    readonly name: NamedObject;
    readonly where: 'path' | 'query';
    readonly member: string;
  }[];
  readonly inBody: Place;
}

const newPlace = (): Place => ({ name: undefined, members: new Map(), each: undefined });
const known = new WeakMap<readonly NamedObject[], Places>();

/** The names of a row by where they stand, so that a body is walked once for all of them. */
function placesOf(names: readonly NamedObject[]): Places {
  let places = known.get(names);
  if (places === undefined) {
    places = readPlaces(names);
    known.set(names, places);
  }
  return places;
}

function readPlaces(names: readonly NamedObject[]): Places {
  const inAddress: Places['inAddress'][number][] = [];
  const inBody = newPlace();
  for (const name of names) {
    const [where, ...steps] = name.at.split('.');
    if (where === 'path' || where === 'query') {
      inAddress.push({ name, where, member: steps[0] ?? '' });
      continue;
    }
    let place = inBody;
    for (const step of steps) {
      const next = step === '*' ? place.each : place.members.get(step);
      const reached = next ?? newPlace();
      if (step === '*') place.each = reached;
      else place.members.set(step, reached);
      place = reached;
    }
    place.name = name;
  }
  return { inAddress, inBody };
}

function collect(value: JsonValue | undefined, place: Place, found: NamedIds): void {
  if (typeof value === 'string') {
    if (place.name !== undefined) found.add(place.name, value);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) {
      // A form has a list where it has a field twice.
      if (place.name !== undefined) found.add(place.name, item);
      if (place.each !== undefined) collect(item, place.each, found);
    }
    return;
  }
  if (place.each !== undefined)
    for (const item of Object.values(value)) collect(item, place.each, found);
  for (const [member, next] of place.members)
    if (Object.hasOwn(value, member)) collect(value[member], next, found);
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
