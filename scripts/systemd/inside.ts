/** What `npm run systemd` does within its own network: `inside.ts FOLDER DEBIAN RELEASE`. */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startDemoUpstream } from '@sluice/demo-upstream';
import type { SluiceCredentials } from '@sluice/stack';
import { root } from '../chart/render.ts';
import { startStores } from '../pods/podman.ts';
import { openReport, until, work } from '../pods/work.ts';

const [folder = '', debian = '', release = ''] = process.argv.slice(2);
const machine = join(folder, 'machine');
const { report, hasFailed } = openReport();
/** In the order of an upgrade. */
const services = ['control-plane', 'data-service', 'gateway@1', 'gateway@2'];

async function run(command: string, ...args: string[]): Promise<string> {
  return (await promisify(execFile)(command, args, { timeout: 120_000 })).stdout.trim();
}

/** The first process of the machine, once it runs. */
async function findInit(): Promise<string> {
  const inits = await run('pgrep', '-x', 'systemd');
  return inits.split('\n')[0] as string;
}

async function within(...command: string[]): Promise<string> {
  return run('nsenter', '-t', await findInit(), '-m', '-p', '-i', '-u', ...command);
}

/** As the page has it: program, settings, credentials, units. */
function install(stores: Readonly<Record<string, string>>): void {
  const etc = join(machine, 'etc/sluice');
  cpSync(release, join(machine, 'usr/lib/sluice'), { recursive: true });
  mkdirSync(join(etc, 'credentials'), { recursive: true, mode: 0o700 });
  const given = join(root, 'deploy/systemd');
  for (const name of readdirSync(given))
    cpSync(
      join(given, name),
      join(name.endsWith('.env') ? etc : join(machine, 'etc/systemd/system'), name),
    );
  const credentials: Record<string, string | undefined> = {};
  for (const name of ['service_client_auth', 'master_key', 'key_pepper', 'snapshot_key'])
    credentials[name] = randomBytes(32).toString('hex');
  for (const [name, value] of Object.entries(stores)) credentials[name.toLowerCase()] = value;
  for (const [name, value] of Object.entries(credentials))
    writeFileSync(join(etc, 'credentials', name), `${value}\n`, { mode: 0o600 });
  // The demo provider is on this machine.
  for (const name of ['gateway.env', 'control-plane.env'])
    writeFileSync(join(etc, name), 'TRUSTED_CUSTOM_HOSTS=127.0.0.1\n', { flag: 'a' });
  writeFileSync(join(etc, 'gateway-2.env'), 'PORT=8797\nMETRICS_PORT=9474\n');
}

const ready = (port: number) =>
  until(`port ${port}`, async () => {
    const response = await fetch(`http://127.0.0.1:${port}/health/ready`);
    const text = await response.text();
    return response.ok && text.includes('"connected"') ? text : undefined;
  });

async function property(unit: string, name: string): Promise<string> {
  return within('systemctl', 'show', '--value', '-p', name, unit);
}

/** What its process may more than the unit says. */
async function allowedTooMuch(unit: string): Promise<string[]> {
  const pid = await property(unit, 'MainPID');
  const status = await within('cat', `/proc/${pid}/status`);
  const expected = [/^Uid:\s+[1-9]/m, /^CapEff:\s+0+$/m, /^NoNewPrivs:\s+1$/m, /^Seccomp:\s+2$/m];
  const faults = expected.filter((each) => !each.test(status)).map(String);
  const mounts = await within('cat', `/proc/${pid}/mounts`);
  if (!/ \/ \S+ ro[,\s]/.test(mounts)) faults.push('its file system may be written');
  return faults.map((fault) => `${unit}: ${fault}`);
}

async function main(): Promise<void> {
  const stores = await startStores();
  const upstream = await startDemoUpstream({ host: '127.0.0.1', port: 8799 });
  mkdirSync(machine);
  await run('tar', '-xf', debian, '-C', machine);
  install(stores.settings);
  // Its stores are beside it.
  await run(
    ...([
      'systemctl',
      `--root=${machine}`,
      'mask',
      'postgresql',
      'redis-server',
      'nats-server',
    ] as const),
  );
  const nspawn = spawn(
    'systemd-nspawn',
    [
      ...['--directory', machine, '--boot', '--register=no', '--keep-unit', '--quiet'],
      ...['--resolv-conf=off', '--timezone=off', '--console=pipe'],
    ],
    { stdio: 'ignore' },
  );
  await until('systemd', async () =>
    (await within('systemctl', 'is-system-running')) === 'running' ? true : undefined,
  );
  report(`${(await within('systemctl', '--version')).split('\n')[0]} runs`);

  const units = readdirSync(join(root, 'deploy/systemd')).filter((name) =>
    name.endsWith('.service'),
  );
  const verified = await within(
    'sh',
    '-c',
    `cd /etc/systemd/system && systemd-analyze verify ${units.map((unit) => unit.replace('@.', '@1.')).join(' ')} 2>&1`,
  );
  report(`systemd-analyze verify: ${units.length} units`, verified === '' ? [] : [verified]);

  await within(
    'systemctl',
    'enable',
    '--now',
    'sluice-migrate',
    'sluice-data-service',
    'sluice-control-plane',
  );
  report('migrations, data service, control plane');
  await within('systemctl', 'start', 'sluice-first-keys');
  const file = '/etc/sluice/first-keys.json';
  const keys = JSON.parse(await within('cat', file)) as SluiceCredentials;
  const mode = await within('stat', '-c', '%a %U', file);
  report('first keys, for root alone', mode === '600 root' ? [] : [mode]);
  await within('systemctl', 'enable', '--now', 'sluice-gateway@1', 'sluice-gateway@2');
  await Promise.all([ready(8787), ready(8797)]);
  report('two gateways');
  const faults = await Promise.all(services.map((name) => allowedTooMuch(`sluice-${name}`)));
  report(
    'services: users of systemd’s making, no capability, system calls filtered, nothing to write but their own',
    faults.flat(),
  );
  await work({
    ...{
      gateway: 'http://127.0.0.1:8787',
      report,
      upstreamUrl: `http://127.0.0.1:${upstream.port}/v1`,
    },
    ...{ adminKey: keys.admin_key, workspaceKey: keys.workspace_key },
  });

  const before = await property('sluice-data-service', 'MainPID');
  await within('systemctl', 'restart', 'sluice-migrate');
  const after = await property('sluice-data-service', 'MainPID');
  report('migrations run again beside the services', before === after ? [] : ['they restarted']);
  for (const name of services) await within('systemctl', 'restart', `sluice-${name}`);
  await Promise.all([ready(8787), ready(8797)]);
  report('each restarted, in order');
  for (const name of services.toReversed()) await within('systemctl', 'stop', `sluice-${name}`);
  const results = await Promise.all(
    services.map(
      async (name) =>
        `${name}: ${await property(`sluice-${name}`, 'Result')}, ${await property(`sluice-${name}`, 'ExecMainStatus')}`,
    ),
  );
  report(
    'services end on SIGTERM',
    results.filter((each) => !each.endsWith(': success, 0')),
  );
  const off = once(nspawn, 'exit');
  await within('systemctl', 'poweroff');
  await off;
  stores.child.stdin?.end();
  await Promise.all([once(stores.child, 'exit'), upstream.close()]);
}

try {
  await main();
} catch (error) {
  const { stack, stderr = '' } = error as Error & { stderr?: string };
  report('an error', [stack, stderr, (error as Error).cause]);
  process.stdout.write(await within('journalctl', '--no-pager', '-n', '60').catch(String));
}
process.exit(hasFailed() ? 1 : 0);
