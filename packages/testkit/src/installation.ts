import {
  baseEnvironment,
  createInstallation,
  createSecrets,
  freePorts,
  type SluiceCredentials,
  type SluiceSecrets,
  serviceEnvironments,
} from '@sluice/stack';
import { inject } from 'vitest';
import type {} from './global-setup.ts';
import { preparedDatabase } from './prepared-database.ts';

/** A new installation: its database, the secrets it was made with, and its first keys. */
export interface Installation {
  readonly databaseUrl: string;
  readonly secrets: SluiceSecrets;
  readonly credentials: SluiceCredentials;
}

/** The control plane sets one up in two seconds; the others of a run are copies of it. */
export async function newInstallation(): Promise<Installation> {
  const { databaseUrl, note } = await preparedDatabase('installation', async (url) => {
    const secrets = createSecrets();
    const { controlPlane } = serviceEnvironments({
      dataDir: '',
      ports: await freePorts(),
      secrets,
      databaseUrl: url,
      demoUpstreamUrl: inject('demoUpstreamUrl'),
    });
    const created = await createInstallation({
      ...baseEnvironment(),
      ...controlPlane,
    });
    if (created === undefined) throw new Error('the database was not empty');
    return { secrets, credentials: { ...created, base_url: '' } };
  });
  return { databaseUrl, ...note };
}
