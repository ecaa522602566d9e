import type { Author } from './author.ts';
import type { HookStreaming } from './hook-streaming.ts';

/** The checks of one target, shorthand resolved; in the order they run. */
export interface TargetHooks {
  readonly beforeRequest: readonly Hook[];
  readonly afterRequest: readonly Hook[];
}

export interface Hook {
  readonly id: string;
  readonly type: 'guardrail' | 'mutator';
  readonly deny: boolean;
  /** What it denies is told as an answer with status 200, where the operation's format has one. */
  readonly deniesSoftly: boolean;
  readonly async: boolean;
  readonly sequential: boolean;
  /** All its checks together may take so long; undefined = each as long as it may take itself. */
  readonly timeoutMs: number | undefined;
  /** Characters of all texts together, beyond which its checks do not look; undefined = each has its own bound. */
  readonly textLengthMax: number | undefined;
  /** Undefined = a streamed answer is looked at when it is over. */
  readonly streaming: HookStreaming | undefined;
  readonly checks: readonly HookCheck[];
  readonly onSuccess: HookFeedback | undefined;
  readonly onFail: HookFeedback | undefined;
  /** Whose word it is, and the addresses in it. */
  readonly by: Author;
  /** Of the organisation or workspace: what a request does to its own checks counts against it. */
  readonly isEnforced: boolean;
  /** Of the saved guardrail that it is, as it was saved; undefined = it stands in a config. */
  readonly versionId: string | undefined;
}

export interface HookCheck {
  /** `plugin.function`, e.g. `default.regexMatch`. */
  readonly id: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly isEnabled: boolean;
  /** As `deniesSoftly` of its hook: where all checks that fail say so. */
  readonly deniesSoftly: boolean;
}

export interface HookFeedback {
  readonly value: number;
  readonly weight: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}
