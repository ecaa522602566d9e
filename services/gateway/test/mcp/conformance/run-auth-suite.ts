import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '@sluice/testkit';
import type { AuthLab } from './auth-client.ts';
import { type Findings, readFindings } from './run-suite.ts';

/** The client suites of `@modelcontextprotocol/conformance` about OAuth, as published. */
export const authSuites = {
  '0.1.16': 'mcp-conformance-1',
  '0.2.0-alpha.12': 'mcp-conformance-2',
} as const;

export type AuthSuiteName = keyof typeof authSuites;

const timeoutMs = 240_000;
const require = createRequire(import.meta.url);
const client = join(import.meta.dirname, 'auth-client.ts');

/** Has a suite look at what the gateway is to authorisation servers. @param scenario  one alone */
export async function runAuthSuite(
  name: AuthSuiteName,
  lab: AuthLab,
  scenario?: string,
): Promise<Findings> {
  const folder = await mkdtemp(join(await temporaryFolder('conformance'), 'auth-'));
  const entry = join(dirname(require.resolve(`${authSuites[name]}/package.json`)), 'dist/index.js');
  const which = scenario === undefined ? ['--suite', 'auth'] : ['--scenario', scenario];
  const output: Buffer[] = [];
  const child = spawn(
    process.execPath,
    [
      entry,
      'client',
      '--command',
      `${process.execPath} ${client}`,
      ...which,
      '--timeout',
      '100000',
      '--output-dir',
      folder,
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      env: { ...process.env, SLUICE_AUTH_LAB: JSON.stringify(lab) },
    },
  );
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  await new Promise((resolve) => child.once('close', resolve));
  const findings = await readFindings(folder);
  await rm(folder, { recursive: true });
  if (findings.size === 0) throw new Error(`${name} found nothing:\n${Buffer.concat(output)}`);
  return findings;
}
