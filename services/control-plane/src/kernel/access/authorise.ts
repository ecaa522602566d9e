import type { Access } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import type { Caller } from './caller.ts';

/** Whether the access lets the caller in; with a variant, whether to that. */
export function isPermitted(caller: Caller, access: Access, variant?: string): boolean {
  return access.keys.includes(caller.keyType) && holdsScope(caller, access, variant);
}

/** @throws 403 when the caller's kind of key, or the scopes it holds, do not reach. */
export function authorise(caller: Caller, access: Access, variant?: string): void {
  if (!access.keys.includes(caller.keyType)) throw new GatewayError('auth.wrong_key_type');
  if (!holdsScope(caller, access, variant)) throw new GatewayError('auth.missing_scope');
}

function holdsScope(caller: Caller, { scopes }: Access, variant: string | undefined): boolean {
  if (Array.isArray(scopes)) return scopes.some((scope) => caller.scopes.has(scope));
  const variants = scopes as Readonly<Record<string, readonly string[]>>;
  const accepted =
    variant === undefined ? Object.values(variants).flat() : (variants[variant] ?? []);
  return accepted.some((scope) => caller.scopes.has(scope));
}
