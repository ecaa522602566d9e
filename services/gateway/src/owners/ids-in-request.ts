import { givenFiles, matchObject, type ObjectKind, objectsAt } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { canonicalFileId, type JsonValue } from '@sluice/providers';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { NamedObjects } from '../exchange/named-objects.ts';
import { repeatedMember } from '../http/repeated-members.ts';

type Id = NamedObjects['ids'][number];

/** More than any request has reason to name; what is beyond is refused, since nobody would look at it. */
const idsMax = 500;
/** Of no vendor that we know are longer: those of files may be addresses, escaped twice. */
const idLengthMax = 4096;

/**
 * The ids of what stays at a provider that a request names, in its path and its
 * body, as its operation says where they stand.
 * @throws GatewayError for ids of which two readers may see different ones, and for too many
 */
export function idsInRequest({ subject, arrival }: ModelExchange): readonly Id[] {
  const ids: Id[] = [];
  let names = subject.operation.objects?.names ?? givenFiles[subject.operation.id];
  if (subject.operation.id === 'proxy') {
    // Nobody gets past an owner by another prefix, or by a path that no row knows.
    const passing = objectsAt(arrival.method, subject.pathname);
    names = passing.facts?.names;
    for (const { kind, id, at } of passing.ids) add(ids, kind, id, at);
  }
  if (names === undefined) return ids;
  let parameters: Readonly<Record<string, string>> | undefined;
  let isInBody = false;
  for (const { kind, at } of names) {
    const [where, ...members] = at.split('.');
    if (where === 'path') {
      parameters ??= matchObject(arrival.method, subject.pathname)?.parameters ?? {};
      add(ids, kind, parameters[members[0] ?? ''], at);
      continue;
    }
    if (where === 'query') {
      for (const id of new URLSearchParams(subject.search).getAll(members[0] ?? ''))
        add(ids, kind, id, at);
      continue;
    }
    const before = ids.length;
    collect(subject.json, members, kind, at, ids);
    isInBody ||= ids.length > before;
  }
  // Of a form's fields that are there twice, both are seen.
  if (isInBody && subject.form === undefined) refuseRepeated(subject.body);
  return ids;
}

function collect(
  value: JsonValue | undefined,
  members: readonly string[],
  kind: ObjectKind,
  field: string,
  ids: Id[],
): void {
  const [first, ...rest] = members;
  if (first === undefined) {
    // A form has a list where it has a field twice.
    for (const id of Array.isArray(value) ? value : [value]) add(ids, kind, id, field);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (first === '*') {
    if (Array.isArray(value)) for (const item of value) collect(item, rest, kind, field, ids);
  } else if (!Array.isArray(value) && Object.hasOwn(value, first))
    collect(value[first], rest, kind, field, ids);
}

function add(ids: Id[], kind: ObjectKind, given: unknown, field: string): void {
  if (typeof given !== 'string' || given === '') return;
  const id = kind === 'file' ? canonicalFileId(given) : given;
  if (given.length > idLengthMax)
    throw new GatewayError('request.invalid_field', {
      field,
      message: `An id has at most ${idLengthMax} characters.`,
    });
  if (ids.some((other) => other.id === id)) return;
  if (ids.length === idsMax)
    throw new GatewayError('request.invalid_field', {
      field,
      message: `A request names at most ${idsMax} objects by their ids.`,
    });
  ids.push({ kind, id, field });
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
