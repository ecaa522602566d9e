import type { TestProject } from 'vitest/node';
import { installDebianServers } from './debian-servers.ts';
import { startPostgres } from './postgres.ts';
import { createRunFolder, removeRunFolder } from './run-folder.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string;
  }
}

/** Vitest's global set-up: one Postgres for the whole run, and the servers that tests spawn. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  installDebianServers();
  const folder = createRunFolder();
  const postgres = await startPostgres();
  project.provide('postgresUrl', postgres.url);
  return async () => {
    await postgres.stop();
    removeRunFolder(folder);
  };
}
