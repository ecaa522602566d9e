import type { JwtSettings } from '@sluice/contracts/admin';
import { invalidToken } from './faults.ts';
import type { JsonRecord } from './token.ts';

const unitSeconds: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
};

/** What the settings of an organisation, or of a check, say of claims. */
export type ClaimSettings = Pick<JwtSettings, 'clock_tolerance_s'> &
  Partial<Pick<JwtSettings, 'token_max_age' | 'required_claims' | 'claim_values'>>;

/**
 * Whether the claims hold now, by the settings of the organisation.
 * @returns until when they hold, Unix ms, the tolerance of clocks included
 * @throws GatewayError `auth.invalid_token`
 */
export function checkClaims(payload: JsonRecord, settings: ClaimSettings, nowMs: number): number {
  const { exp, iat } = checkDates(payload, settings, nowMs);
  if (exp === undefined) throw invalidToken('The token has no claim exp.');
  const toleranceMs = settings.clock_tolerance_s * 1000;
  const end = Math.min(exp, endByAge(iat, settings));
  if (end + toleranceMs <= nowMs) throw invalidToken('The token is too old.');
  checkRequired(payload, settings);
  return Math.min(Math.floor(end + toleranceMs), Number.MAX_SAFE_INTEGER);
}

/** Whether the dates that are there, all in Unix ms, include now. @throws GatewayError `auth.invalid_token` */
export function checkDates(
  payload: JsonRecord,
  settings: ClaimSettings,
  nowMs: number,
): { exp: number | undefined; iat: number | undefined } {
  const toleranceMs = settings.clock_tolerance_s * 1000;
  const exp = instantOf(payload, 'exp');
  const nbf = instantOf(payload, 'nbf');
  const iat = instantOf(payload, 'iat');
  if (exp !== undefined && exp + toleranceMs <= nowMs) throw invalidToken('The token has expired.');
  if (nbf !== undefined && nbf - toleranceMs > nowMs)
    throw invalidToken('The token is not valid yet.');
  if (iat !== undefined && iat - toleranceMs > nowMs)
    throw invalidToken('The token was issued in the future.');
  return { exp, iat };
}

function endByAge(iat: number | undefined, settings: ClaimSettings): number {
  if (settings.token_max_age === undefined) return Number.POSITIVE_INFINITY;
  if (iat === undefined) throw invalidToken('The token has no claim iat.');
  const amount = Number.parseInt(settings.token_max_age, 10);
  return iat + amount * (unitSeconds[settings.token_max_age.slice(-1)] ?? 0) * 1000;
}

function checkRequired(payload: JsonRecord, settings: ClaimSettings): void {
  for (const name of settings.required_claims ?? [])
    if (payload[name] === undefined || payload[name] === null)
      throw invalidToken(`The token has no claim ${name}.`);
  for (const name of Object.keys(settings.claim_values ?? {})) checkValue(payload, name, settings);
}

/** Whether the claim, or one of its list, is among the values of the settings, if they name any. */
export function checkValue(payload: JsonRecord, name: string, settings: ClaimSettings): void {
  const accepted = settings.claim_values?.[name];
  if (accepted === undefined) return;
  const claim = payload[name];
  const values = Array.isArray(claim) ? claim : [claim];
  if (!values.some((value) => typeof value === 'string' && accepted.includes(value)))
    throw invalidToken(`The claim ${name} has none of the values that are accepted.`);
}

/** A NumericDate in Unix ms. */
function instantOf(payload: JsonRecord, name: string): number | undefined {
  const value = payload[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw invalidToken(`The claim ${name} is no date.`);
  return value * 1000;
}
