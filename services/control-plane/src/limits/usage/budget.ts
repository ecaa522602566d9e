import { nanoUsdPerUsd, type UsageLimitsPolicyType } from '@sluice/contracts/admin';
import type { Period } from '@sluice/engine';

/** A budget, whoever holds it, as far as its usage goes. */
export interface Budget {
  readonly id: string;
  readonly type: UsageLimitsPolicyType;
  /** Dollars, tokens or requests. */
  readonly creditLimit: number;
  readonly alertThreshold: number | null;
  readonly period: Period;
  /** It is counted, and refuses nothing. */
  readonly shadow: boolean;
}

/** As counters count: in nano-dollars, tokens, requests. */
export function counted(type: UsageLimitsPolicyType, amount: number): bigint {
  return BigInt(type === 'cost' ? Math.round(amount * nanoUsdPerUsd) : Math.floor(amount));
}

/** As people are told: in dollars, tokens, requests. */
export function told(type: UsageLimitsPolicyType, amount: bigint): number {
  return type === 'cost' ? Number(amount) / nanoUsdPerUsd : Number(amount);
}
