import { hash } from 'node:crypto';

/**
 * A UUID (version 8) for the bearer of tokens, the same for every token of the
 * same user: limits that are counted by caller must not begin anew with each
 * token, and what a token wrote needs an author. Tokens that name no user share one.
 */
export function subjectId(organisationId: string, user: string | undefined): string {
  const hex = hash('sha256', JSON.stringify(['jwt', organisationId, user ?? null]), 'hex');
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
