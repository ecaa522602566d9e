import { type IdleFields, idleByResource } from '@sluice/contracts/admin';

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
  return idleIn(after as Readonly<Record<string, unknown>>)
    .filter(({ path, by = [] }) => [fieldOf(path), ...by].some(isSent))
    .slice(0, toldMax)
    .map(({ path, why }) => `body.${path}: does nothing: ${why}`);
}

/** More of them help nobody. */
const toldMax = 20;

function fieldOf(path: string): string {
  return /^[^.[]+/.exec(path)?.[0] ?? '';
}
