/**
 * `npm run backup:rehearse [-- --postgres DIR] [--seconds 10] [--embedded]`: backs an installation up and restores it as docs/deploy/backup.md says,
 * under 50 requests a second at two gateways. Postgres is lost and comes back as it was at the backup; then the ledger is. Ends with 1
 * when a request failed, a record is missing that should not be, or a gateway holds what the restored database does not have.
 * The ledger is on a ClickHouse server (its HTTP interface before the embedded engine); `--embedded`: in the data service.
 *
 * `--postgres` is the folder of a server's programs with pg_dump and pg_restore beside them, which the npm package of the tests does not
 * have: Debian's (`apt-get install postgresql`) is found without it. Takes two minutes.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  baseEnvironment,
  createSecrets,
  freePort,
  freePorts,
  type ManagedProcess,
  type PartName,
  type PostgresSettings,
  postgresSpec,
  postgresUrl,
  type Sluice,
  startProcess,
  startSluice,
  throwawayPostgres,
} from '@sluice/stack';
import { Client } from 'pg';
import { embeddedLedger, type LedgerStore, ledgerOnServer } from './rehearsal/ledger-stores.ts';
import { ask, compareWithLedger, countRequests, Traffic } from './rehearsal/traffic.ts';

const { values: flags } = parseArgs({
  options: {
    postgres: { type: 'string' },
    seconds: { type: 'string', default: '10' },
    embedded: { type: 'boolean', default: false },
  },
});
const stageMs = Number(flags.seconds) * 1000;
const root = resolve(import.meta.dirname, '..');
const work = mkdtempSync(join(tmpdir(), 'sluice-rehearsal-'));
const dataDir = join(work, 'data');
const faults: string[] = [];
const say = (line: string) => process.stdout.write(`${line}\n`);
const expectThat = (what: string, isSo: boolean) => {
  say(`  ${isSo ? 'ok   ' : 'FAULT'} ${what}`);
  if (!isSo) faults.push(what);
};

/** Resolves with what it comes to and how long that took, ms. */
async function timed<T>(run: () => Promise<T> | T): Promise<[T, number]> {
  const startedAt = performance.now();
  const value = await run();
  return [value, Math.round(performance.now() - startedAt)];
}

async function main(): Promise<number> {
  const binDir = flags.postgres ?? installedPrograms();
  const program = (name: string) => join(binDir, name);
  say(execFileSync(program('pg_dump'), ['--version'], { encoding: 'utf8' }).trim());
  // Postgres may run as another user, who must be able to pass.
  chmodSync(work, 0o711);
  const settings = { ...(await throwawayPostgres(folder('postgres'))), binDir, durable: true };
  let postgres = await startEmpty(settings);
  let sluice: Sluice | undefined;
  let ledger: LedgerStore | undefined;
  try {
    const store = flags.embedded
      ? embeddedLedger(join(dataDir, 'clickhouse'), join(work, 'clickhouse-copy'))
      : await ledgerOnServer(join(work, 'clickhouse'));
    ledger = store;
    const ports = await freePorts();
    const second = await freePort();
    const [metrics, secrets] = [await freePort(), createSecrets()];
    const databaseUrl = postgresUrl(settings, 'sluice');
    sluice = await startSluice({
      dataDir,
      ports,
      secrets,
      databaseUrl,
      clickhouseUrl: store.url,
      restart: false,
      moreGatewayPorts: [second],
      environment: { LOG_STORE: '' },
      partEnvironment: {
        'gateway-2': { METRICS_PORT: String(metrics) },
        'data-service': { GAP_GRACE: '2000' },
      },
    });
    const { parts, credentials } = sluice;
    const part = (name: PartName) => {
      const found = parts.get(name);
      if (found === undefined) throw new Error(`there is no ${name}`);
      return found;
    };
    const gateways = [ports.gateway, second];
    const admin = adminOf(ports.gateway, credentials.admin_key);
    const { workspace_id, demo_provider: provider } = credentials;
    const command = (script: string, ...args: string[]) =>
      spawnSync(process.execPath, [join(root, script), ...args], {
        encoding: 'utf8',
        env: {
          ...baseEnvironment(),
          DATABASE_URL: databaseUrl,
          CLICKHOUSE_URL: store.url,
          DATA_SERVICE_GRPC_URL: `127.0.0.1:${ports.dataServiceGrpc}`,
          SERVICE_CLIENT_AUTH: secrets.service_token,
        },
      });

    say('an installation with 200 keys and 50 configs, under way');
    const makeKey = (name: string) =>
      admin<{ id: string; key: string }>('POST', '/api-keys/workspace/service', {
        name,
        workspace_id,
        scopes: ['completions.write'],
      });
    const keys = [];
    for (let at = 0; at < 200; at += 1) keys.push(await makeKey(`before-${at}`));
    const configs = [];
    for (let at = 0; at < 50; at += 1)
      configs.push(
        (
          await admin<{ data: { slug: string } }>('POST', '/configs', {
            name: `Config ${at}`,
            workspace_id,
            config: { provider },
          })
        ).data.slug,
      );
    const [revoked, ...kept] = keys;
    const [changed] = configs;
    if (revoked === undefined || changed === undefined) throw new Error('nothing was made');
    const startedAtMs = Date.now() - 1000;
    const traffic = new Traffic({
      gatewayPorts: gateways,
      keys: kept.map(({ key }) => key),
      provider,
      everyMs: 20,
    });
    const running = traffic.run();
    const statusesOf = (key: string, config: object = { 'x-service-provider': provider }) =>
      Promise.all(
        gateways.map(async (port) => {
          const answer = await ask(port, key, { ...config });
          await answer.arrayBuffer();
          return answer.status;
        }),
      );
    const isEverywhere = async (statuses: Promise<number[]>, wanted: (status: number) => boolean) =>
      (await statuses).every(wanted);
    const isOk = (status: number) => status === 200;
    const isUnknown = (status: number) => status === 401;
    const ofConfig = () => statusesOf(kept[0]?.key ?? '', { 'x-service-config': changed });
    await delay(stageMs);

    say('backup: the ledger, then Postgres');
    const beforeCopy = new Set(traffic.names);
    // Until they have ended, and left the outboxes.
    await delay(3000);
    const [, copyMs] = await timed(() => store.backUp(part('data-service')));
    const dump = join(work, 'sluice.dump');
    const [, dumpMs] = await timed(() =>
      execFileSync(program('pg_dump'), ['--format=custom', `--file=${dump}`, databaseUrl]),
    );
    say(`  the ledger in ${copyMs} ms, ${store.howBackedUp}`);
    say(
      `  pg_dump ${dumpMs} ms, ${Math.round(statSync(dump).size / 1024)} KiB; ${traffic.counts()}`,
    );

    say('after it: a key is made, one is revoked, a config changes');
    const late = await makeKey('after');
    await admin('DELETE', `/api-keys/${revoked.id}`);
    await admin('PUT', `/configs/${changed}?workspace_id=${workspace_id}&allow_missing=true`, {
      config: { provider: '@nowhere' },
    });
    expectThat('the key works at both gateways', await isEverywhere(statusesOf(late.key), isOk));
    expectThat(
      'the revoked one is unknown',
      await isEverywhere(statusesOf(revoked.key), isUnknown),
    );
    expectThat(
      'the config leads nowhere',
      await isEverywhere(ofConfig(), (status) => !isOk(status)),
    );
    await delay(stageMs);

    say('Postgres is lost');
    process.kill(serverOf(settings), 'SIGKILL');
    await postgres.exited;
    rmSync(settings.dataDir, { recursive: true, force: true });
    await delay(stageMs);
    traffic.up.delete(1);
    await delay(1000);
    const ofEndedLife = new Set(traffic.namesOf[1]);
    await part('gateway-2').stop();
    await part('gateway-2').start();
    traffic.up.add(1);
    await delay(stageMs);
    say(`  ${traffic.counts()}, one gateway started anew`);
    expectThat(
      'gateways go on with what they hold, the key made last too',
      await isEverywhere(statusesOf(late.key), isOk),
    );

    say('restore');
    await part('control-plane').stop();
    await part('data-service').stop();
    const restored = { ...settings, dataDir: join(folder('postgres-restored'), 'data') };
    const [, emptyMs] = await timed(async () => {
      postgres = await startEmpty(restored);
    });
    const [, restoreMs] = await timed(() =>
      execFileSync(program('pg_restore'), [`--dbname=${databaseUrl}`, '--exit-on-error', dump]),
    );
    const check = command('scripts/migrate.ts', '--check');
    expectThat(`npm run migrate -- --check ends with 0`, check.status === 0);
    if (check.status !== 0) say(check.stderr);
    const [, startMs] = await timed(async () => {
      await part('control-plane').start();
      await part('data-service').start();
    });
    const [isBack, backMs] = await timed(() =>
      within(30_000, async () =>
        [
          await isEverywhere(statusesOf(late.key), isUnknown),
          await isEverywhere(statusesOf(revoked.key), isOk),
          await isEverywhere(ofConfig(), isOk),
        ].every(Boolean),
      ),
    );
    say(`  an empty server ${emptyMs} ms, pg_restore ${restoreMs} ms, the services ${startMs} ms`);
    expectThat(
      `both gateways have what the database has, ${backMs} ms after: the key is unknown, the revoked one works, the config is as it was`,
      isBack,
    );
    const next = await makeKey('next');
    expectThat(
      'what is made now is in force at once',
      await isEverywhere(statusesOf(next.key), isOk),
    );
    await delay(stageMs);
    traffic.stop();
    await running;
    say(`  ${traffic.counts()}`);
    faults.push(...traffic.faults);

    say('the ledger');
    const { names } = traffic;
    const place = {
      port: ports.dataServiceGrpc,
      token: secrets.service_token,
      organisationId: credentials.organisation_id,
      fromMs: startedAtMs,
    };
    const inLedger = (asked: ReadonlySet<string>, tries: number) =>
      compareWithLedger(asked, { ...place, tries });
    const whole = await inLedger(names, 60);
    expectThat(
      `it has all ${names.size}: missing ${whole.missing}, twice ${whole.doubled}`,
      whole.missing + whole.doubled === 0,
    );
    const gapsOf = async () => {
      const { data } = await admin<{ data: { missing: number }[] }>('GET', '/ledger/gaps');
      return data.reduce((sum, { missing }) => sum + missing, 0);
    };
    await delay(3000);
    expectThat('it names no gap', (await gapsOf()) === 0);
    for (const script of ['audit-verify', 'ledger-verify']) {
      const { status, stderr } = command(`scripts/${script}.ts`);
      expectThat(`npm run ${script.replace('-', ':')} ends with 0`, status === 0);
      if (status !== 0) say(stderr);
    }

    say('the ledger is lost, and restored to its copy');
    await store.lose(part('data-service'));
    const [, ledgerMs] = await timed(() => store.restore(part('data-service')));
    const before = await inLedger(beforeCopy, 5);
    const lost = await inLedger(names, 1);
    say(`  there again after ${ledgerMs} ms; ${lost.missing} of ${names.size} are not in it`);
    expectThat(
      `what was asked before the copy is there: missing ${before.missing}, twice ${lost.doubled}`,
      before.missing + lost.doubled === 0,
    );
    const { counted, listed } = await countRequests(place);
    expectThat(
      `analytics count ${counted} requests, logs have ${listed}`,
      counted === listed && listed > 0,
    );
    // Nobody is left who made these.
    const unnamed = await inLedger(ofEndedLife, 1);
    const wanted = lost.missing - unnamed.missing;
    const [isNamed, namedMs] = await timed(() =>
      within(60_000, async () => (await gapsOf()) >= wanted),
    );
    expectThat(
      `the ${wanted} of gateways that still live are named as gaps, ${namedMs} ms after; ${unnamed.missing} of the life that ended in between are not`,
      isNamed && wanted > 0,
    );
  } finally {
    await sluice?.stop();
    await Promise.all([postgres.stop(), ledger?.stop()]);
  }
  for (const fault of faults.slice(0, 20)) say(`FAULT ${fault}`);
  say(faults.length === 0 ? 'ok' : `${faults.length} faults`);
  return faults.length === 0 ? 0 : 1;
}

/** Of Debian's servers the newest. */
function installedPrograms(): string {
  const parent = '/usr/lib/postgresql';
  const found = (existsSync(parent) ? readdirSync(parent) : [])
    .toSorted((one, other) => Number(other) - Number(one))
    .map((version) => join(parent, version, 'bin'))
    .find((path) =>
      ['initdb', 'pg_dump', 'pg_restore'].every((name) => existsSync(join(path, name))),
    );
  if (found === undefined)
    throw new Error(
      'There is no Postgres with pg_dump here. Install one, for example: sudo apt-get install postgresql; or name its programs with --postgres.',
    );
  return found;
}

function folder(name: string): string {
  const path = join(work, name);
  mkdirSync(path);
  chmodSync(path, 0o711);
  return path;
}

/** A server with one empty database. */
async function startEmpty(settings: PostgresSettings): Promise<ManagedProcess> {
  const server = await startProcess(postgresSpec(settings));
  const client = new Client({ connectionString: postgresUrl(settings) });
  await client.connect();
  await client.query('CREATE DATABASE sluice');
  await client.end();
  return server;
}

/** The server itself; what was started watches it. */
function serverOf({ dataDir }: PostgresSettings): number {
  return Number(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
}

function adminOf(port: number, key: string) {
  return async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${port}/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-service-api-key': key },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };
}

async function within(ms: number, isSo: () => Promise<boolean>): Promise<boolean> {
  const until = performance.now() + ms;
  while (performance.now() < until) {
    if (await isSo()) return true;
    await delay(100);
  }
  return false;
}

process.exitCode = await main().finally(() => rmSync(work, { recursive: true, force: true }));
