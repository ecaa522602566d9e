import { createHash, randomBytes } from 'node:crypto';

/** What is in the link of an invite, and what is kept of it. */
export interface InviteToken {
  readonly text: string;
  readonly hash: Buffer;
}

export function createInviteToken(): InviteToken {
  const text = randomBytes(32).toString('base64url');
  return { text, hash: hashInviteToken(text) };
}

/** No pepper is needed: nobody guesses 256 random bits. */
export function hashInviteToken(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * Nobody sends mail here: whoever makes an invite passes its link on.
 * @param base  where people reach the API, without `/v1` and without a slash at the end
 */
export function inviteLink(base: string, token: InviteToken): string {
  return `${base}/v1/admin/users/invites/accept?token=${token.text}`;
}
