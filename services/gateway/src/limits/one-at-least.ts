import type { Estimate } from '../exchange/reservation.ts';

/** Of a request of which no more is known than that it is one. */
export const oneAtLeast = (): Estimate => one;

const one: Estimate = { requests: 1, tokens: 1, costNanoUsd: 1 };
