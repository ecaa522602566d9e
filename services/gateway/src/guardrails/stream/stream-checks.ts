import { operations } from '@sluice/contracts';
import type { Hook, HookStreaming, TargetHooks } from '@sluice/engine';
import { judgesParts } from '@sluice/guardrails';
import type { VoiceName } from '@sluice/providers';
import type { VisitHooks } from '../../compiled/enforced-guardrails.ts';
import type { CheckCompiler } from '../check-compiler.ts';
import type { HookSubject } from '../hook-context.ts';

/** What of a target's checks looks at a streamed answer before it is given. */
export interface StreamChecks extends HookStreaming {
  /** Those that can judge any part of it. */
  readonly parts: VisitHooks;
  /** Those that have to wait for all of it: its end waits for them. */
  readonly whole: VisitHooks | undefined;
  /** Those that hear it when it is given, and those that nobody waits for. */
  readonly ended: VisitHooks | undefined;
  /** Which texts they look at. */
  readonly listens: (voice: VoiceName) => boolean;
  /** Somebody else is asked: each look takes its time. */
  readonly asks: boolean;
}

type Kept = Map<'own' | 'enforced', StreamChecks | undefined>;

/** Made once for the hooks of a target, as they are compiled. */
export class StreamChecksOf {
  readonly #compiler: CheckCompiler;
  readonly #kept = new WeakMap<VisitHooks, Kept>();

  constructor(compiler: CheckCompiler) {
    this.#compiler = compiler;
  }

  /** Undefined where nothing is looked at before the end. */
  get(hooks: VisitHooks, { endpoint }: Pick<HookSubject, 'endpoint'>): StreamChecks | undefined {
    const kind = operations[endpoint].hooks.output === 'none' ? 'enforced' : 'own';
    const kept = this.#kept.get(hooks) ?? new Map();
    this.#kept.set(hooks, kept);
    if (!kept.has(kind)) {
      const given = kind === 'own' ? hooks : { own: undefined, enforced: hooks.enforced };
      kept.set(kind, this.#read(given, kind === 'enforced'));
    }
    return kept.get(kind);
  }

  #read(hooks: VisitHooks, hearsAll: boolean): StreamChecks | undefined {
    const held = [
      ...(hooks.own?.afterRequest ?? []),
      ...(hooks.enforced?.afterRequest ?? []),
    ].filter(isHeld);
    const streamings = held.flatMap(({ streaming }) => streaming ?? []);
    if (streamings.length === 0) return undefined;
    const isPart = (hook: Hook) =>
      withChecks(hook, ({ id, parameters }) => judgesParts(id, parameters));
    const isWhole = (hook: Hook) =>
      withChecks(hook, ({ id, parameters }) => !judgesParts(id, parameters));
    const parts = picked(hooks, (hook) => (isHeld(hook) ? isPart(hook) : undefined));
    const checks = held.flatMap((hook) => hook.checks.filter(({ isEnabled }) => isEnabled));
    return {
      // Where guardrails differ, each gets what it needs: the most of either.
      mode: streamings.every(({ mode }) => mode === 'sentence') ? 'sentence' : 'window',
      holdChars: Math.max(...streamings.map(({ holdChars }) => holdChars)),
      holdMs: Math.max(...streamings.map(({ holdMs }) => holdMs)),
      parts: parts ?? { own: undefined, enforced: undefined },
      whole: picked(hooks, (hook) => (isHeld(hook) ? isWhole(hook) : undefined)),
      ended: picked(hooks, (hook) => (isHeld(hook) ? undefined : hook)),
      listens: hearsAll ? () => true : listensTo(checks.map(({ parameters }) => parameters)),
      asks: checks.some((check) => this.#compiler.get(check).deadlineMs !== undefined),
    };
  }
}

function isHeld({ streaming, async }: Hook): boolean {
  return streaming !== undefined && !async;
}

function withChecks(hook: Hook, keeps: (check: Hook['checks'][number]) => boolean) {
  const checks = hook.checks.filter(keeps);
  return checks.some(({ isEnabled }) => isEnabled) ? { ...hook, checks } : undefined;
}

/** Undefined where nothing is left. */
function picked(
  { own, enforced }: VisitHooks,
  pick: (hook: Hook) => Hook | undefined,
): VisitHooks | undefined {
  const of = (hooks: TargetHooks | undefined): TargetHooks => ({
    beforeRequest: [],
    afterRequest: (hooks?.afterRequest ?? []).flatMap((hook) => pick(hook) ?? []),
  });
  const left = { own: of(own), enforced: of(enforced) };
  if (left.own.afterRequest.length + left.enforced.afterRequest.length === 0) return undefined;
  return {
    own: left.own,
    enforced: enforced === undefined ? undefined : { ...enforced, ...left.enforced },
  };
}

/** Texts that some check looks at: the subjects that they name, as replies are read. */
function listensTo(
  parameters: readonly Readonly<Record<string, unknown>>[],
): (voice: VoiceName) => boolean {
  const subjects = new Set(
    parameters.flatMap((given) =>
      Array.isArray(given.subjects) && given.subjects.length > 0
        ? given.subjects.map(String)
        : ['last_message'],
    ),
  );
  if (subjects.has('all')) return () => true;
  const hearsConversation = subjects.has('conversation');
  const hearsFirst = hearsConversation || subjects.has('last_message');
  const hearsCalls = subjects.has('tool_calls');
  return ({ kind, choice }) => {
    if (kind === 'called' || kind === 'written') return hearsCalls;
    if (kind === 'said' && choice === 0) return hearsFirst;
    return hearsConversation && kind !== 'beside';
  };
}
