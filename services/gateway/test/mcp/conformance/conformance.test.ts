import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type McpLab, startMcpLab } from '../mcp-lab.ts';
import { conformancePage, type Run } from './conformance-page.ts';
import { startKeyProxy } from './key-proxy.ts';
import { differences, runSuite, type SuiteName } from './run-suite.ts';
import { startEverything } from './start-everything.ts';
import { type RunningServer, startFixtures } from './start-fixtures.ts';

/** `npm run mcp:conformance` runs every suite and writes docs/mcp-conformance.md; the suite one. */
const isFull = process.env.SLUICE_MCP_CONFORMANCE === 'full';
const page = join(import.meta.dirname, '../../../../../docs/mcp-conformance.md');

const servers: Record<string, () => Promise<RunningServer>> = {
  'server-everything': startEverything,
  fixtures: () => startFixtures('both'),
  'fixtures, newer era': () => startFixtures('newer'),
};

const plan: readonly { server: string; suite: SuiteName; isShort?: boolean }[] = [
  { server: 'server-everything', suite: '0.1.16' },
  { server: 'server-everything', suite: '0.2.0-alpha.12 at 2025-11-25' },
  { server: 'fixtures', suite: '0.1.16' },
  { server: 'fixtures', suite: '0.2.0-alpha.12 at 2025-11-25', isShort: true },
];

/** Checks that do not pass through, by the start of their line, and why that is right. */
const named: Readonly<Record<string, string>> = {};

const gatewayCounts = isFull ? [1, 3] : [2];
const runs: Run[] = [];
let lab: McpLab;
beforeAll(async () => {
  lab = await startMcpLab({ gateways: Math.max(...gatewayCounts), redis: true });
});
afterAll(async () => {
  await lab?.stop();
  const sections: string[] = [];
  if (isFull) await writeFile(page, conformancePage(runs, unnamed, sections));
});

describe.each(plan.filter(({ isShort }) => isFull || isShort === true))(
  '$server, $suite',
  ({ server, suite }) => {
    it('passes through what passes directly', { timeout: 300_000 }, async () => {
      const start = servers[server] as () => Promise<RunningServer>;
      // One for itself each: what one run changes the other does not see.
      const [alone, behind] = await Promise.all([start(), start()]);
      const { slug } = await lab.save({ url: behind.url });
      const direct = runSuite(suite, alone.url);
      const through = [];
      for (const gateways of gatewayCounts)
        through.push({ gateways, findings: await runThrough(suite, slug, gateways) });
      const run = { server, suite, direct: await direct, through };
      await Promise.all([alone.close(), behind.close()]);
      runs.push(run);
      if (server !== 'server-everything') expect(failures(run)).toEqual([]);
      expect(unnamed(run)).toEqual([]);
    });
  },
);

async function runThrough(suite: SuiteName, slug: string, gateways: number) {
  const { workspace_key: key } = lab.scenario.stack.credentials;
  const proxy = await startKeyProxy(lab.urls(slug).slice(0, gateways), key);
  const findings = await runSuite(suite, proxy.url);
  await proxy.close();
  return findings;
}

function failures({ direct }: Run): string[] {
  return [...direct].filter(([, { status }]) => status === 'FAILURE').map(([key]) => key);
}

function unnamed({ direct, through }: Run): string[] {
  return through.flatMap(({ gateways, findings }) =>
    differences(direct, findings)
      .filter((line) => !Object.keys(named).some((start) => line.startsWith(start)))
      .map((line) => `${gateways} gateways: ${line}`),
  );
}
