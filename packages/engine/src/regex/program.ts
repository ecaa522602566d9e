import type { CharSet } from './char-set.ts';
import { type Assertion, type ParsedRegex, RegexFault, type RegexNode } from './syntax.ts';

/** A pattern as instructions for a machine that follows all ways at once. */
export interface Program {
  readonly instructions: readonly Instruction[];
  readonly groupCount: number;
  readonly hasAssertions: boolean;
}

export type Instruction =
  | { readonly op: 'set'; readonly set: CharSet }
  /** Two ways on, the first preferred. */
  | { readonly op: 'split'; first: number; second: number }
  | { readonly op: 'jump'; to: number }
  /** Notes the position in a slot: 2n = begin of group n, 2n + 1 = its end. */
  | { readonly op: 'save'; readonly slot: number }
  /** A round of a loop begins: what its groups held in the last round is forgotten. */
  | { readonly op: 'clear'; readonly firstSlot: number; readonly lastSlot: number }
  | { readonly op: 'assert'; readonly what: Assertion }
  | { readonly op: 'match' };

export const instructionsMax = 1000;

/** @throws RegexFault when repetitions written out are too many */
export function compileProgram(parsed: ParsedRegex): Program {
  const emitter = new Emitter();
  emitter.emit({ op: 'save', slot: 0 });
  emitter.node(parsed.root);
  emitter.emit({ op: 'save', slot: 1 });
  emitter.emit({ op: 'match' });
  return {
    instructions: emitter.instructions,
    groupCount: parsed.groupCount,
    hasAssertions: emitter.instructions.some(({ op }) => op === 'assert'),
  };
}

class Emitter {
  readonly instructions: Instruction[] = [];

  emit<I extends Instruction>(instruction: I): I {
    if (this.instructions.length >= instructionsMax)
      throw new RegexFault(
        `is too large: repetitions written out, it has more than ${instructionsMax} steps`,
      );
    this.instructions.push(instruction);
    return instruction;
  }

  node(node: RegexNode): void {
    switch (node.kind) {
      case 'set':
        this.emit({ op: 'set', set: node.set });
        return;
      case 'assert':
        this.emit({ op: 'assert', what: node.what });
        return;
      case 'sequence':
        for (const part of node.parts) this.node(part);
        return;
      case 'group':
        this.emit({ op: 'save', slot: node.index * 2 });
        this.node(node.part);
        this.emit({ op: 'save', slot: node.index * 2 + 1 });
        return;
      case 'choice':
        this.#choice(node.parts);
        return;
      case 'repeat':
        this.#repeat(node);
    }
  }

  #choice(parts: readonly RegexNode[]): void {
    const jumps: { op: 'jump'; to: number }[] = [];
    for (const [index, part] of parts.entries()) {
      if (index === parts.length - 1) {
        this.node(part);
        continue;
      }
      const split = this.#split(true);
      this.node(part);
      jumps.push(this.emit({ op: 'jump', to: 0 }));
      split.second = this.instructions.length;
    }
    for (const jump of jumps) jump.to = this.instructions.length;
  }

  #repeat({ part, min, max, isGreedy }: Extract<RegexNode, { kind: 'repeat' }>): void {
    const groups = groupsIn(part);
    const round = () => {
      if (groups.length > 0)
        this.emit({
          op: 'clear',
          firstSlot: Math.min(...groups) * 2,
          lastSlot: Math.max(...groups) * 2 + 1,
        });
      this.node(part);
    };
    for (let copy = 0; copy < min; copy++) {
      const before = this.instructions.length;
      round();
      // What says nothing once says nothing a thousand times.
      if (this.instructions.length === before) return;
    }
    if (!Number.isFinite(max)) {
      const start = this.instructions.length;
      const split = this.#split(isGreedy);
      round();
      this.emit({ op: 'jump', to: start });
      this.#leave(split, isGreedy);
      return;
    }
    const splits: { op: 'split'; first: number; second: number }[] = [];
    for (let copy = min; copy < max; copy++) {
      splits.push(this.#split(isGreedy));
      const before = this.instructions.length;
      round();
      if (this.instructions.length === before) break;
    }
    for (const split of splits) this.#leave(split, isGreedy);
  }

  /** A fork whose preferred way is the next instruction, or, when it is lazy, the way out. */
  #split(isGreedy: boolean): { op: 'split'; first: number; second: number } {
    const split = this.emit({ op: 'split' as const, first: 0, second: 0 });
    if (isGreedy) split.first = this.instructions.length;
    else split.second = this.instructions.length;
    return split;
  }

  #leave(split: { first: number; second: number }, isGreedy: boolean): void {
    if (isGreedy) split.second = this.instructions.length;
    else split.first = this.instructions.length;
  }
}

function groupsIn(node: RegexNode): number[] {
  switch (node.kind) {
    case 'group':
      return [node.index, ...groupsIn(node.part)];
    case 'repeat':
      return groupsIn(node.part);
    case 'sequence':
    case 'choice':
      return node.parts.flatMap(groupsIn);
    default:
      return [];
  }
}
