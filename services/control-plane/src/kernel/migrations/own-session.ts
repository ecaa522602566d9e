import { randomUUID } from 'node:crypto';
import { Client } from 'pg';

/** Enough for a pooler that many others keep busy; where nobody else asks, the first tells. */
const looks = 5;

/**
 * That a connection has a session to itself, on which `LISTEN` and locks rest. A pooler of transactions, or of statements, has another
 * ready for each, and none of its clients is told: so one session is marked, and two connections look whose mark theirs has.
 * @param client  is connected to `url`
 * @throws UnfitPooler
 */
export async function expectOwnSession(client: Client, url: string): Promise<void> {
  const mark = randomUUID();
  const other = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  other.on('error', () => {});
  await other.connect();
  try {
    await client.query("SELECT set_config('sluice.session', $1, false)", [mark]);
    for (let look = 0; look < looks; look += 1) {
      const isMine = (await markOf(client)) === mark;
      const isOthers = (await markOf(other)) === mark;
      if (!isMine || isOthers) throw new UnfitPooler();
    }
  } finally {
    await other.end();
  }
}

/** `DATABASE_URL` leads to a pooler that Sluice cannot work behind. */
export class UnfitPooler extends Error {
  constructor() {
    super(
      'DATABASE_URL leads to a pooler that gives each transaction another session. Replicas listen and hold locks, which belong to a session: let the pooler keep one for each client (PgBouncer: pool_mode = session), or name Postgres itself.',
    );
  }
}

async function markOf(client: Client): Promise<string | null> {
  const { rows } = await client.query<{ mark: string | null }>(
    "SELECT current_setting('sluice.session', true) AS mark",
  );
  return rows[0]?.mark ?? null;
}
