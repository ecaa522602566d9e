import { GatewayError } from '@sluice/errors';
import type { Caller } from './caller.ts';
import { type OperationId, operationRule } from './table.ts';

/** Whether the caller may do the operation; with a variant, whether they may do it to that. */
export function isPermitted(caller: Caller, id: OperationId, variant?: string): boolean {
  return operationRule(id).keys.includes(caller.keyType) && holdsScope(caller, id, variant);
}

/** @throws 403 when the caller's kind of key, or the scopes it holds, do not reach. */
export function authorise(caller: Caller, id: OperationId, variant?: string): void {
  if (!operationRule(id).keys.includes(caller.keyType))
    throw new GatewayError('auth.wrong_key_type');
  if (!holdsScope(caller, id, variant)) throw new GatewayError('auth.missing_scope');
}

function holdsScope(caller: Caller, id: OperationId, variant: string | undefined): boolean {
  const { scopes } = operationRule(id);
  if (Array.isArray(scopes)) return scopes.some((scope) => caller.scopes.has(scope));
  const variants = scopes as Readonly<Record<string, readonly string[]>>;
  const accepted =
    variant === undefined ? Object.values(variants).flat() : (variants[variant] ?? []);
  return accepted.some((scope) => caller.scopes.has(scope));
}
