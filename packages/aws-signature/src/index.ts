/**
 * Signatures of AWS, version 4: of calls of models (`services/gateway/src/upstream-auth/aws`)
 * and of objects (`packages/object-store`). Whose credentials these are is the
 * caller's affair; nothing here reads a setting or opens a connection.
 */
export type { AwsCredentials } from './credentials.ts';
export { presignUrl } from './presign-url.ts';
export { Sha256 } from './sha256.ts';
export { type SignableRequest, type SignatureScope, signRequest } from './sign-request.ts';
