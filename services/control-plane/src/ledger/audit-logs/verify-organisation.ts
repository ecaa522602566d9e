import type { Database } from '../../kernel/database/client.ts';
import { findEntryBeyondHead, readChain, readChainHead } from './store.ts';
import { type ChainHead, type ChainVerdict, verifyChain } from './verify.ts';

/**
 * Verifies an organisation's chain up to where it ended when this began. What
 * is appended meanwhile is left to the next time, but nothing may stand behind
 * the head.
 */
export async function verifyOrganisation(
  db: Database,
  organisationId: string,
): Promise<ChainVerdict & { head: ChainHead }> {
  const head = await readChainHead(db, organisationId);
  const verdict = await verifyChain(readChain(db, organisationId, head.sequence), head);
  if (verdict.fault !== undefined) return { ...verdict, head };
  const beyond = await findEntryBeyondHead(db, organisationId);
  if (beyond === undefined) return { ...verdict, head };
  const message = 'It stands behind what the organisation records as its last entry.';
  return { ...verdict, head, fault: { ...beyond, reason: 'head', message } };
}
