import { baseEnvironment, demoUpstreamSpec, freePort, startProcess } from '@sluice/stack';
import type { TestProject } from 'vitest/node';
import { installDebianServers } from './debian-servers.ts';
import { startPostgres } from './postgres.ts';
import { createRunFolder, removeRunFolder } from './run-folder.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string;
    demoUpstreamUrl: string;
  }
}

/** Vitest's global set-up: one Postgres and one demo upstream for the whole run, and the servers that tests spawn. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  installDebianServers();
  const folder = createRunFolder();
  const demoPort = await freePort();
  const [postgres, demoUpstream] = await Promise.all([
    startPostgres(),
    startProcess({
      name: 'demo-upstream',
      ...demoUpstreamSpec({ ...baseEnvironment(), HOST: '127.0.0.1', PORT: String(demoPort) }),
    }),
  ]);
  project.provide('postgresUrl', postgres.url);
  project.provide('demoUpstreamUrl', `http://127.0.0.1:${demoPort}/v1`);
  return async () => {
    await Promise.all([postgres.stop(), demoUpstream.stop()]);
    removeRunFolder(folder);
  };
}
