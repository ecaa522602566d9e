/**
 * What an installation in a cluster has once, made before its services start:
 * `provision secrets` the Secrets that nobody brought, `provision first-keys`
 * the first organisation with its keys, `provision key [PREFIX]` prints a key
 * for whoever brings their own. All can be run again; none shows a secret that was made.
 */
import { createServiceKey } from '@sluice/contracts';
import { provisionFirstKeys } from '@sluice/control-plane/first-keys';
import { defineSettings, text } from '@sluice/env';
import { clusterPlace, secretsApi } from './kubernetes-api.ts';
import { type MadeSecrets, makeSecrets } from './make-secrets.ts';

const settings = defineSettings({
  Secrets: { PROVISION_SECRETS: text('what is to be made, JSON; the chart writes it') },
});

const outcomes = {
  made: 'the first organisation was made, with the keys that were given',
  known: 'there is an organisation with the admin key that was given',
  'other-keys':
    'there is an organisation already, and ADMIN_KEY is not among its keys: nothing was changed',
} as const;

/** @returns the exit code */
export async function provision(
  [what, ...rest]: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number> {
  switch (what) {
    case 'secrets': {
      const wanted = JSON.parse(settings.readEnv(env).PROVISION_SECRETS) as MadeSecrets;
      const made = await makeSecrets(secretsApi(clusterPlace(env)), wanted, new Date());
      for (const line of made) process.stdout.write(`made ${line}\n`);
      if (made.length === 0) process.stdout.write('all Secrets are there\n');
      return 0;
    }
    case 'first-keys':
      process.stdout.write(`${outcomes[await provisionFirstKeys(env)]}\n`);
      return 0;
    case 'key':
      process.stdout.write(`${createServiceKey(rest[0] ?? 'sl_')}\n`);
      return 0;
    default:
      process.stderr.write('Usage: provision secrets | first-keys | key [PREFIX]\n');
      return 2;
  }
}
