import { type IdleField, type IdleFields, idleByResource } from '@sluice/contracts/admin';

/**
 * Tells which fields of a resource do nothing as it has become: of those that were sent, and of those for which what was
 * sent is the reason.
 * @param after how it is shown; undefined where it is gone
 * @param body as it was sent
 */
export function idleWarnings(
  resource: string,
  after: object | undefined,
  body: unknown,
): readonly string[] {
  const rules: Readonly<Record<string, IdleFields | undefined>> = idleByResource;
  const idleIn = rules[resource];
  if (idleIn === undefined || after === undefined) return [];
  if (typeof body !== 'object' || body === null) return [];
  const isSent = (field: string) => Object.hasOwn(body, field);
  return idleLines(
    idleIn(after as Readonly<Record<string, unknown>>).filter(({ path, by = [] }) =>
      [fieldOf(path), ...by].some(isSent),
    ),
  );
}

/**
 * The same where what was sent is all there is of a resource: a sentence each for `warnings`.
 * @param within  where in the body the paths begin
 */
export function idleLines(idle: readonly IdleField[], within = 'body'): string[] {
  return idle.slice(0, toldMax).map(({ path, why }) => `${within}.${path}: does nothing: ${why}`);
}

/** More of them help nobody. */
const toldMax = 20;

function fieldOf(path: string): string {
  return /^[^.[]+/.exec(path)?.[0] ?? '';
}
