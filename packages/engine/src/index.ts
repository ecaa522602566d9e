/**
 * The decision, pure: config documents to plans, policies to counters,
 * windows on the clock. No I/O, no clock, no random: those are handed in.
 * Start at `compile-config.ts`, `plan-routes.ts` and `limits/policy-index.ts`.
 */

export type { Author } from './author.ts';
export {
  addCalls,
  type BreakerCounts,
  type BreakerPhase,
  type BreakerRule,
  breakerPhase,
  countsAsFailure,
  shouldOpen,
} from './breaker.ts';
export { type Cadence, midnightOf, nextOccurrence } from './calendar.ts';
export {
  type CompiledConfig,
  type CompileOptions,
  compileConfig,
  directConfig,
} from './compile-config.ts';
export { describeDecision } from './describe-decision.ts';
export { countText, type TextCount } from './estimate/count-text.ts';
export {
  type CacheLifetime,
  measureRequest,
  type RequestSize,
} from './estimate/measure-request.ts';
export { bytesOfBuffer } from './estimate/media-seconds.ts';
export { type MediaRule, secondsOfSound } from './estimate/media-tokens.ts';
export type { RequestFacts, TargetFacts } from './facts.ts';
export { flattenPlan, type NextVisit, type PlannedVisit } from './flatten-plan.ts';
export type { Hook, HookCheck, HookFeedback, TargetHooks } from './hook.ts';
export type { HookStreaming } from './hook-streaming.ts';
export { epochAt, epochOf, windowEpoch } from './limits/epoch.ts';
export {
  type Counter,
  counterName,
  type Epoch,
  entityText,
  type GroupReset,
  type Holder,
  type HolderKind,
  type Limit,
  type LimitRules,
  type LimitType,
  type NamedEpoch,
  overflowGroup,
  type Span,
  type WithoutShared,
} from './limits/limit.ts';
export { overshootBound, type UnderWay } from './limits/overshoot-bound.ts';
export { type Period, periodAt } from './limits/period.ts';
export {
  type CompiledPolicy,
  compileBudgetPolicy,
  compileRatePolicy,
  type PolicyConditions,
} from './limits/policies.ts';
export { PolicyIndex, type PolicyMatch } from './limits/policy-index.ts';
export {
  type BudgetInput,
  entityCounters,
  type HeldLimits,
  type RateInput,
  type RulesInput,
  readLimits,
} from './limits/read-limits.ts';
export { isRateUnit, type RateUnit, windowMs, windowOffsetMs } from './limits/windows.ts';
export type { PastRequest, PastVisit, UnknownReason } from './past/past-request.ts';
export {
  type Choice,
  type ConditionTrace,
  choiceReasons,
  type PlanStep,
  type RoutePlan,
  type RoutingFacts,
  type RoutingState,
  type StickyAssignment,
} from './plan.ts';
export { type PlanOptions, planRoutes, type StickyKey, stickyKeys } from './plan-routes.ts';
export { parseTemplate, type Template } from './prompts/parse-template.ts';
export {
  type CompiledPrompt,
  compilePrompt,
  type PromptSource,
  type RenderedPrompt,
  renderPrompt,
} from './prompts/prompt-template.ts';
export type { FindPartial, SavedPartial } from './prompts/render-template.ts';
export { MissingPartials, TemplateFault } from './prompts/template-fault.ts';
export {
  compileSafeRegex,
  type RegexMatch,
  type SafeRegex,
  type SafeRegexResult,
} from './regex/safe-regex.ts';
export { type ReplayedConfig, replayedConfig } from './replay/foresee-routes.ts';
export { LimitReplay, type Use } from './replay/limit-replay.ts';
export {
  type Refusal,
  type Replayed,
  type ReplayedVisit,
  type ReplayedWay,
  type ReplayParts,
  replayRequest,
} from './replay/replay-request.ts';
export type {
  CacheRule,
  EmbeddingRule,
  HedgeRule,
  ResolvedTarget,
  SemanticRule,
} from './resolved-target.ts';
export {
  afterCall,
  type CallResult,
  type RetryDecision,
  type RetryProgress,
  type RetryRule,
  waitHintMs,
} from './retry.ts';
export {
  type SavedGuardrail,
  savedHook,
  splitGuardrailReference,
} from './saved-guardrail.ts';
export { shapeParams } from './shape-params.ts';
export { targetsAfter } from './targets-after.ts';
export {
  askToolRules,
  compileToolRules,
  type ToolFacts,
  type ToolRules,
} from './tool-rules.ts';
export { type TargetResult, walkPlan } from './walk-plan.ts';
