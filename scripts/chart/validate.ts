import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KubernetesObject, root } from './render.ts';

/** Models of groups that are not Kubernetes' own. */
const packages: Readonly<Record<string, string>> = {
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
  'cert-manager.io': '@kubernetes-models/cert-manager',
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api',
};

const moduleOf = ({ apiVersion, kind }: KubernetesObject): string =>
  `${packages[apiVersion.split('/')[0] ?? ''] ?? 'kubernetes-models'}/${apiVersion}/${kind}`;

const nameOf = ({ kind, metadata }: KubernetesObject): string => `${kind} ${metadata.name}`;

/** What Kubernetes' schemas say against these objects: types, choices, what is required. */
export async function schemaFaults(objects: readonly KubernetesObject[]): Promise<string[]> {
  const faults: string[] = [];
  for (const object of objects)
    try {
      const models = (await import(moduleOf(object))) as Record<
        string,
        new (
          data: object,
        ) => { validate(): void }
      >;
      const Model = models[object.kind];
      if (Model === undefined) throw new Error(`there is no model of ${object.kind}`);
      new Model(object).validate();
    } catch (error) {
      faults.push(`${nameOf(object)}: ${(error as Error).message}`);
    }
  return faults;
}

/** Fields that Kubernetes does not know, found by the compiler: its types of the same schemas take no other. */
export function unknownFields(objects: readonly KubernetesObject[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'chart-types-'));
  try {
    symlinkSync(join(root, 'scripts/node_modules'), join(folder, 'node_modules'));
    const kinds = new Map(objects.map((object) => [moduleOf(object), object.kind]));
    const aliases = new Map([...kinds.keys()].map((name, at) => [name, `Kind${at}`]));
    const imports = [...kinds].map(
      ([name, kind]) => `import type { I${kind} as ${aliases.get(name)} } from '${name}';`,
    );
    const lines = objects.map(
      (object, at) =>
        `export const object${at}: ${aliases.get(moduleOf(object))} = ${JSON.stringify(object)};`,
    );
    writeFileSync(join(folder, 'objects.ts'), [...imports, ...lines].join('\n'));
    const flags = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--pretty',
      'false',
    ];
    const result = spawnSync(join(root, 'node_modules/.bin/tsc'), [...flags, 'objects.ts'], {
      cwd: folder,
      encoding: 'utf8',
    });
    if (result.status === 0) return [];
    return result.stdout
      .split('\n')
      .filter((line) => line.startsWith('objects.ts('))
      .map((line) => {
        const at = Number(/^objects\.ts\((\d+),/.exec(line)?.[1]) - 1 - imports.length;
        const object = objects[at];
        return `${object === undefined ? 'imports' : nameOf(object)}: ${line.slice(0, 400)}`;
      })
      .concat(result.stdout.includes('objects.ts(') ? [] : [result.stdout + result.stderr]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** All that is wrong with them. */
export async function faultsOf(objects: readonly KubernetesObject[]): Promise<string[]> {
  return [...(await schemaFaults(objects)), ...unknownFields(objects)];
}
