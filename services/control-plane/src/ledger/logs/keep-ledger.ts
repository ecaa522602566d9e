import type { Database } from '../../kernel/database/client.ts';
import type { Ledger } from '../analytics/ledger.ts';
import { findRetention } from './store.ts';

/** Tells the ledger how long organisations keep what is in it; what is older it deletes. */
export async function keepLedger(db: Database, ledger: Pick<Ledger, 'keep'>): Promise<void> {
  await ledger.keep(await findRetention(db));
}
