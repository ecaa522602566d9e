import { GatewayError } from '@sluice/errors';
import { Prisma } from '../generated/prisma/client.ts';

/** What a store's failure means to the caller: only a taken unique value is one of their doing. */
export function fromDatabase(error: unknown): unknown {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return error;
  if (error.code === 'P2002') return new GatewayError('admin.conflict', { cause: error });
  if (error.code === 'P2025') return new GatewayError('admin.not_found', { cause: error });
  return error;
}
