import type { CompiledConfig } from './compile-config.ts';
import type { RouteNode, StrategyNode } from './route-node.ts';

/**
 * Which children each strategy must leave out, given the targets whose circuits
 * are open. A strategy is open when all targets it could choose are. Costs what
 * is open times the depth, however many targets there are.
 */
export function openChildren(
  config: CompiledConfig,
  openTargets: ReadonlySet<string> | undefined,
): ReadonlyMap<StrategyNode, readonly number[]> | undefined {
  if (openTargets === undefined || openTargets.size === 0 || !config.hasBreakers) return undefined;
  const open = new Map<StrategyNode, number[]>();
  const inRotation = new Map<StrategyNode, number>();
  for (const path of openTargets) {
    const line = config.lines.get(path);
    if (line === undefined) continue;
    for (let level = 1; level < line.length; level++)
      if (!markOpen(line[level], line[level - 1], open, inRotation)) break;
  }
  for (const indexes of open.values()) indexes.sort((a, b) => a - b);
  return open.size === 0 ? undefined : open;
}

/** Notes an open child; true = now all children are out, so that the node itself is open. */
function markOpen(
  node: RouteNode | undefined,
  child: RouteNode | undefined,
  open: Map<StrategyNode, number[]>,
  inRotation: Map<StrategyNode, number>,
): boolean {
  if (node?.kind !== 'strategy' || child === undefined) return false;
  const indexes = open.get(node);
  if (indexes === undefined) open.set(node, [child.index]);
  else indexes.push(child.index);
  if (node.excluded.has(child.index)) return false;
  const left = (inRotation.get(node) ?? node.children.length - node.excluded.size) - 1;
  inRotation.set(node, left);
  return left === 0;
}
