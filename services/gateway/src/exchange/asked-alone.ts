import type { Target } from './target.ts';

/** Whether it can be asked without what its caller brought: a credential is saved, or it takes none. */
export function isAskedAlone({ credentialBy, saved, entry }: Target): boolean {
  return credentialBy === 'admin' || (saved !== undefined && entry.auth.type === 'none');
}
