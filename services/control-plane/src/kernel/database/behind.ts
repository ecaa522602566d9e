import { Prisma } from '../../generated/prisma/client.ts';

/** One more condition of a page by id, of what stands behind an id; none where the page is the first. */
export function behind(id: string | undefined): Prisma.Sql {
  return id === undefined ? Prisma.empty : Prisma.sql`AND id > ${id}::uuid`;
}
