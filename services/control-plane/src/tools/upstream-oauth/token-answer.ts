import { GatewayError } from '@sluice/errors';
import * as oauth from 'oauth4webapi';
import { SignInFault } from '../registry/sign-in-fault.ts';

/** What a token endpoint gave, as far as it can be used. */
export interface TokenAnswer {
  readonly token: string;
  /** Undefined = it does not say. */
  readonly lastsMs: number | undefined;
  readonly refreshToken: string | undefined;
  /** Undefined = what was asked for. */
  readonly scope: string | undefined;
}

const tokenPattern = /^[\x21-\x7e]{1,12000}$/;
const scopeLengthMax = 4_096;

/** @throws SignInFault where it is no bearer token */
export function readTokenAnswer(answer: oauth.TokenEndpointResponse): TokenAnswer {
  const { access_token: token, token_type: type, expires_in: lasts } = answer;
  const { refresh_token: refreshToken, scope } = answer;
  const isUsable = (each: string | undefined) => each === undefined || tokenPattern.test(each);
  if (type !== 'bearer' || !tokenPattern.test(token) || !isUsable(refreshToken))
    throw new SignInFault(
      'invalid_token_response',
      'The token endpoint gave something that is no bearer token.',
    );
  return {
    token,
    lastsMs: lasts === undefined ? undefined : Math.max(0, lasts) * 1000,
    refreshToken,
    scope: scope === undefined || scope.length > scopeLengthMax ? undefined : scope,
  };
}

/** When a token is renewed, before it expires: that long, or a fifth of its life. */
const renewAheadMs = 90_000;

export function renewsAfterMs(lastsMs: number): number {
  return Math.max(lastsMs * 0.8, lastsMs - renewAheadMs);
}

/** Why the authorisation server gave nothing. Error codes of OAuth are told; what else a server says may hold anything. */
export function signInFault(error: unknown): unknown {
  if (error instanceof SignInFault) return error;
  if (
    error instanceof oauth.ResponseBodyError ||
    error instanceof oauth.WWWAuthenticateChallengeError
  ) {
    const said = error instanceof oauth.ResponseBodyError ? error.error : 'invalid_client';
    const code = oauthCode(said) ?? 'invalid_token_response';
    return new SignInFault(code, `The token endpoint refused: ${code}.`, error);
  }
  if (error instanceof oauth.AuthorizationResponseError) {
    const code = oauthCode(error.error) ?? 'invalid_response';
    return new SignInFault(code, `The authorisation server refused: ${code}.`, error);
  }
  if (
    error instanceof oauth.OperationProcessingError ||
    error instanceof oauth.UnsupportedOperationError
  )
    return new SignInFault(
      'invalid_token_response',
      'The token endpoint gave no usable answer.',
      error,
    );
  if (error instanceof GatewayError) {
    const message = error.message.replace('The provider', 'The authorisation server');
    return new SignInFault(error.code, message, error);
  }
  return error;
}

function oauthCode(said: string): string | undefined {
  return /^[a-z_]{1,64}$/.test(said) ? said : undefined;
}
