/**
 * Prepares a checkout: pinned pnpm in `.toolchain/`, the dependencies (Node 24
 * among them) in `node_modules/`, generated code. Run by whatever Node 20 or
 * later started npm, so it is plain JavaScript without dependencies. Every
 * `npm` command of this repository runs it first; when nothing has changed it
 * only compares a hash. Progress goes to stderr: stdout belongs to the command.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPnpm, pinnedPnpm } from './setup/install-pnpm.mjs';
import { setupFingerprint } from './setup/setup-fingerprint.mjs';
import { acquireSetupLock } from './setup/setup-lock.mjs';

export const root = resolve(
  import.meta.dirname ?? fileURLToPath(new URL('.', import.meta.url)),
  '..',
);
export const node24 = join(root, 'node_modules/node/bin/node');

const toolchain = join(root, '.toolchain');
const pnpmEntry = join(toolchain, 'node_modules/pnpm/bin/pnpm.mjs');
const pnpmStamp = join(toolchain, 'pnpm-installed');
const setupStamp = join(root, 'node_modules/.sluice-setup');

class SetupError extends Error {}

/** Brings the checkout up to date. Exits the process with a message when it cannot. */
export async function setUp() {
  if (isUpToDate()) return;
  const startedAt = Date.now();
  mkdirSync(toolchain, { recursive: true });
  const release = await acquireSetupLock(join(toolchain, 'setup.lock'), say);
  try {
    // Whoever held the lock may have done the work.
    if (isUpToDate()) return;
    rmSync(setupStamp, { force: true });
    installPinnedPnpm();
    installDependencies();
    generateCode();
    writeFileSync(setupStamp, setupFingerprint(root));
    say(`Set-up finished in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.`);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(`\n${error.message}`);
    process.exitCode = 1;
    release();
    process.exit(1);
  } finally {
    release();
  }
}

function isUpToDate() {
  return existsSync(node24) && readText(setupStamp) === setupFingerprint(root);
}

function installPinnedPnpm() {
  const stamp = pinnedPnpm();
  if (readText(pnpmStamp) === stamp && existsSync(pnpmEntry)) return;
  say('[1/3] Installing pnpm into .toolchain/');
  rmSync(pnpmStamp, { force: true });
  installPnpm(toolchain, (args) => run('npm', args, 'pnpm could not be installed.'));
  writeFileSync(pnpmStamp, stamp);
}

function installDependencies() {
  say('[2/3] Installing dependencies, Node 24 among them (the first time takes a minute or two)');
  const failure = 'The dependencies could not be installed.';
  pnpm(['install', '--frozen-lockfile', '--config.confirm-modules-purge=false'], failure);
  if (!runsNode24()) {
    // An install that was interrupted may have left the package without its program.
    pnpm(['rebuild', 'node'], failure);
    if (!runsNode24())
      throw new SetupError(`${node24} does not run. Delete node_modules and try again.`);
  }
}

function generateCode() {
  const manifest = JSON.parse(readText(join(root, 'services/control-plane/package.json')) ?? '{}');
  if (manifest.scripts?.generate === undefined) return;
  say('[3/3] Generating the database client');
  pnpm(
    ['--filter', '@sluice/control-plane', 'run', 'generate'],
    'The database client could not be generated.',
  );
}

function runsNode24() {
  const result = spawnSync(node24, ['--version'], { encoding: 'utf8' });
  return result.status === 0 && result.stdout.startsWith('v24.');
}

function pnpm(args, failure) {
  run(process.execPath, [pnpmEntry, ...args], failure);
}

function run(command, args, failure) {
  // Both outputs are progress for a person, so both go to stderr.
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: toolEnvironment(),
  });
  if (result.error !== undefined) throw new SetupError(`${failure} ${result.error.message}`);
  if (result.signal === 'SIGINT' || result.signal === 'SIGTERM' || result.status === 130)
    throw new SetupError('Set-up was interrupted.');
  if (result.status !== 0)
    throw new SetupError(
      `${failure} ${isRegistryReachable() ? 'The lines above say why.' : offline}`,
    );
}

const offline =
  'The npm registry does not answer. Check the network, a proxy (HTTPS_PROXY) or your npm registry setting, and run the same command again; what was downloaded is kept.';

function isRegistryReachable() {
  const options = ['--fetch-timeout=10000', '--fetch-retries=0'];
  return (
    spawnSync('npm', ['ping', ...options], { cwd: root, stdio: 'ignore', timeout: 30_000 })
      .status === 0
  );
}

/** npm tells its scripts where it would install; the tools that we start must decide that themselves. */
export function toolEnvironment() {
  const env = { ...process.env };
  for (const name of Object.keys(env))
    if (
      /^npm_(lifecycle|package)_|^npm_config_(local_prefix|global_prefix|prefix|user_agent)$|^npm_(command|execpath|node_execpath)$/i.test(
        name,
      )
    )
      delete env[name];
  env.PATH = `${join(root, 'node_modules/.bin')}:${env.PATH ?? ''}`;
  return env;
}

function readText(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

function say(line) {
  process.stderr.write(`${line}\n`);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await setUp();
  say('Everything is set up.');
}
