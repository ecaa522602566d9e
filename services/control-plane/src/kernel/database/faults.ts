import { GatewayError } from '@sluice/errors';
import { Prisma } from '../../generated/prisma/client.ts';

/** Prisma's codes for a server that is not there or went away in the middle; for one that is too busy, or gave up for others. */
const away = new Set(['P1001', 'P1002', 'P1017']);
const busy = new Set(['P1008', 'P2024', 'P2028', 'P2034', 'P2037']);
const awayKinds = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout']);
const busyKinds = new Set(['TooManyConnections', 'TransactionWriteConflict']);
/**
 * A connection that breaks has no code in `pg`, only one of these texts. An answer is waited for longer than any statement may
 * take: without one the server is silent.
 */
const awayTexts =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|Query read timeout)/;
/**
 * SQLSTATE: connection lost, stopped by an operator; out of resources, a statement or a lock that took too long, a
 * transaction in which nothing was asked for too long, and two transactions in each other's way.
 */
const awayStates = /^(08|57P)/;
/** `read_only_sql_transaction`: a change over a connection that may only read, which is given up as any that failed. */
const readOnlyState = '25006';
const busyStates = /^(53|57014|55P03|25P03|40001|40P01)/;
/** The database may be back at once. */
const retryAfterSeconds = '1';

/**
 * What a store's failure means to the caller: a taken unique value is their
 * doing, a database that is away will be back; the rest is a fault of ours.
 */
export function fromDatabase(error: unknown): unknown {
  if (isDatabaseAway(error) || isDatabaseBusy(error) || isDatabaseReadOnly(error))
    return new GatewayError('admin.control_plane_unavailable', {
      message: 'The database cannot be reached at the moment.',
      headers: { 'retry-after': retryAfterSeconds },
      cause: error,
    });
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return error;
  if (error.code === 'P2002')
    return takesSlug(error)
      ? takenSlug(error)
      : new GatewayError('admin.conflict', { cause: error });
  if (error.code === 'P2025') return new GatewayError('admin.not_found', { cause: error });
  return error;
}

/** What a chosen slug meets that something of its kind has, archived or not. */
export function takenSlug(cause?: unknown): GatewayError {
  return new GatewayError('admin.conflict', {
    field: 'body.slug',
    message: 'Something of this kind has this slug already; what was removed may keep it.',
    cause,
  });
}

function takesSlug(error: Error): boolean {
  return driverFault(error)?.constraint?.index?.endsWith('_slug_key') === true;
}

/** Whether nobody is there who could answer anything. */
export function isDatabaseAway(error: unknown): boolean {
  return fits(error, { codes: away, kinds: awayKinds, text: awayTexts, states: awayStates });
}

/** Whether it is there and gave up what it was asked: for want of room or time, or for somebody else. */
export function isDatabaseBusy(error: unknown): boolean {
  return fits(error, { codes: busy, kinds: busyKinds, states: busyStates });
}

/** Whether it answers questions and takes no changes, as a replica that its primary's address leads to during a failover. */
export function isDatabaseReadOnly(error: unknown): boolean {
  return driverFault(error)?.originalCode === readOnlyState;
}

interface Signs {
  codes: ReadonlySet<string>;
  kinds: ReadonlySet<string>;
  text?: RegExp;
  states: RegExp;
}

function fits(error: unknown, { codes, kinds, text, states }: Signs): boolean {
  if (error instanceof Prisma.PrismaClientKnownRequestError && codes.has(error.code)) return true;
  const fault = driverFault(error);
  return (
    (error instanceof Error && text?.test(error.message) === true) ||
    kinds.has(fault?.kind ?? '') ||
    states.test(fault?.originalCode ?? '')
  );
}

interface DriverFault {
  readonly kind?: string;
  readonly originalCode?: string;
  readonly constraint?: { readonly index?: string };
}

/** What the driver said, which Prisma passes on in one of two places. */
function driverFault(error: unknown): DriverFault | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'DriverAdapterError') return error.cause as DriverFault;
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return undefined;
  return (error.meta?.driverAdapterError as { cause?: DriverFault } | undefined)?.cause;
}
