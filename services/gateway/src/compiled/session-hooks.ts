import type { Hook, TargetHooks } from '@sluice/engine';
import { checkKinds } from '@sluice/guardrails';
import type { EnforcedGuardrails, VisitHooks } from './enforced-guardrails.ts';

/** Of the guardrails of a session: those that judge that it is opened, and those that judge what is said in it. */
export interface SessionHooks {
  readonly opening: VisitHooks;
  /** Undefined = what is said is judged by nobody. */
  readonly said: TargetHooks | undefined;
}

const known = new WeakMap<VisitHooks, SessionHooks>();

export function sessionHooks(hooks: VisitHooks): SessionHooks {
  let split = known.get(hooks);
  if (split === undefined) {
    split = splitHooks(hooks);
    known.set(hooks, split);
  }
  return split;
}

function splitHooks({ own, enforced }: VisitHooks): SessionHooks {
  const all = [own, enforced];
  const said = {
    beforeRequest: all.flatMap((hooks) => judging(hooks?.beforeRequest, isOfTexts)),
    afterRequest: all.flatMap((hooks) => judging(hooks?.afterRequest, isOfTexts)),
  };
  return {
    opening: {
      own,
      enforced: enforced && {
        ...enforced,
        beforeRequest: judging(enforced.beforeRequest, (id) => !isOfTexts(id)),
      },
    },
    said: said.beforeRequest.length + said.afterRequest.length === 0 ? undefined : said,
  };
}

/** Nothing can be changed of what is said: who must change it has no sessions (`unheardBy`). */
function judging(hooks: readonly Hook[] = [], isMeant: (id: string) => boolean): Hook[] {
  return hooks.flatMap((hook) => {
    const checks = hook.checks.filter(({ id }) => isMeant(id));
    return hook.type === 'guardrail' && checks.length > 0 ? [{ ...hook, checks }] : [];
  });
}

function isOfTexts(id: string): boolean {
  return checkKinds.get(id)?.judges === 'texts';
}

/**
 * Why an enforced guardrail could not do its work in such a session; undefined = all can.
 * @param names where models are named in the session itself, checks of models are not met before
 */
export function unheardBy(
  enforced: EnforcedGuardrails,
  kind: 'realtime' | 'translation' | 'responses',
): string | undefined {
  const hooks = [...enforced.beforeRequest, ...enforced.afterRequest];
  const ofTexts = hooks.filter(({ checks }) => checks.some(({ id }) => isOfTexts(id)));
  if (ofTexts.some(({ type }) => type === 'mutator'))
    return 'What is said in a session cannot be changed.';
  if (kind === 'translation' && ofTexts.length > 0)
    return 'What is said in a translation is not read.';
  const isNamedLater = hooks.some(({ checks }) =>
    checks.some(({ id, isEnabled }) => isEnabled && checkKinds.get(id)?.judges === 'parameters'),
  );
  return kind === 'responses' && isNamedLater
    ? 'The models of this session are named in it.'
    : undefined;
}
