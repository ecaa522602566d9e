/**
 * The decision, pure: config documents to targets, policies to counters,
 * windows on the clock. No I/O, no clock, no random: those are handed in.
 * Start at `targets.ts` and `policies.ts`.
 */
export type { RequestFacts, TargetFacts } from './facts.ts';
export {
  type CompiledPolicy,
  type Counter,
  compilePolicies,
  entityCounters,
  explainPolicies,
  type LimitType,
  matchPolicies,
  type PolicyMatch,
  type RateLimitsPolicyInput,
} from './policies.ts';
export { type CompiledConfig, compileConfig, type ResolvedTarget } from './targets.ts';
export {
  isRateUnit,
  type RateUnit,
  windowEndMs,
  windowMs,
  windowOffsetMs,
  windowStartMs,
} from './windows.ts';
