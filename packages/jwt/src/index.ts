/**
 * Tokens of other issuers as credentials: is one genuine, until when, and what
 * does it say. Pure but for the keys it fetches with what it is given; who takes
 * which token, and what its bearer may do, is the services' affair. Start at `authority.ts`.
 */
export {
  createTokenAuthority,
  type TokenAuthority,
  type TokenAuthorityOptions,
  type VerifiedToken,
} from './authority.ts';
export {
  organisationOf,
  type TokenClaims,
  type TokenRateLimit,
  type TokenUsageLimit,
  userOf,
} from './claims.ts';
export { invalidToken, tokenNotAccepted } from './faults.ts';
export { type KeyFault, readKeySet } from './key-set.ts';
export {
  RefusalLog,
  type RefusalReport,
  type RefusedToken,
} from './refusal-log.ts';
export { subjectId } from './subject-id.ts';
export { isTokenShaped, maskToken, nameToken, peekToken, type TokenName } from './token.ts';
export { type CachedToken, TokenCache } from './token-cache.ts';
