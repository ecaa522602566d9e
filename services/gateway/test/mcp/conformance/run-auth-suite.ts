import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '@sluice/testkit';
import type { AuthLab } from './auth-client.ts';
import { type Findings, readFindings } from './run-suite.ts';

const furtherOfAll = [
  'auth/2025-03-26-oauth-metadata-backcompat',
  'auth/2025-03-26-oauth-endpoint-fallback',
  'auth/resource-mismatch',
  'auth/offline-access-scope',
  'auth/offline-access-not-supported',
  'auth/client-credentials-basic',
];

/** The client suites of `@modelcontextprotocol/conformance` about OAuth, as published: `--suite auth`, and what further scenarios they have about it. */
export const authSuites = {
  '0.1.16': { package: 'mcp-conformance-1', further: furtherOfAll },
  '0.2.0-alpha.12': {
    package: 'mcp-conformance-2',
    further: [
      ...furtherOfAll,
      'auth/authorization-server-migration',
      'auth/iss-supported',
      'auth/iss-not-advertised',
      'auth/iss-supported-missing',
      'auth/iss-wrong-issuer',
      'auth/iss-unexpected',
      'auth/iss-normalized',
      'auth/metadata-issuer-mismatch',
    ],
  },
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
  const { package: suite, further } = authSuites[name];
  const alone = (each: string) => run(suite, lab, ['--scenario', each]);
  if (scenario !== undefined) return alone(scenario);
  const findings = new Map(await run(suite, lab, ['--suite', 'auth']));
  for (const each of further)
    for (const [check, finding] of await alone(each)) findings.set(check, finding);
  return findings;
}

async function run(suite: string, lab: AuthLab, which: readonly string[]): Promise<Findings> {
  const folder = await mkdtemp(join(await temporaryFolder('conformance'), 'auth-'));
  const entry = join(dirname(require.resolve(`${suite}/package.json`)), 'dist/index.js');
  const command = `${process.execPath} ${client}`;
  const options = ['--timeout', '100000', '--output-dir', folder];
  const output: Buffer[] = [];
  const child = spawn(
    process.execPath,
    [entry, 'client', '--command', command, ...which, ...options],
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
  if (findings.size === 0)
    throw new Error(`${suite} ${which.join(' ')} found nothing:\n${Buffer.concat(output)}`);
  return findings;
}
