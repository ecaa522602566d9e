import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, inTurns } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authSection, failuresOf } from './conformance/auth-page.ts';
import { conformancePage, type Run, type Through, wayOf } from './conformance/conformance-page.ts';
import { startKeyProxy } from './conformance/key-proxy.ts';
import { type AuthSuiteName, authSuites, runAuthSuite } from './conformance/run-auth-suite.ts';
import { differences, type Findings, runSuite, type SuiteName } from './conformance/run-suite.ts';
import { startEverything } from './conformance/start-everything.ts';
import { type RunningServer, startFixtures } from './conformance/start-fixtures.ts';
import { type ClientName, type EraClient, eraClients, type Target } from './eras/era-clients.ts';
import { type EraCase, eraSection } from './eras/era-page.ts';
import { type NewerServer, startNewerServer } from './eras/newer-server.ts';
import { startOlderServer } from './eras/older-server.ts';
import { scenarios } from './eras/transcripts.ts';
import type { FixtureLog } from './fixture-server.ts';
import { inTurn, type McpLab, peopleOf, startMcpLab } from './mcp-lab.ts';

/**
 * Other people's suites, clients and servers: what they find, say and hear through gateways is what they do
 * directly. `npm run mcp:conformance` runs all of it and writes docs/mcp-conformance.md; the suite a part.
 */
const isFull = process.env.SLUICE_MCP_CONFORMANCE === 'full';
const page = join(import.meta.dirname, '../../../../docs/mcp-conformance.md');
const gatewayCounts = isFull ? [1, 3] : [2];

const runs: Run[] = [];
const authRuns = new Map<AuthSuiteName, Findings>();
const held = new Set<EraCase>();
let lab: McpLab;
beforeAll(async () => {
  lab = await startMcpLab({ gateways: Math.max(...gatewayCounts), redis: true });
});
afterAll(async () => {
  await lab?.stop();
  // A part of it (`-t`) says nothing of the rest.
  if (!isFull || runs.length < plan.length || held.size < cases.length || authRuns.size < 2) return;
  const eras = eraSection(cases, held, Object.keys(eraServers));
  const auth = authSection(authRuns, authNamed);
  await writeFile(page, conformancePage(runs, lost, [auth, eras]));
});

const conformanceServers: Record<string, () => Promise<RunningServer>> = {
  'server-everything': startEverything,
  fixtures: () => startFixtures('both'),
  'fixtures, newer era': () => startFixtures('newer'),
};

const plan: readonly { server: string; suite: SuiteName; isShort?: boolean }[] = [
  { server: 'server-everything', suite: '0.1.16' },
  { server: 'server-everything', suite: '0.2.0-alpha.12 at 2025-11-25' },
  { server: 'fixtures', suite: '0.1.16' },
  { server: 'fixtures', suite: '0.2.0-alpha.12 at 2025-11-25', isShort: true },
  { server: 'fixtures', suite: '0.2.0-alpha.12 at 2026-07-28' },
  { server: 'fixtures, newer era', suite: '0.2.0-alpha.12 at 2026-07-28' },
];

/** Checks that do not pass through, by the start of their line, and why that is right. */
const named: Readonly<Record<string, string>> = Object.fromEntries(
  ['tools-call-error', 'tools-call-simple-text', 'server-sse-polling'].map((scenario) => [
    `server-everything: merged, 3 gateways in turn: ${scenario} /`,
    'asks for a tool that the server has not: the server tells a result with isError, which passes, a merged server that nobody has it, −32602',
  ]),
);

describe.each(plan.filter(({ isShort }) => isFull || isShort === true))(
  'conformance: $server, $suite',
  ({ server, suite }) => {
    it('finds through gateways what it finds directly', { timeout: 300_000 }, async () => {
      const start = conformanceServers[server] as () => Promise<RunningServer>;
      // One for itself each: what one run changes the other does not see.
      const [alone, behind] = await Promise.all([start(), start()]);
      const { slug, id } = await lab.save({ url: behind.url });
      const direct = runSuite(suite, alone.url);
      const through: Through[] = [];
      for (const gateways of gatewayCounts) {
        const findings = await runThrough(suite, slug, gateways);
        through.push({ gateways, isMerged: false, findings });
      }
      if (isFull) {
        const merged = await lab.merge([{ server_id: id }]);
        const gateways = Math.max(...gatewayCounts);
        const findings = await runThrough(suite, merged.slug, gateways);
        through.push({ gateways, isMerged: true, findings });
      }
      const run = { server, suite, direct: await direct, through };
      await Promise.all([alone.close(), behind.close()]);
      runs.push(run);
      if (server !== 'server-everything') expect(failures(run)).toEqual([]);
      expect(unnamed(run)).toEqual([]);
    });
  },
);

/** What fails for the gateway as a client of authorisation servers, by the start of its line, and why that is right. */
const authNamed: Readonly<Record<string, string>> = {
  '0.1.16: auth/2025-03-26-oauth-metadata-backcompat /':
    'its metadata at the root are of another issuer, `…/oauth`, which RFC 8414 §3.3 forbids to take; 0.2.0-alpha.12 has mended it',
};

describe.each(
  (Object.keys(authSuites) as AuthSuiteName[]).filter(
    (suite) => isFull || suite === '0.2.0-alpha.12',
  ),
)('conformance: the gateway as OAuth client, %s', (suite) => {
  // One scenario of one suite is enough where the rest is not asked for.
  const scenario = isFull ? undefined : 'auth/scope-step-up';
  it('signs a user in as the suite wants it', { timeout: 300_000 }, async () => {
    const { credentials, gatewayUrls } = lab.scenario.stack;
    const people = await peopleOf(lab, 8);
    const findings = await runAuthSuite(
      suite,
      {
        base: gatewayUrls[0] ?? '',
        adminKey: credentials.admin_key,
        workspaceId: credentials.workspace_id,
        userKeys: people.map(({ key }) => key),
      },
      scenario,
    );
    authRuns.set(suite, findings);
    const failed = failuresOf(suite, findings);
    const isNamed = (line: string) =>
      Object.keys(authNamed).some((start) => line.startsWith(start));
    expect(failed.filter((line) => !isNamed(line))).toEqual([]);
  });
});

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

/** What passes directly and not through, with the reason where there is one. */
function lost({ server, direct, through }: Run): { line: string; why: string | undefined }[] {
  return through.flatMap((each) =>
    differences(direct, each.findings).map((difference) => {
      const line = `${server}: ${wayOf(each)}: ${difference}`;
      const why = Object.entries(named).find(([start]) => line.startsWith(start))?.[1];
      return { line, why };
    }),
  );
}

function unnamed(run: Run): string[] {
  return lost(run).flatMap(({ line, why }) => (why === undefined ? [line] : []));
}

const log: FixtureLog = { writes: 0, cancelled: 0 };
const eraServers: Record<string, () => Promise<NewerServer>> = {
  older: () => startOlderServer(log, 'http'),
  'HTTP+SSE': () => startOlderServer(log, 'sse'),
  newer: () => startNewerServer(log),
};

const cases: readonly EraCase[] = Object.keys(eraServers).flatMap((server) =>
  (Object.keys(eraClients) as ClientName[]).flatMap((client) =>
    Object.keys(scenarios).map((scenario) => ({ client, server, scenario })),
  ),
);

/** What clients do in the suite: each at each server some of it, and all of it between them. */
const inSuite = Object.keys(eraServers).flatMap((server, place) =>
  (Object.keys(eraClients) as ClientName[]).flatMap((client, at) =>
    inTurns(
      cases.filter((one) => one.server === server && one.client === client),
      4,
      place + at,
    ),
  ),
);

describe('a client of either era at a server of either', () => {
  const running = new Map<string, NewerServer & { slug: string }>();
  beforeAll(async () => {
    for (const [name, start] of Object.entries(eraServers)) {
      const server = await start();
      const transport = name === 'HTTP+SSE' ? 'sse' : 'http';
      const { slug, id } = await lab.save({ url: server.url, transport });
      running.set(name, { ...server, slug });
      // What a server has is known, and in force, before anybody hears of changes of it.
      // What a busy control plane was not told of it is told when it is listed again.
      await eventually(async () => {
        const client = await eraClients['client 2.4, auto'](through(slug));
        await scenarios['lists of three pages']?.(client, { log, announce: server.announce });
        await client.close();
        const isKnown = async () => {
          const known = await lab.scenario.admin('GET', `/mcp-servers/${id}/capabilities`);
          expect(JSON.stringify(known)).toContain('"type":"prompt"');
        };
        await eventually(isKnown, { timeoutMs: 10_000 });
      });
      await lab.scenario.admin('PUT', `/mcp-servers/${id}`, { name: `The ${name} one` });
    }
  });
  afterAll(async () => {
    for (const { close } of running.values()) await close();
  });

  function through(slug: string): Target {
    const urls = lab.urls(slug);
    const headers = { 'x-service-api-key': lab.scenario.stack.credentials.workspace_key };
    return { url: urls[0] as string, headers, fetch: inTurn(urls) };
  }

  async function play(
    connecting: Promise<EraClient>,
    { server, scenario }: EraCase,
  ): Promise<unknown> {
    const { announce } = running.get(server) as NewerServer;
    const connected = await connecting;
    try {
      return await scenarios[scenario]?.(connected, { log, announce });
    } finally {
      await connected.close();
    }
  }

  /**
   * A client of both eras hears directly all that there is to hear. Of the fixture by HTTP+SSE that is what it says by its
   * other transport: a client of HTTP+SSE loses the last progress when it reads the answer in the same moment.
   */
  const heardDirectly = new Map<string, Promise<unknown>>();
  function directly({ server: asked, ...one }: EraCase): Promise<unknown> {
    const server = asked === 'HTTP+SSE' ? 'older' : asked;
    const { url } = running.get(server) as NewerServer;
    const key = `${server} ${one.scenario}`;
    const known =
      heardDirectly.get(key) ??
      play(eraClients['client 2.4, auto']({ url, headers: {} }), { ...one, server });
    heardDirectly.set(key, known);
    return known;
  }

  // In the suite a quarter of them: every client at every server, and all scenarios at each between the clients.
  it.each(inSuite)('$client, $server: $scenario', async (one) => {
    const { slug } = running.get(one.server) as NewerServer & { slug: string };
    const expected = await directly(one);
    expect(await play(eraClients[one.client](through(slug)), one)).toEqual(expected);
    held.add(one);
  });
});
