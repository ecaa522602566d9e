import { Prisma } from '../../generated/prisma/client.ts';

/** Json null in a column that may be empty. */
export const noJson = Prisma.DbNull;
