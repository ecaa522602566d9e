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
export { checkClaims, checkDates } from './check-claims.ts';
export {
  organisationOf,
  type TokenClaims,
  type TokenRateLimit,
  type TokenUsageLimit,
  userOf,
} from './claims.ts';
export { invalidToken, tokenNotAccepted } from './faults.ts';
export { type IdentityToken, signIdentityToken } from './identity-token.ts';
export { createIntrospection } from './introspection.ts';
export { IssuerKeys } from './issuer-keys.ts';
export { idleKeys, type KeyFault, readKeySet } from './key-set.ts';
export { fixedKeys, type KeySource, RemoteKeys } from './key-source.ts';
export { type McpToken, mcpTokenKeys, peekMcpToken, verifyMcpToken } from './mcp-token.ts';
export {
  RefusalLog,
  type RefusalReport,
  type RefusedToken,
} from './refusal-log.ts';
export { verifySignature } from './signature.ts';
export { subjectId } from './subject-id.ts';
export {
  isTokenShaped,
  type JsonRecord,
  jsonObject,
  maskToken,
  nameToken,
  peekToken,
  readToken,
  type TokenName,
  tokenLengthMax,
} from './token.ts';
export { type CachedToken, TokenCache } from './token-cache.ts';
