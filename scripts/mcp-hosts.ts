/**
 * `npm run mcp:hosts`: programs that people connect to MCP servers log in through a gateway and call a tool, a script being the
 * person at the browser. It installs them, 120 MB, in a folder of its own, which is removed afterwards.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const programs = ['mcp-remote@0.15.1', '@modelcontextprotocol/inspector@2.12.0'];
const test = 'services/gateway/test/mcp/oauth.test.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-mcp-hosts-'));
try {
  run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', ...programs]);
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    test,
    '-t',
    'programs that people connect',
  ];
  run(process.execPath, args, { SLUICE_MCP_HOSTS: folder });
} finally {
  rmSync(folder, { recursive: true });
}

/** Ends with what it ends with, where that is no success. */
function run(command: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}): void {
  if (process.exitCode) return;
  const env = { ...process.env, ...environment };
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', env });
  if (error !== undefined) throw error;
  process.exitCode = status ?? 1;
}
