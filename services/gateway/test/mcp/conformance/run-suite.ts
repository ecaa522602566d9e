import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { temporaryFolder } from '@sluice/testkit';

/** The server suites of `@modelcontextprotocol/conformance`, as published. */
export const suites = {
  '0.1.16': { package: 'mcp-conformance-1', args: ['--suite', 'all'] },
  '0.2.0-alpha.12 at 2025-11-25': {
    package: 'mcp-conformance-2',
    args: ['--suite', 'all', '--spec-version', '2025-11-25'],
  },
  '0.2.0-alpha.12 at 2026-07-28': {
    package: 'mcp-conformance-2',
    args: ['--suite', 'all', '--spec-version', '2026-07-28'],
  },
} as const;

export type SuiteName = keyof typeof suites;

/** What a suite found, by check: `scenario / id`, numbered where a scenario has the same one again. */
export type Findings = ReadonlyMap<string, Finding>;

export interface Finding {
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly message: string;
}

const timeoutMs = 120_000;
const require = createRequire(import.meta.url);

/** Runs one suite against an address and reads what it wrote of each check. */
export async function runSuite(name: SuiteName, url: string): Promise<Findings> {
  const suite = suites[name];
  const folder = await mkdtemp(join(await temporaryFolder('conformance'), 'results-'));
  const entry = join(dirname(require.resolve(`${suite.package}/package.json`)), 'dist/index.js');
  const output: Buffer[] = [];
  const child = spawn(
    process.execPath,
    [entry, 'server', '--url', url, ...suite.args, '--output-dir', folder],
    { stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs },
  );
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  await new Promise((resolve) => child.once('close', resolve));
  const findings = await readFindings(folder);
  await rm(folder, { recursive: true });
  // It ends with 1 when a check failed, which is a finding; without any it has not run.
  if (findings.size === 0) throw new Error(`${name} found nothing:\n${Buffer.concat(output)}`);
  return findings;
}

/** Of all that a suite wrote below a folder. */
export async function readFindings(folder: string): Promise<Findings> {
  const findings = new Map<string, Finding>();
  const files = await readdir(folder, { recursive: true });
  for (const file of files.filter((each) => basename(each) === 'checks.json').sort()) {
    const scenario = dirname(file)
      .replace(/^server-/, '')
      .replace(/-\d{4}-\d\d-\d\dT[-\dZ]+$/, '');
    const checks = JSON.parse(await readFile(join(folder, file), 'utf8')) as CheckJson[];
    const seen = new Map<string, number>();
    for (const { id, status, errorMessage = '' } of checks) {
      const times = (seen.get(id) ?? 0) + 1;
      seen.set(id, times);
      const key = `${scenario} / ${id}${times > 1 ? ` (${times})` : ''}`;
      findings.set(key, { status, message: errorMessage });
    }
  }
  return findings;
}

interface CheckJson {
  readonly id: string;
  readonly status: Finding['status'];
  readonly errorMessage?: string;
}

export function countOf(findings: Findings, status: Finding['status']): number {
  return [...findings.values()].filter((finding) => finding.status === status).length;
}

/** Checks that pass directly and do not pass through, each with what the suite said of it. */
export function differences(direct: Findings, through: Findings): string[] {
  return [...direct]
    .filter(([key, { status }]) => status === 'SUCCESS' && through.get(key)?.status !== 'SUCCESS')
    .map(([key]) => {
      const { status, message } = through.get(key) ?? { status: 'absent', message: '' };
      return `${key}: ${status}${message === '' ? '' : `, ${message}`}`;
    });
}
