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
    .flatMap(meantFaults)
    .slice(0, 20)
    .map((issue) => ({ path: faultPath(part, issue.path), message: issue.message }));
  const first = faults[0];
  throw new GatewayError('admin.validation', {
    message: `${first?.path ?? part}: ${first?.message ?? 'is not valid'}`,
    field: first?.path ?? part,
    faults: faults.map((fault) => `${fault.path}: ${fault.message}`),
  });
}

type Issue = z.core.$ZodIssue;

/**
 * Of a value that may have one of several forms, the faults of the form that
 * was meant, if its type tells: what is wrong within a list, not that it is no object.
 */
function meantFaults(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const [meant, ...others] = issue.errors.filter(
    (issues) => !issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
  );
  if (meant === undefined || others.length > 0) return [issue];
  return meant
    .flatMap(meantFaults)
    .map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

function faultPath(part: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}.${String(step)}`),
    part,
  );
}
