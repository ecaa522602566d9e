/**
 * `npm run chart`: all that can be checked of deploy/chart without a cluster.
 * Lints and renders it under Helm 3 and 4 with every profile and each set of
 * values, holds every object to Kubernetes' schemas, and installs, upgrades,
 * rolls back and uninstalls with the real Helm. Fetches Helm 3 at the first run.
 * Its NetworkPolicies are enforced with nft and every pair is tried, which needs
 * root; `npm run chart -- --without-network` leaves that out.
 * `npm run chart -- --write` writes the picture of who speaks to whom.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { helm } from './chart/helm.ts';
import { installCycle } from './chart/install-cycle.ts';
import { assertNetworks, installations, tryNetwork } from './chart/network-enforced.ts';
import { flowsPicture } from './chart/network-table.ts';
import { chartFolder, objectsOf, render, root } from './chart/render.ts';
import { faultsOf } from './chart/validate.ts';
import { own, profiles, refusals, valueSets } from './chart/value-sets.ts';

const { values: flags } = parseArgs({
  options: { write: { type: 'boolean' }, 'without-network': { type: 'boolean' } },
});
const majors = [3, 4] as const;
let failed = false;

function report(what: string, faults: readonly string[]): void {
  process.stdout.write(`${faults.length === 0 ? 'ok  ' : 'FAIL'}  ${what}\n`);
  for (const fault of faults) process.stdout.write(`      ${fault}\n`);
  failed ||= faults.length > 0;
}

if (flags.write === true) {
  const page = `${root}/docs/deploy/kubernetes.md`;
  const picture = /```mermaid\n[\s\S]*?```\n/;
  writeFileSync(
    page,
    readFileSync(page, 'utf8').replace(picture, () => flowsPicture()),
  );
} else await check();
process.exitCode = failed ? 1 : 0;

async function check(): Promise<void> {
  for (const major of majors) {
    const lint = spawnSync(helm(major), ['lint', '--strict', chartFolder, '--values', '-'], {
      encoding: 'utf8',
      input: JSON.stringify(own),
    });
    report(`helm ${major} lint --strict`, lint.status === 0 ? [] : [lint.stdout + lint.stderr]);
  }
  const sets = { ...profiles, ...valueSets };
  const objects = [];
  const differing: string[] = [];
  for (const [name, set] of Object.entries(sets)) {
    const [three, four] = majors.map((major) => render(set, major));
    if (three?.ok !== true || four?.ok !== true)
      differing.push(`${name}: ${three?.told}${four?.told}`);
    else if (three.text !== four.text) differing.push(`${name}: Helm 3 and 4 differ`);
    else objects.push(...objectsOf(four.text));
  }
  const counts = `${Object.keys(profiles).length} profiles, ${Object.keys(valueSets).length} sets of values`;
  report(`${counts}: the same bytes of Helm 3 and 4`, differing);
  report(
    `${objects.length} objects are Kubernetes' own, no field unknown`,
    await faultsOf(objects),
  );
  const taken = Object.entries(refusals).flatMap(([name, [values, sentence]]) =>
    majors
      .map((major) => render({ values }, major))
      .filter(({ ok, told }) => ok || !told.includes(sentence))
      .map(({ told }) => `${name}: ${told}`),
  );
  report(`${Object.keys(refusals).length} wrong values are refused with a sentence`, taken);
  for (const major of majors)
    try {
      const steps = await installCycle(major);
      report(`helm ${major}: ${steps.join('; ')}`, []);
    } catch (error) {
      report(`helm ${major}: install, upgrade, test, roll back, uninstall`, [
        (error as Error).message,
      ]);
    }
  if (flags['without-network'] === true)
    process.stdout.write('left out  NetworkPolicies enforced: --without-network\n');
  else await checkNetworks();
}

async function checkNetworks(): Promise<void> {
  const what = 'NetworkPolicies enforced';
  try {
    assertNetworks();
    for (const [name, installation] of Object.entries(installations)) {
      const { tried, allowed, refused, faults } = await tryNetwork(installation);
      const figures = `${tried} pairs and ports tried, ${allowed} let through, ${refused} refused`;
      report(`${what}, ${name}: ${figures}`, faults);
    }
  } catch (error) {
    report(what, [(error as Error).message]);
  }
}
