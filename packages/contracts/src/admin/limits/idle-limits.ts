import { type IdleField, isSaid, type Shown } from '../kernel/idle-fields.ts';

type RuleName = 'admission' | 'estimate' | 'unpriced';

/** Rules that do nothing for what is counted. */
const idleRules: Readonly<Record<RuleName, (type: unknown) => string | undefined>> = {
  admission: (type) =>
    type === 'requests' ? 'a request is one, and fits or does not in any case' : undefined,
  estimate: (type) => (type === 'requests' ? 'nobody estimates how many a request is' : undefined),
  unpriced: (type) => (type === 'cost' ? undefined : 'prices matter to budgets in dollars alone'),
};

/** Of one limit, and of a policy, which is one. */
export function idleRulesOf(limit: Shown, path = ''): readonly IdleField[] {
  return Object.entries(idleRules).flatMap(([name, whyOf]) => {
    const why = limit[name] == null ? undefined : whyOf(limit.type);
    return why === undefined ? [] : [{ path: path === '' ? name : `${path}.${name}`, why }];
  });
}

/** Of all limits of a holder: one of a kind, or a list. */
export function idleLimits(holder: Shown): readonly IdleField[] {
  return ['usage_limits', 'rate_limits'].flatMap((field) => {
    const limits = holder[field];
    if (!isSaid(limits)) return [];
    if (!Array.isArray(limits)) return idleRulesOf(limits as Shown, field);
    return limits.flatMap((limit: Shown, index) => idleRulesOf(limit, `${field}[${index}]`));
  });
}

/** Of the grants of an integration, and of what new workspaces get; paths as the body of `…/workspaces` has them. */
export function idleGrantLimits(body: Shown): readonly IdleField[] {
  const within = (holder: unknown, path: string) =>
    isSaid(holder)
      ? idleLimits(holder as Shown).map((idle) => ({ ...idle, path: `${path}.${idle.path}` }))
      : [];
  return [
    ...((body.workspaces ?? []) as readonly Shown[]).flatMap((grant, index) =>
      within(grant, `workspaces[${index}]`),
    ),
    ...within(body.global_workspace_access, 'global_workspace_access'),
  ];
}
