/**
 * Behind every `npm` command: sets the checkout up, then runs the command with
 * the pinned Node 24, whichever Node started npm. `node scripts/run.mjs start`.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { node24, root, setUp, toolEnvironment } from './setup.mjs';

const commands = {
  start: ['scripts/start.ts'],
  test: ['node_modules/vitest/vitest.mjs', 'run'],
  faults: [
    'node_modules/vitest/vitest.mjs',
    'run',
    'services/gateway/test/faults.test.ts',
    '--reporter=./scripts/faults/table-reporter.ts',
  ],
  // All of the tables of which the suite goes through a part.
  'test:long': [
    'node_modules/vitest/vitest.mjs',
    'run',
    'packages/testkit/src/long-form.test.ts',
    'services/control-plane/test/kernel/aliases.test.ts',
    'services/control-plane/test/crash.test.ts',
    'services/control-plane/test/matrix.test.ts',
    'services/control-plane/test/read-your-writes.test.ts',
    'services/data-service/test/analytics.test.ts',
    'services/data-service/test/log-exports.test.ts',
    'services/data-service/test/service.test.ts',
    'services/gateway/test/agents/agent-guards.test.ts',
    'services/gateway/test/mcp/drift.test.ts',
    'services/gateway/test/mcp/eras.test.ts',
    'services/gateway/test/mcp/oauth.test.ts',
    'services/gateway/test/mcp/slow-readers.test.ts',
    'services/gateway/test/mcp/tool-loop.test.ts',
    'packages/engine/src/plan-properties.test.ts',
    'packages/outbound/src/private-keys/opened-keys.test.ts',
    'scripts/migrate.test.ts',
    'scripts/start/start.test.ts',
    'services/gateway/test/explain.test.ts',
    'services/gateway/test/batches.test.ts',
    'services/gateway/test/frameworks.test.ts',
    'services/gateway/test/fuzz.test.ts',
    'services/gateway/test/kept-content.test.ts',
    'services/gateway/test/keys-and-limits.test.ts',
    'services/gateway/test/lifetime.test.ts',
    'services/gateway/test/owned-objects.test.ts',
    'services/gateway/test/policy-matrix.test.ts',
    'services/gateway/test/probes-edges.test.ts',
    'services/gateway/test/requests.test.ts',
    'services/gateway/test/probes-routing.test.ts',
    'services/gateway/test/wrong-settings.test.ts',
  ],
  // Whether tests can pass that failed before; of all installations it takes an hour.
  'test:goes': ['node_modules/vitest/vitest.mjs', 'run'],
  // One file at a time: what is timed is the gateway, not how two attacks share a core.
  abuse: [
    'node_modules/vitest/vitest.mjs',
    'run',
    'services/gateway/test/abuse',
    'services/gateway/test/outbound.test.ts',
    'services/gateway/test/byte-identity.test.ts',
    'services/control-plane/test/hostile-input.test.ts',
    'services/control-plane/test/contract.test.ts',
    'services/gateway/test/large-bodies.test.ts',
    'services/gateway/src/guardrails/check-turns.test.ts',
    'services/gateway/src/guardrails/slow-partner.test.ts',
    '--no-file-parallelism',
  ],
  // One installation of four gateways at a time.
  // Batches of 50,000 lines while every process is killed in turn, and one of two replicas.
  'batches:prove': [
    'node_modules/vitest/vitest.mjs',
    'run',
    'services/gateway/test/batches.test.ts',
    '-t',
    'goes on after kill',
  ],
  limits: [
    'node_modules/vitest/vitest.mjs',
    'run',
    'services/gateway/test/exact',
    'services/gateway/src/limits/limit-store.model.test.ts',
    '--no-file-parallelism',
  ],
  // Other people's suites against MCP servers, directly and through gateways; writes docs/mcp-conformance.md.
  'mcp:conformance': [
    'node_modules/vitest/vitest.mjs',
    'run',
    'services/gateway/test/mcp/strangers.test.ts',
    '--no-file-parallelism',
  ],
  // What docs/mcp-proofs.md names, in its full size: replicas that die, users in parallel, limits, poisoned definitions, hosts.
  'mcp:proofs': [
    'node_modules/vitest/vitest.mjs',
    'run',
    'services/gateway/test/mcp',
    'services/gateway/test/agents',
    'services/gateway/src/mcp/user-tokens.test.ts',
    'services/control-plane/test/oauth/hostile.test.ts',
    'services/control-plane/src/tools/upstream-oauth/discover-authorization.test.ts',
    '-t',
    'proof \\d',
    '--no-file-parallelism',
  ],
  // Every part dies in turn under load, and streams break at every event.
  chaos: [
    'node_modules/vitest/vitest.mjs',
    'run',
    'services/gateway/test/chaos',
    'services/gateway/test/outages.test.ts',
    'services/data-service/test/outages.test.ts',
    'services/gateway/test/ledger.test.ts',
    'services/gateway/test/recovered-streams.test.ts',
    '--no-file-parallelism',
  ],
  // SIGTERM under hundreds of streams, and a rolling restart of two gateways under 200 requests a second.
  drain: [
    'node_modules/vitest/vitest.mjs',
    'run',
    'services/gateway/test/drained-streams.test.ts',
    '--no-file-parallelism',
  ],
  // Every question of analytics against the reference.
  'ledger:figures': [
    'node_modules/vitest/vitest.mjs',
    'run',
    'services/data-service/test/figures.test.ts',
  ],
  airgap: ['scripts/airgap.ts'],
  pods: ['scripts/pods.ts'],
  compose: ['scripts/compose.ts'],
  systemd: ['scripts/systemd.ts'],
  bundle: ['scripts/bundle.ts'],
  facts: ['scripts/facts.ts'],
  'mcp:hosts': ['scripts/mcp-hosts.ts'],
  times: ['scripts/times/main.ts'],
  check: ['scripts/check.ts'],
  bench: ['scripts/bench/main.ts'],
  soak: ['scripts/soak.ts'],
  scale: ['scripts/scale.ts'],
  build: ['scripts/build.ts'],
  images: ['scripts/images.ts'],
  chart: ['scripts/chart.ts'],
  'docs:browser': ['scripts/docs-browser.ts'],
  'realtime:browser': ['scripts/realtime-browser.ts'],
  format: ['scripts/format.ts'],
  generate: ['scripts/generate.ts'],
  'cache:measure': ['scripts/cache-measure.ts'],
  'translations:measure': ['scripts/translations-measure.ts'],
  'guardrails:measure': ['scripts/guardrails-measure.ts'],
  'batches:measure': ['scripts/batches-measure.ts'],
  'admin-key': ['scripts/admin-key.ts'],
  'audit:verify': ['scripts/audit-verify.ts'],
  'ledger:speed': ['scripts/ledger-speed.ts'],
  'ledger:verify': ['scripts/ledger-verify.ts'],
  migrate: ['scripts/migrate.ts'],
  'upgrade:rehearse': ['scripts/upgrade-rehearse.ts'],
  'backup:rehearse': ['scripts/backup-rehearse.ts'],
  alerts: ['scripts/alerts.ts'],
  prices: ['scripts/prices.ts'],
};

/** Tests leave nothing out (`packages/testkit/src/long-form.ts`). */
const longForm = { SLUICE_LONG_FORM: 'true' };

/** What a command wants to find in its environment. */
const environments = {
  'test:long': longForm,
  'test:goes': { SLUICE_FAILED_GOES: 'true' },
  abuse: longForm,
  chaos: longForm,
  drain: { SLUICE_DRAINED_STREAMS: '500' },
  'mcp:conformance': { ...longForm, SLUICE_MCP_CONFORMANCE: 'full' },
  'batches:prove': { SLUICE_BATCHES: 'full' },
  'mcp:proofs': { ...longForm, SLUICE_MCP_PROOFS: 'full' },
  limits: { ...longForm, LIMIT_STORE_RUNS: '300' },
  'ledger:figures': longForm,
};

const [name, ...args] = process.argv.slice(2);
const command = commands[name];
if (command === undefined) {
  process.stderr.write(
    `Usage: node scripts/run.mjs ${Object.keys(commands).join('|')} [arguments]\n`,
  );
  process.exit(2);
}
if (Number(process.versions.node.split('.')[0]) < 20) {
  process.stderr.write(
    `Sluice needs Node 20 or later to set itself up; this is ${process.version}.\n`,
  );
  process.exit(1);
}

// Whoever only asks what there is does not wait for an installation.
if (name === 'start' && args.some((arg) => arg === '--help' || arg === '-h')) {
  process.stdout.write(readFileSync(join(root, 'scripts/start/usage.txt')));
  process.exit(0);
}

await setUp();
// npm changes into the repository; a relative path means where the person stands.
const callerDir =
  process.env.npm_lifecycle_event === undefined ? process.cwd() : (process.env.INIT_CWD ?? root);
const [script, ...scriptArgs] = command;
const child = spawn(
  node24,
  ['--disable-warning=ExperimentalWarning', join(root, script), ...scriptArgs, ...args],
  // The channel tells the command when we are gone, also when we are killed.
  {
    cwd: root,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: {
      ...toolEnvironment(),
      ...noProxyForLoopback(),
      ...environments[name],
      SLUICE_CALLER_DIR: callerDir,
    },
  },
);
// At a terminal the child gets the signal too; a command takes repeated signals as one.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
// npm passes signals on (its scripts start with `exec`, so that no shell is between), but not its own violent end.
const parent = process.ppid;
const watch = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watch);
  child.kill('SIGTERM');
}, 500);
if (process.env.npm_lifecycle_event === undefined) clearInterval(watch);
child.once('exit', (code, signal) => {
  if (signal === null) process.exit(code ?? 1);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});

/** The parts speak to each other on this machine; a proxy for the outside world must not get between them. */
function noProxyForLoopback() {
  const given = process.env.no_proxy ?? process.env.NO_PROXY;
  const hosts = given ? `${given},127.0.0.1,localhost` : '127.0.0.1,localhost';
  return { no_proxy: hosts, NO_PROXY: hosts };
}
