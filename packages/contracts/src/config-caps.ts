/** How large a config may be. */
export interface ConfigCaps {
  readonly rootTargetsMax: number;
  readonly conditionalRootTargetsMax: number;
  /** All targets below one target of the root, at any depth. */
  readonly nestedTargetsMax: number;
  /** All targets of a document, and all it comes to once references are inlined. */
  readonly targetsMax: number;
  readonly depthMax: number;
}

export const configCaps: ConfigCaps = {
  rootTargetsMax: 100,
  conditionalRootTargetsMax: 1000,
  nestedTargetsMax: 50,
  targetsMax: 4000,
  depthMax: 32,
};

/** For documents that were saved under other settings: they are read, whether they may run or not. */
export const storedConfigCaps: ConfigCaps = {
  ...configCaps,
  rootTargetsMax: configCaps.targetsMax,
  conditionalRootTargetsMax: configCaps.targetsMax,
  nestedTargetsMax: configCaps.targetsMax,
};

export interface ConfigFault {
  /** `config.targets[0].retry.attempts`. */
  readonly field: string;
  readonly message: string;
}

/**
 * The first cap that a document exceeds. Looks at nothing but `targets`, stops
 * at the first excess and never recurses, so that hostile documents cost as
 * little as ordinary ones.
 */
export function fanOutFault(root: unknown, caps: ConfigCaps): ConfigFault | undefined {
  const rootTargets = targetsOf(root);
  const max = isConditional(root) ? caps.conditionalRootTargetsMax : caps.rootTargetsMax;
  if (rootTargets.length > max)
    return { field: 'config.targets', message: `must not have more than ${max} targets` };
  let total = rootTargets.length;
  for (const [index, target] of rootTargets.entries()) {
    const path = `config.targets[${index}]`;
    const nested = nestedTargets(target, path, caps);
    if (typeof nested !== 'number') return nested;
    total += nested;
    if (total > caps.targetsMax)
      return {
        field: path,
        message: `must not bring the config to more than ${caps.targetsMax} targets altogether`,
      };
  }
  return undefined;
}

/** How many targets stand below a target of the root, or what is wrong with them. */
function nestedTargets(rootTarget: unknown, path: string, caps: ConfigCaps): number | ConfigFault {
  const waiting = [{ node: rootTarget, path, depth: 1 }];
  let count = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, path: at, depth } = next;
    const targets = targetsOf(node);
    if (targets.length === 0) continue;
    count += targets.length;
    if (count > caps.nestedTargetsMax)
      return {
        field: `${at}.targets`,
        message: `must not bring ${path} to more than ${caps.nestedTargetsMax} nested targets`,
      };
    if (depth >= caps.depthMax)
      return {
        field: `${at}.targets`,
        message: `must not be nested deeper than ${caps.depthMax} levels`,
      };
    for (const [index, target] of targets.entries())
      waiting.push({ node: target, path: `${at}.targets[${index}]`, depth: depth + 1 });
  }
  return count;
}

function targetsOf(node: unknown): readonly unknown[] {
  if (typeof node !== 'object' || node === null) return [];
  const { targets } = node as { targets?: unknown };
  return Array.isArray(targets) ? targets : [];
}

function isConditional(node: unknown): boolean {
  const { strategy } = (node ?? {}) as { strategy?: { mode?: unknown } | null };
  return strategy?.mode === 'conditional';
}
