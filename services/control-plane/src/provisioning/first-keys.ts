import { bytesSecret, defineSettings, optionalSecret, optionalText, secret } from '@sluice/env';
import { createCredentialVault } from '../kernel/credentials/envelope.ts';
import { createDatabaseClient } from '../kernel/database/client.ts';
import { createMintKey } from '../people/api-keys/secrets.ts';
import { findKeyByHash } from '../people/authentication/store.ts';
import { ensureFirstOrganisation } from './first-organisation.ts';
import { givenKey } from './given-key.ts';

const given = (about: string) => optionalSecret(`${about}: a service key that you made`);

/** What the first organisation is made of, under the control plane's own names. */
export const firstKeysSettings = defineSettings({
  'First organisation': {
    DATABASE_URL: secret('Postgres, brought to this release already'),
    MASTER_KEY: bytesSecret('wraps the data keys of credentials at rest', 32),
    KEY_PEPPER: bytesSecret('pepper of the key hashes', 32),
    ADMIN_KEY: given('first key of the organisation'),
    WORKSPACE_KEY: given('first key of its workspace'),
    DEMO_UPSTREAM_URL: optionalText('address of a demo upstream; unset = no demo provider'),
  },
});

/** What came of it. `known` = there is an organisation, and the given key is one of its own. */
export type FirstKeysOutcome = 'made' | 'known' | 'other-keys';

/**
 * Makes the first organisation with the keys that are given, where there is
 * none. Running it again is harmless, and shows no secret.
 * @throws Error for a key that is none, by its name
 */
export async function provisionFirstKeys(source: NodeJS.ProcessEnv): Promise<FirstKeysOutcome> {
  const env = firstKeysSettings.readEnv(source);
  const mint = (name: 'ADMIN_KEY' | 'WORKSPACE_KEY') => {
    const given = givenKey(name, env[name], env.KEY_PEPPER);
    if (given === undefined)
      throw new Error(`${name} is required: nobody would ever see a key that is made here.`);
    return given;
  };
  const admin = mint('ADMIN_KEY');
  const workspace = mint('WORKSPACE_KEY');
  const client = createDatabaseClient({ url: env.DATABASE_URL, connectionsMax: 2 });
  try {
    const made = await ensureFirstOrganisation({
      client,
      vault: createCredentialVault(env.MASTER_KEY),
      mintKey: createMintKey({ prefix: '', pepper: env.KEY_PEPPER }),
      mintGiven: { admin, workspace },
      demoUpstreamUrl: env.DEMO_UPSTREAM_URL,
      now: () => new Date(),
    });
    if (made !== undefined) return 'made';
    const known = await findKeyByHash(client, admin().hash);
    return known === undefined ? 'other-keys' : 'known';
  } finally {
    await client.$disconnect();
  }
}
