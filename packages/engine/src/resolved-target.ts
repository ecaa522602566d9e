import type { Author } from './author.ts';
import type { BreakerRule } from './breaker.ts';
import type { DropPath } from './drop-params.ts';
import type { TargetHooks } from './hook.ts';
import type { RetryRule } from './retry.ts';

/** One place to send a request, after inheritance. Undefined = not said by the config. */
export interface ResolvedTarget {
  /** Position among the config's targets, depth first. */
  readonly index: number;
  /** JSON path in the config, as callers see it: `config`, `config.targets[0]` … */
  readonly path: string;
  readonly name: string | undefined;
  /** Who wrote the target itself: provider, credential and settings. */
  readonly by: Author;
  /** Catalogue id or `@slug`, possibly `@slug/model`. Undefined = taken from the request. */
  readonly provider: string | undefined;
  /** The provider comes from the request although the config has targets. */
  readonly passthrough: boolean;
  /** Reference of the saved prompt whose request the target is asked. Undefined = that of the request. */
  readonly promptId: string | undefined;
  readonly apiKey: string | undefined;
  readonly customHost: string | undefined;
  /** It may be inherited from a config of somebody else's. */
  readonly customHostBy: Author;
  readonly requestTimeoutMs: number | undefined;
  /** Until the first content event of a stream. */
  readonly firstByteTimeoutMs: number | undefined;
  /** Between two pieces of a reply. */
  readonly idleTimeoutMs: number | undefined;
  readonly forwardHeaders: readonly string[] | undefined;
  readonly forwardHeadersBy: Author;
  readonly strictOpenAiCompliance: boolean | undefined;
  /** Refuse what the provider's format cannot carry. */
  readonly strictParams: boolean | undefined;
  /** Ask once more without a parameter that the provider refuses by name. */
  readonly adapts: boolean | undefined;
  /** A refusal of the provider's content filter is the request's: no other target is asked. */
  readonly endsOnContentFilter: boolean;
  /** A stream that is cut is continued by the targets after this one. */
  readonly recoversStreams: boolean | undefined;
  /** Streams are asked for their usage where the caller does not ask; it is kept from the caller. */
  readonly asksStreamUsage: boolean | undefined;
  /** An answer is read to its end after its caller left. */
  readonly readsOn: boolean | undefined;
  /** Marks for the provider's cache are added where the caller has set none. */
  readonly cachePrefix: CachePrefixRule | undefined;
  readonly overrideParams: Readonly<Record<string, unknown>> | undefined;
  readonly defaultParams: Readonly<Record<string, unknown>> | undefined;
  readonly dropParams: readonly DropPath[] | undefined;
  /** Provider-specific settings such as openai_organization. */
  readonly configurations: Readonly<Record<string, unknown>>;
  readonly retry: RetryRule | undefined;
  readonly cache: CacheRule | undefined;
  readonly hedge: HedgeRule | undefined;
  readonly breaker: BreakerRule | undefined;
  readonly hooks: TargetHooks | undefined;
  /** Paths of this target and of its ancestors that a least-latency strategy chooses among. */
  readonly latencyPaths: readonly string[];
  /** What the target asks for and this release lacks: it fails when it is visited, and only then. */
  readonly unavailable: { readonly path: string; readonly what: string } | undefined;
}

/** How long the beginning of a prompt is to be kept by its provider. */
export interface CachePrefixRule {
  readonly ttl: '5m' | '1h';
}

export interface CacheRule {
  /** Undefined = the default of the store. */
  readonly maxAgeS: number | undefined;
  /** Undefined = the same question in other words is another question. */
  readonly semantic: SemanticRule | undefined;
}

/** Undefined = what the operator has set. */
export interface SemanticRule {
  /** From this cosine on two questions are one. */
  readonly threshold: number | undefined;
  readonly embedding: EmbeddingRule | undefined;
  /** What would be answered is told, and not given. */
  readonly isShadow: boolean;
}

/** Who makes vectors of questions. */
export interface EmbeddingRule {
  /** `@slug` of a saved provider. */
  readonly provider: string;
  readonly model: string;
}

/** A second call when the first is slow, within a share of all requests. */
export interface HedgeRule {
  readonly delayMs: number;
  /** Second calls allowed for a hundred requests. */
  readonly budgetPercentage: number;
}
