import { createHash } from 'node:crypto';
import type { Part, Totals } from './read-blocks.ts';

/** An entry of an organisation's chain of seals. */
export interface Seal extends Totals {
  organisationId: string;
  sequence: number;
  /** `day` ends what was sealed for a day, with the sum of its parts. */
  kind: 'part' | 'day';
  day: string;
  workspaceId: string;
  recordsDay: string;
  /** JSON. */
  blocks: string;
  previousHash: string;
  hash: string;
}

/** What a chain begins with. */
export const chainStart = '0'.repeat(64);

/** Binds an entry to all before it: the content as a JSON array of a fixed order behind the hash of the one before. */
export function sealHash(seal: Omit<Seal, 'hash'>): string {
  const content = JSON.stringify([
    seal.organisationId,
    seal.sequence,
    seal.kind,
    seal.day,
    seal.workspaceId,
    seal.recordsDay,
    seal.records,
    seal.inputTokens.toString(),
    seal.outputTokens.toString(),
    seal.costNanoUsd.toString(),
    seal.adjustments,
    seal.adjustedNanoUsd.toString(),
    seal.blocks,
  ]);
  return createHash('sha256')
    .update(Buffer.from(seal.previousHash, 'hex'))
    .update(content)
    .digest('hex');
}

/** The entries that a day's parts become, behind the head of the chain. */
export function sealsOf(
  { organisationId, day }: { organisationId: string; day: string },
  parts: readonly Part[],
  head: { sequence: number; hash: string },
): Seal[] {
  const seals: Seal[] = [];
  const append = (
    content: Pick<Seal, 'kind' | 'workspaceId' | 'recordsDay' | 'blocks'> & Totals,
  ) => {
    const last = seals.at(-1) ?? head;
    const { records, inputTokens, outputTokens, costNanoUsd, adjustments, adjustedNanoUsd } =
      content;
    const seal = {
      organisationId,
      sequence: last.sequence + 1,
      kind: content.kind,
      day,
      workspaceId: content.workspaceId,
      recordsDay: content.recordsDay,
      records,
      inputTokens,
      outputTokens,
      costNanoUsd,
      adjustments,
      adjustedNanoUsd,
      blocks: content.blocks,
      previousHash: last.hash,
    };
    seals.push({ ...seal, hash: sealHash(seal) });
  };
  for (const part of parts) append({ ...part, kind: 'part', blocks: JSON.stringify(part.blocks) });
  append({ ...sumOf(parts), kind: 'day', workspaceId: '', recordsDay: day, blocks: '[]' });
  return seals;
}

function sumOf(parts: readonly Totals[]): Totals {
  const whole = (of: (part: Totals) => number) => parts.reduce((sum, part) => sum + of(part), 0);
  const large = (of: (part: Totals) => bigint) => parts.reduce((sum, part) => sum + of(part), 0n);
  return {
    records: whole((part) => part.records),
    inputTokens: large((part) => part.inputTokens),
    outputTokens: large((part) => part.outputTokens),
    costNanoUsd: large((part) => part.costNanoUsd),
    adjustments: whole((part) => part.adjustments),
    adjustedNanoUsd: large((part) => part.adjustedNanoUsd),
  };
}
