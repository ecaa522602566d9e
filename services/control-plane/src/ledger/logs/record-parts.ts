import { errorCodes, failureCauses } from '@sluice/errors';
import { usage } from '@sluice/proto-stubs';
import { uuidText } from '@sluice/usage';

/** A target and its retries have the id of the first of them. */
export function logIdOf({ id, entryId }: usage.UsageRecord): string {
  return uuidText(entryId.length === 0 ? id : entryId);
}

export function centsOf(nanoUsd: bigint): number {
  return Number(nanoUsd) / 1e7;
}

export function isSuccess({ statusCode }: usage.UsageRecord): boolean {
  return statusCode >= 200 && statusCode < 300;
}

export interface ShownError {
  code: string;
  cause?: string;
  message?: string;
}

/** What went wrong: the cause in the words that the caller was given, or else what the code means. */
export function errorOf({ errorCode, failureCause }: usage.UsageRecord): ShownError | undefined {
  if (errorCode === '') return undefined;
  const causes: Readonly<Record<string, string>> = failureCauses;
  const codes: Readonly<Record<string, { readonly text: string }>> = errorCodes;
  const message = causes[failureCause] ?? codes[errorCode]?.text;
  return {
    code: errorCode,
    ...(failureCause !== '' && { cause: failureCause }),
    ...(message !== undefined && { message }),
  };
}

export function outcomeName(outcome: usage.Outcome): string {
  return (usage.Outcome[outcome] ?? `outcome_${outcome}`).toLowerCase();
}

/** Records of old releases have neither: theirs ran from the request's arrival. */
export function entryMsOf({ entryMs, latencyMs }: usage.UsageRecord): number {
  return entryMs > 0 ? entryMs : latencyMs;
}

export function attemptMsOf({ attemptMs, entryMs, latencyMs }: usage.UsageRecord): number {
  return attemptMs > 0 || entryMs > 0 ? attemptMs : latencyMs;
}
