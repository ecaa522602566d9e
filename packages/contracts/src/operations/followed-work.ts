import type { FollowedWork, MadeObject, ObjectKind } from './operation.ts';
import { endpoints, objectOperations } from './operations.ts';

/** How work of each kind is followed; of a kind that is not in it nothing goes on. */
export const followedWork: ReadonlyMap<ObjectKind, FollowedWork> = new Map(
  [...endpoints, ...objectOperations].flatMap(({ objects }) =>
    (objects?.makes ?? []).flatMap(({ kind, follow }) =>
      follow === undefined ? [] : [[kind, follow] as const],
    ),
  ),
);

/** In place of a longer one nothing is followed: no vendor has such ids. */
const pathLengthMax = 1024;

/**
 * The path by which work is looked at that a document tells of as made. Undefined = nothing goes on: it has ended with its answer,
 * or the document does not say where it is found.
 */
export function lookPathOf(
  { id, follow }: Pick<MadeObject, 'id' | 'follow'>,
  document: Readonly<Record<string, unknown>>,
): string | undefined {
  if (follow === undefined || endOf(follow, document) !== undefined) return undefined;
  if (follow.only !== undefined && document[follow.only] !== true) return undefined;
  const names = follow.look.match(/:\w+/g) ?? [];
  const own = names.at(-1);
  let isWhole = true;
  const path = follow.look.slice('GET '.length).replaceAll(/:(\w+)/g, (name, member: string) => {
    const value = document[name === own ? id : member];
    if (typeof value !== 'string' || value === '' || /^\.{1,2}$/.test(value)) isWhole = false;
    return encodeURIComponent(String(value));
  });
  return isWhole && path.length <= pathLengthMax ? path : undefined;
}

/** The state in which work has ended; undefined = it goes on, as far as its document says. */
export function endOf(
  { ended }: FollowedWork,
  { status }: Readonly<Record<string, unknown>>,
): string | undefined {
  return typeof status === 'string' && ended.includes(status) ? status : undefined;
}
