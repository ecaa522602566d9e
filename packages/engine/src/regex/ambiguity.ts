import { type CharSet, complement, contains, normaliseRanges } from './char-set.ts';
import type { Program } from './program.ts';

/**
 * Whether a backtracking engine can be made to take exponentially many steps:
 * whether some loop can read the same text in two ways. Such a state of the
 * automaton is reached again by two different paths over one word, which shows in the
 * product of the automaton with itself (Weber and Seidl, "On the degree of
 * ambiguity of finite automata", 1991). Assertions are taken to hold.
 */
export function isExponential(program: Program): boolean {
  const graph = consumingGraph(program);
  const looping = [...graph.keys()].filter((state) => reaches(graph, state, state));
  // Larger loops than this are left to the linear machine unexamined.
  if (looping.length > loopingMax) return false;
  const inLoop = new Set(looping);
  for (const state of looping)
    for (const [next, ways] of graph.get(state) ?? [])
      if (ways > 1 && inLoop.has(next) && reaches(graph, next, state)) return true;
  return divergesAndMeets(program, graph, inLoop);
}

const loopingMax = 120;

/** For each instruction that reads a character: those that may read the next one, and by how many ways (2 = several). */
type Graph = ReadonlyMap<number, ReadonlyMap<number, number>>;

function consumingGraph({ instructions }: Program): Graph {
  const graph = new Map<number, Map<number, number>>();
  for (const [index, instruction] of instructions.entries())
    if (instruction.op === 'set') graph.set(index, waysOn(instructions, index + 1));
  return graph;
}

function waysOn(instructions: Program['instructions'], from: number): Map<number, number> {
  const ways = new Map<number, number>();
  // A loop may begin once more on the way: the rest of one round and the beginning of the next.
  const passes = new Map<number, number>();
  let visits = 0;
  const follow = (at: number): void => {
    const instruction = instructions[at];
    const passed = passes.get(at) ?? 0;
    if (instruction === undefined || passed === 2 || ++visits > visitsMax) return;
    if (instruction.op === 'set') {
      ways.set(at, Math.min(2, (ways.get(at) ?? 0) + 1));
      return;
    }
    passes.set(at, passed + 1);
    if (instruction.op === 'split') {
      follow(instruction.first);
      follow(instruction.second);
    } else if (instruction.op === 'jump') follow(instruction.to);
    else if (instruction.op !== 'match') follow(at + 1);
    passes.set(at, passed);
  };
  follow(from);
  return ways;
}

const visitsMax = 5000;

function reaches(graph: Graph, from: number, to: number): boolean {
  const seen = new Set<number>();
  const open = [from];
  for (let state = open.pop(); state !== undefined; state = open.pop())
    for (const next of graph.get(state)?.keys() ?? []) {
      if (next === to) return true;
      if (!seen.has(next)) {
        seen.add(next);
        open.push(next);
      }
    }
  return false;
}

/** Whether two copies, both at one state, can part over the same characters and meet at that state again. */
function divergesAndMeets(program: Program, graph: Graph, inLoop: ReadonlySet<number>): boolean {
  const sets = new Map<number, readonly number[]>();
  for (const state of inLoop) {
    const instruction = program.instructions[state];
    if (instruction?.op === 'set') sets.set(state, rangesOf(instruction.set));
  }
  const overlap = (one: number, other: number) =>
    one === other || intersects(sets.get(one) ?? [], sets.get(other) ?? []);
  for (const home of inLoop) {
    const seen = new Set<string>();
    const open: [number, number][] = [[home, home]];
    for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
      const [one, other] = pair;
      if (!overlap(one, other)) continue;
      for (const nextOne of graph.get(one)?.keys() ?? [])
        for (const nextOther of graph.get(other)?.keys() ?? []) {
          if (!inLoop.has(nextOne) || !inLoop.has(nextOther)) continue;
          const hasParted = one !== other;
          if (hasParted && nextOne === home && nextOther === home) return true;
          // Together again elsewhere is a path of its own, which begins there.
          if (nextOne === nextOther && (hasParted || nextOne === home)) continue;
          const key = `${nextOne} ${nextOther}`;
          if (seen.has(key)) continue;
          seen.add(key);
          open.push([nextOne, nextOther]);
        }
    }
  }
  return false;
}

/** What a set takes in, written out. */
function rangesOf(set: CharSet): readonly number[] {
  if (!set.ignoresCase) return set.isNegated ? complement(set.ranges) : set.ranges;
  const units: number[] = [];
  for (let unit = 0; unit < asciiEnd; unit++) if (contains(set, unit)) units.push(unit, unit);
  const beyond = set.isNegated ? complement(set.ranges) : set.ranges;
  return normaliseRanges([...units, ...beyond]);
}

const asciiEnd = 0x80;

function intersects(one: readonly number[], other: readonly number[]): boolean {
  let left = 0;
  let right = 0;
  while (left < one.length && right < other.length) {
    if ((one[left + 1] ?? 0) < (other[right] ?? 0)) left += 2;
    else if ((other[right + 1] ?? 0) < (one[left] ?? 0)) right += 2;
    else return true;
  }
  return false;
}
