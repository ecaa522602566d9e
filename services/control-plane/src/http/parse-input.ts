import { GatewayError } from '@sluice/errors';
import type { z } from 'zod';

/**
 * Checks one part of a request. A body that was not sent is a fault like any
 * other; operations that can do without one say so.
 * @throws 400 with the path of every fault.
 */
export function parseInput<S extends z.ZodType>(
  schema: S,
  value: unknown,
  part: 'body' | 'query' | 'path',
): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const faults = result.error.issues
    .slice(0, 20)
    .map((issue) => ({ path: faultPath(part, issue.path), message: issue.message }));
  const first = faults[0];
  throw new GatewayError('admin.validation', {
    message: `${first?.path ?? part}: ${first?.message ?? 'is not valid'}`,
    field: first?.path ?? part,
    faults: faults.map((fault) => `${fault.path}: ${fault.message}`),
  });
}

function faultPath(part: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}.${String(step)}`),
    part,
  );
}

/** A 400 about one field, for faults that only the database can show. */
export function invalidField(field: string, message: string): GatewayError {
  return new GatewayError('admin.validation', { field, message: `${field}: ${message}` });
}
