import type { PreparedCall } from '../exchange/prepared-call.ts';

/** Where what an id names is kept: of an object in a bucket the id says it, whoever is asked for it. */
export function keptAt(id: string, { origin, target }: Pick<PreparedCall, 'origin' | 'target'>) {
  const scheme = /^(s3|gs)%3A%2F%2F/.exec(id)?.[1];
  return scheme === undefined || target.customHost !== undefined ? origin : scheme;
}
