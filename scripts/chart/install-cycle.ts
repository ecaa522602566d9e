import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer } from './api-server.ts';
import { type HelmMajor, helm } from './helm.ts';
import { chartFolder } from './render.ts';
import { own } from './value-sets.ts';

/**
 * Installs, upgrades, tests, rolls back and uninstalls with the real Helm,
 * against the stand-in API server.
 * @returns what was seen, a line a step
 * @throws Error with Helm's words, or what is there and should not be
 */
export async function installCycle(major: HelmMajor): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'chart-cycle-'));
  const api = await startApiServer();
  const kubeconfig = join(folder, 'kubeconfig');
  const cluster = { clusters: [{ name: 'c', cluster: { server: api.url } }] };
  const context = { contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }] };
  const rest = { users: [{ name: 'u', user: {} }], 'current-context': 'c' };
  writeFileSync(
    kubeconfig,
    JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...cluster, ...context, ...rest }),
  );
  const run = (...args: string[]) =>
    runHelm(major, ['--kubeconfig', kubeconfig, '--namespace', 'ai', ...args], folder);
  const valuesFile = join(folder, 'values.json');
  writeFileSync(valuesFile, JSON.stringify(own));
  // The server has no schemas to give away: it looks at what it gets itself.
  const values = ['--values', valuesFile, '--disable-openapi-validation'];
  const steps: string[] = [];
  const count = (kind: string, component?: string) =>
    api
      .objects()
      .filter(
        (object) =>
          object.kind === kind &&
          (component === undefined || object.metadata.name.endsWith(component)),
      ).length;
  const expect = (what: string, holds: boolean) => {
    if (!holds) {
      const there = api.objects().map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      throw new Error(`Helm ${major}: ${what} does not hold. There are ${there.join(', ')}.`);
    }
    steps.push(what);
  };
  try {
    await run(
      'install',
      'sluice',
      previousChart(folder),
      ...values,
      '--create-namespace',
      '--timeout',
      '60s',
    );
    expect(
      'the previous chart is installed: three workloads',
      count('StatefulSet') === 1 && count('Deployment') === 2,
    );
    expect('hooks left nothing behind', count('Job') === 0 && count('Role', '-provision') === 0);
    await run(
      'upgrade',
      'sluice',
      chartFolder,
      ...values,
      '--set',
      'gateway.persistence.enabled=false',
      '--timeout',
      '60s',
    );
    expect(
      'it is upgraded: gateways are a Deployment now',
      count('StatefulSet') === 0 && count('Deployment') === 3,
    );
    await run('test', 'sluice', '--timeout', '60s');
    steps.push('its test passes');
    await run('rollback', 'sluice', '1', '--timeout', '60s');
    expect(
      'it is rolled back: a StatefulSet again',
      count('StatefulSet') === 1 && count('Deployment') === 2,
    );
    const history = await run('history', 'sluice', '--output', 'json');
    expect('there are three revisions', (JSON.parse(history) as unknown[]).length === 3);
    await run('uninstall', 'sluice', '--timeout', '60s');
    const left = api.objects().filter(({ kind }) => kind !== 'Namespace');
    expect('nothing is left of it', left.length === 0);
    return steps;
  } finally {
    await api.close();
    rmSync(folder, { recursive: true });
  }
}

/** This chart under an earlier number, until there is a release before this one. */
function previousChart(folder: string): string {
  const copy = join(folder, 'previous');
  cpSync(chartFolder, copy, { recursive: true });
  const file = join(copy, 'Chart.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^version: .*$/m, 'version: 0.0.1'));
  return copy;
}

function runHelm(major: HelmMajor, args: readonly string[], home: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH, HOME: home };
    const child = spawn(helm(major), args, { env, timeout: 120_000 });
    let [out, told] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
    child.once('close', (code) =>
      code === 0
        ? resolve(out)
        : reject(new Error(`helm ${args.slice(4).join(' ')}: ${told}${out}`)),
    );
  });
}
