import { toolPriceMax } from '@sluice/contracts';
import type { ServerEvent } from '../exchange/event.ts';

/** What admins say a call costs. In nano-dollars, which may be fractions: a sum is rounded once. */
export interface CallPrice {
  readonly callNanoUsd: number;
  readonly tokenNanoUsd: number;
}

const nanoInCent = 10_000_000;

/**
 * The price of a call by the `prices` of a server's policy (US cents:
 * `{call, token, tools: {name: {call, token}}}`): the tool's own, and what it does
 * not say, the server's. Only calls that limits count cost anything.
 */
export function priceOfCall(policy: unknown, event: ServerEvent): CallPrice {
  // What an agent used is often told to who looks at the task, which itself is no work.
  if (!event.spends && event.kind !== 'agent') return nothing;
  const prices = member(policy, 'prices');
  if (prices === undefined) return nothing;
  const own = event.isToolCall ? member(member(prices, 'tools'), event.capability) : undefined;
  const nano = (name: 'call' | 'token') =>
    (centsIn(own, name) ?? centsIn(prices, name) ?? 0) * nanoInCent;
  return { callNanoUsd: event.spends ? nano('call') : 0, tokenNanoUsd: nano('token') };
}

const nothing: CallPrice = Object.freeze({ callNanoUsd: 0, tokenNanoUsd: 0 });

export function costOf({ callNanoUsd, tokenNanoUsd }: CallPrice, tokens: number): number {
  return Math.round(callNanoUsd + tokenNanoUsd * tokens);
}

/** Prices are checked where they are saved: what another release let through is kept within what can be counted. */
function centsIn(prices: unknown, name: keyof typeof toolPriceMax): number | undefined {
  const cents = member(prices, name);
  return typeof cents === 'number' && cents >= 0 ? Math.min(cents, toolPriceMax[name]) : undefined;
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
