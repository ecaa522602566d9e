/** The checks of one target, shorthand resolved; in the order they run. */
export interface TargetHooks {
  readonly beforeRequest: readonly Hook[];
  readonly afterRequest: readonly Hook[];
}

export interface Hook {
  readonly id: string;
  readonly type: 'guardrail' | 'mutator';
  readonly deny: boolean;
  readonly async: boolean;
  readonly sequential: boolean;
  readonly checks: readonly HookCheck[];
  readonly onSuccess: HookFeedback | undefined;
  readonly onFail: HookFeedback | undefined;
}

export interface HookCheck {
  /** `plugin.function`, e.g. `default.regexMatch`. */
  readonly id: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly isEnabled: boolean;
}

export interface HookFeedback {
  readonly value: number;
  readonly weight: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}
