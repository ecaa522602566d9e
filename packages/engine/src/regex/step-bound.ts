import type { RegexNode } from './syntax.ts';

/**
 * How much a backtracking engine can be made to do: an upper bound of its steps
 * on a text of `length` code units, or Infinity beyond `stepsMax`. It multiplies
 * the ways through a pattern without asking whether they exclude each other.
 */
export function backtrackingSteps(root: RegexNode, length: number, stepsMax: number): number {
  const starts = isAnchored(root) ? 1 : length + 1;
  const count = { steps: 0, visits: 0, stepsMax: stepsMax / starts, length };
  waysThrough(root, 1, count);
  const total = count.steps * starts;
  return total <= stepsMax ? total : Number.POSITIVE_INFINITY;
}

/** A count that takes longer than this is given up. */
const visitsMax = 20_000;

interface Count {
  steps: number;
  /** Nodes looked at by this count itself. */
  visits: number;
  readonly stepsMax: number;
  readonly length: number;
}

/** In how many ways a node is left when it is entered in so many. Infinity ends the count. */
function waysThrough(node: RegexNode, ways: number, count: Count): number {
  count.steps += ways;
  if (!(count.steps <= count.stepsMax) || ++count.visits > visitsMax) {
    count.steps = Number.POSITIVE_INFINITY;
    return Number.POSITIVE_INFINITY;
  }
  switch (node.kind) {
    case 'set':
    case 'assert':
      return ways;
    case 'group':
      return waysThrough(node.part, ways, count);
    case 'sequence': {
      let left = ways;
      for (const part of node.parts) left = waysThrough(part, left, count);
      return left;
    }
    case 'choice': {
      let left = 0;
      for (const part of node.parts) left += waysThrough(part, ways, count);
      return left;
    }
    case 'repeat':
      return waysThroughRepeat(node, ways, count);
  }
}

function waysThroughRepeat(
  node: Extract<RegexNode, { kind: 'repeat' }>,
  ways: number,
  count: Count,
): number {
  let entered = ways;
  let left = node.min === 0 ? ways : 0;
  const copies = Number.isFinite(node.max) ? node.max : node.min;
  for (let copy = 1; copy <= copies && count.steps <= count.stepsMax; copy++) {
    entered = waysThrough(node.part, entered, count);
    if (copy >= node.min) left += entered;
  }
  if (Number.isFinite(node.max)) return left;
  const before = count.steps;
  const once = waysThrough(node.part, 1, count);
  const perRound = count.steps - before;
  // Two ways through a loop's body are two to the power of its rounds.
  count.steps = once > 1 ? Number.POSITIVE_INFINITY : before + entered * perRound * count.length;
  return once > 1 ? Number.POSITIVE_INFINITY : entered * (count.length + 1);
}

/** Whether the pattern can only match at the beginning of the text. */
export function isAnchored(node: RegexNode): boolean {
  switch (node.kind) {
    case 'assert':
      return node.what === 'start';
    case 'group':
      return isAnchored(node.part);
    case 'sequence': {
      const [first] = node.parts;
      return first !== undefined && isAnchored(first);
    }
    case 'choice':
      return node.parts.every(isAnchored);
    case 'repeat':
      return node.min > 0 && isAnchored(node.part);
    case 'set':
      return false;
  }
}
