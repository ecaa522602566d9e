import { type NamedObject, rowNames } from '@sluice/contracts';
import { bucketNames } from './bucket-names.ts';
import { rowDialect } from './row-dialects.ts';

/**
 * Where rows of a file that a provider works through name what stays there: `body` is a row's member, `**` any text in it.
 * Empty = nowhere.
 * @param rows examples of vendors without buckets are words, or pictures by their addresses on the web
 */
export function namesInRows(
  providerId: string,
  rows: NonNullable<NamedObject['rows']>,
): readonly NamedObject[] {
  const { names = rowNames } = rowDialect(providerId);
  return rows === 'requests' || names === bucketNames ? names : [];
}
