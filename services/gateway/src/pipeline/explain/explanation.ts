import type { Endpoint } from '@sluice/contracts';
import type { BreakerPhase, Choice } from '@sluice/engine';
import type { ErrorCode, GatewayError } from '@sluice/errors';
import type { JudgedLookup } from '../../cache/reply-cache.ts';
import type { JudgedHooks } from '../../visit/target-visit.ts';

/** The answer of `POST /v1/explain`: what the same request would meet, as far as it would get. */
export interface Explanation {
  object: 'explain';
  request_id: string;
  endpoint: Endpoint;
  key: {
    id: string;
    name: string;
    slug: string | null;
    workspace_id: string;
    organisation_id: string;
  };
  bundle_hash: string;
  /** Null when the request uses none, or when it was not found. */
  config: ExplainedConfig | null;
  /** In the order they are asked; those of targets after all others. */
  limits: ExplainedLimit[];
  /** One for each strategy that was asked, outermost first. */
  choices: readonly Choice[];
  /** Targets in the order they would be asked if each answer asked for the next. */
  plan: ExplainedStep[];
  /** Set when the plan has more steps than are shown. */
  plan_steps_left_out?: number;
  /**
   * How many calls and refused targets one request may come to, and how many its
   * plan would come to if nothing succeeded. Null where there is no plan.
   */
  attempts: { max: number; planned: number; routing_timeout_ms: number } | null;
  /** Servers whose tools the gateway would run; absent = it would run none. */
  tools?: readonly ExplainedTools[];
  /** The refusal that the request would get instead of a call; absent = an upstream would be called. */
  would_fail?: ExplainedFault;
  /** Every fault of a config that is not valid, as "path: what". */
  errors?: readonly string[];
}

export interface ExplainedTools {
  /** What the request calls the server. */
  label: string;
  /** Its slug. */
  server: string;
  run_by: 'gateway';
  would_fail?: ExplainedFault;
}

export interface ExplainedConfig {
  source: 'header-slug' | 'inline' | 'key-default' | 'workspace-default';
  id: string | null;
  slug: string | null;
  version_id: string | null;
  name: string | null;
  strategy_mode: string;
  /** Paths of keys of an inline config that nobody knows. */
  ignored?: readonly string[];
}

export interface ExplainedLimit {
  /** Null for limits of the key, the workspace and policies over both; else the path of the target. */
  target: string | null;
  policy: { id: string; name: string } | null;
  /** `requests`, `tokens` or `cost`. */
  type: string;
  /** Of a rate; null for a budget. */
  unit: string | null;
  /** Of cost in nano-dollars, as is what remains. */
  limit: number;
  /** Whom it counts, by slug; null where it does not apply. */
  entity: string | null;
  matched: boolean;
  /** The key of the first condition that is not met. */
  unmet_condition?: string;
  remaining: number | null;
  /** Unix ms. */
  reset_at_ms: number | null;
  would_refuse: boolean;
}

export interface ExplainedFault {
  status: number;
  code: ErrorCode;
  message: string;
  param: string | null;
}

export interface ExplainedStep {
  /** From 0. */
  step: number;
  /** Of the target in its config, or of a conditional that has no way on. */
  path: string;
  name: string | null;
  /** Catalogue id; null, like all that follows from it, where the target cannot be resolved. */
  provider: string | null;
  provider_slug: string | null;
  model: string | null;
  host: string | null;
  /**
   * The answers after which it is asked: of several steps that an answer asks
   * for, the first. Empty for the first step, which is asked in any case.
   */
  reached_when: { after: string; on: readonly number[] | 'not-2xx' }[];
  /** The word of each strategy above it, outermost first; see `choices`. */
  reasons: string[];
  /** Why it would be refused before a call; the plan goes on as if it had answered so. */
  unavailable?: ExplainedFault;
  circuit: BreakerPhase;
  estimate: ExplainedUse | null;
  retry: {
    attempts: number;
    on_status_codes: readonly number[];
    use_retry_after_headers: boolean;
  } | null;
  /** Null where nothing would be looked up. */
  cache: {
    mode: string;
    max_age_s: number | null;
    namespace: string | null;
    force_refresh: boolean;
    /** What looking for the very words would come to; null where it would not get so far. */
    would_be: 'HIT' | 'MISS' | 'REFRESH' | null;
    /** Of the kept answer; null where there is none. */
    age_s: number | null;
    /** What makes another request the same. */
    key: JudgedLookup['key'] | null;
    /** Null for the simple cache. Nobody is asked for a vector. */
    semantic: {
      threshold: number | null;
      shadow: boolean;
      /** Null = whom the operator has named. */
      embedding: { provider: string; model: string } | null;
      /** `asked`, or why only the very words are looked for; null where it would not get so far. */
      question: NonNullable<JudgedLookup['question']> | null;
    } | null;
  } | null;
  /** Hooks in the order in which they would run, with the verdicts of checks that ask nobody. Null where there are none. */
  guardrails: JudgedHooks | null;
  hedge: { delay_ms: number; budget_percentage: number } | null;
  /** 0 = no limit of its own. */
  timeouts: { request_ms: number; first_byte_ms: number; idle_ms: number } | null;
}

/** What is likely to be used. */
export interface ExplainedUse extends ExplainedAmounts {
  /** An answer without a word. */
  low: ExplainedAmounts;
  /** All that the request allows: what its limits hold. */
  high: ExplainedAmounts;
  /** Who says the prices, and in which state; null = no price is known. */
  price: { layer: string; version: string } | null;
  /** Tools of the provider that are asked for and have no price there, as price lists name them: costs are without them. Absent = none. */
  unpriced_units?: readonly string[];
}

export interface ExplainedAmounts {
  input_tokens: number;
  output_tokens: number;
  /** Null = no price is known. */
  cost_nano_usd: number | null;
}

export function explainedFault(error: GatewayError): ExplainedFault {
  return {
    status: error.status,
    code: error.code,
    message: error.message,
    param: error.field ?? null,
  };
}
