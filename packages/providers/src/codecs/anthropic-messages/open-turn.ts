import type { JsonObject } from '@sluice/contracts';

export interface OpenTurn {
  role: unknown;
  blocks: readonly JsonObject[];
}

export interface BlockKinds {
  isResult(block: JsonObject): boolean;
  isThought(block: JsonObject): boolean;
}

/**
 * Whether the model goes on with a turn of its own that has no thought to begin
 * with: it called tools and gets their results, or its answer is begun for it.
 * Models that are told a budget refuse that, since thoughts of theirs must lead.
 */
export function lacksThought(turns: readonly OpenTurn[], kinds: BlockKinds): boolean {
  let first: OpenTurn | undefined;
  for (const turn of turns.toReversed()) {
    if (turn.role === 'assistant') first = turn;
    else if (turn.role === 'user' && !turn.blocks.some(kinds.isResult)) break;
  }
  const [start] = first?.blocks ?? [];
  return first !== undefined && (start === undefined || !kinds.isThought(start));
}
