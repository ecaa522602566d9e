/**
 * Runs the embedded Postgres as one process of the stack: creates the cluster
 * once, clears what a killed server left behind, says `ready` when connections
 * are accepted, and takes the server down with itself. Started by
 * `postgresSpec`; settings come as JSON in an
 * environment variable, because arguments are visible to every user.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { leftoverServer } from './leftover-server.ts';
import { clockEnvironment } from './managed-process.ts';
import { type PostgresBinaries, postgresBinaries } from './postgres-binaries.ts';
import type { PostgresSettings } from './postgres-settings.ts';
import { type PostgresUser, postgresUser } from './postgres-user.ts';

const settings = JSON.parse(process.env.SLUICE_POSTGRES ?? '') as PostgresSettings;
let server: ChildProcess | undefined;
let tool: ChildProcess | undefined;
let stopping = false;

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => {
    stopping = true;
    // SIGINT is Postgres' fast shutdown: sessions are cut, data is written.
    server?.kill('SIGINT');
    // A set-up under way is thrown away, with the processes that it started.
    if (tool?.pid !== undefined) process.kill(-tool.pid, 'SIGKILL');
  });

const binaries = await postgresBinaries(settings.binDir);
const user = postgresUser(settings.dataDir, binaries.postgres);
try {
  await clearStaleServer(binaries, user);
  if (!existsSync(join(settings.dataDir, 'PG_VERSION'))) await createCluster(binaries, user);
} catch (error) {
  if (stopping) process.exit(0);
  throw error;
}
if (stopping) process.exit(0);
server = startServer(binaries, user);

/** Into a folder beside, renamed when complete: an interrupted first start leaves nothing that looks finished. */
async function createCluster({ initdb }: PostgresBinaries, owner: PostgresUser): Promise<void> {
  const parent = dirname(settings.dataDir);
  mkdirSync(parent, { recursive: true });
  removeUnfinished(parent);
  const unfinished = `${settings.dataDir}.new-${process.pid}`;
  mkdirSync(unfinished, { mode: 0o700 });
  const passwordFile = join(tmpdir(), `sluice-postgres-${process.pid}`);
  rmSync(passwordFile, { force: true });
  writeFileSync(passwordFile, `${settings.password}\n`, { mode: 0o600, flag: 'wx' });
  try {
    if (owner.ids !== undefined)
      for (const path of [unfinished, passwordFile]) chownSync(path, owner.ids.uid, owner.ids.gid);
    // Nobody guards what is thrown away, and each connection would compute the thousands of rounds of a password anew.
    const hasty = settings.durable ? [] : ['--no-sync', '--set=scram_iterations=1'];
    await run(owner, initdb, [
      `--pgdata=${unfinished}`,
      '--auth=scram-sha-256',
      `--username=${settings.user}`,
      `--pwfile=${passwordFile}`,
      '--encoding=UTF8',
      '--locale=C',
      ...hasty,
    ]);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true, maxRetries: 5 });
    throw error;
  } finally {
    rmSync(passwordFile, { force: true });
  }
  chmodSync(unfinished, 0o700);
  renameSync(unfinished, settings.dataDir);
}

function removeUnfinished(parent: string): void {
  const prefix = `${basename(settings.dataDir)}.new-`;
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(prefix)) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // The tool that a killed watcher left is still at it; the next start removes the folder.
    }
  }
}

/** A server whose watcher was killed may still run and hold the data; a dead one may have left its pid file. */
async function clearStaleServer({ pgCtl }: PostgresBinaries, owner: PostgresUser): Promise<void> {
  if (leftoverServer(settings.dataDir) !== undefined)
    await run(owner, pgCtl, ['stop', '-D', settings.dataDir, '-m', 'fast', '-w', '-t', '20']);
  rmSync(join(settings.dataDir, 'postmaster.pid'), { force: true });
}

function startServer({ postgres }: PostgresBinaries, owner: PostgresUser): ChildProcess {
  const flags = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '64MB',
    lc_messages: 'C',
    ...(settings.durable
      ? {}
      : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
  const args = ['-D', settings.dataDir, '-p', String(settings.port)];
  for (const [name, value] of Object.entries(flags)) args.push('-c', `${name}=${value}`);
  const child = spawnAs(owner, postgres, args);
  child.stderr?.on('data', (chunk: Buffer) => {
    process.stderr.write(chunk);
    if (chunk.includes('database system is ready to accept connections'))
      process.stderr.write('{"level":"info","service":"postgres","msg":"ready"}\n');
  });
  child.stdout?.resume();
  child.once('exit', (code) => process.exit(stopping ? 0 : (code ?? 1)));
  return child;
}

async function run(owner: PostgresUser, file: string, args: string[]): Promise<void> {
  const child = spawnAs(owner, file, args, { detached: true });
  tool = child;
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    output += chunk;
  });
  const code = await new Promise((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  tool = undefined;
  if (code !== 0) throw new Error(`${file} failed with exit code ${code}:\n${output}`);
}

function spawnAs(
  owner: PostgresUser,
  file: string,
  args: string[],
  options: { detached?: boolean } = {},
): ChildProcess {
  const command = owner.command(file, args);
  return spawn(command.file, command.args, {
    uid: command.uid,
    gid: command.gid,
    // The lent user may not be allowed into our working directory.
    cwd: '/',
    detached: options.detached ?? false,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C', ...clockEnvironment() },
  });
}
