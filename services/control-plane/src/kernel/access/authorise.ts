import type { Access } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import type { Caller } from './caller.ts';

/** Whether the access lets the caller in; with a variant, whether to that. */
export function isPermitted(caller: Caller, access: Access, variant?: string): boolean {
  return access.keys.includes(caller.keyType) && holdsScope(caller, access, variant);
}

/** @throws 403 that says what would reach, when the caller's kind of key, or the scopes it holds, do not. */
export function authorise(caller: Caller, access: Access, variant?: string): void {
  if (!access.keys.includes(caller.keyType))
    throw new GatewayError('auth.wrong_key_type', {
      message: `This kind of key (${caller.keyType}) cannot be used here; it takes one of ${access.keys.join(', ')}.`,
    });
  if (!holdsScope(caller, access, variant))
    throw new GatewayError('auth.missing_scope', {
      message: `You do not have enough permissions to execute this request: it needs one of the scopes ${acceptedScopes(access, variant).join(', ')}.`,
    });
}

function holdsScope(caller: Caller, access: Access, variant: string | undefined): boolean {
  return acceptedScopes(access, variant).some((scope) => caller.scopes.has(scope));
}

function acceptedScopes({ scopes }: Access, variant: string | undefined): readonly string[] {
  if (Array.isArray(scopes)) return scopes;
  const variants = scopes as Readonly<Record<string, readonly string[]>>;
  return variant === undefined ? Object.values(variants).flat() : (variants[variant] ?? []);
}
