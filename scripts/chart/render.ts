import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { type HelmMajor, helm } from './helm.ts';

export const root = resolve(import.meta.dirname, '../..');
export const chartFolder = `${root}/deploy/chart/sluice`;

/** An object as Kubernetes takes it. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: each kind has its own, and what is read of it is checked by its validator
  readonly [field: string]: any;
}

/** Values for one rendering: files of deploy/values, and what `--values` would say besides. */
export interface ValueSet {
  readonly profiles?: readonly string[];
  readonly values?: object;
  /** Another than that of this checkout: a folder or an archive. */
  readonly chart?: string;
  /** More of the command line, before the values. */
  readonly flags?: readonly string[];
}

/** What Helm answers: the manifests, or the words in which it refuses. */
export interface Rendered {
  readonly ok: boolean;
  readonly text: string;
  readonly told: string;
}

/** `helm template`, as whoever installs runs it. */
export function render(
  { profiles = [], values, chart = chartFolder, flags = [] }: ValueSet,
  major: HelmMajor = 4,
): Rendered {
  const files = profiles.flatMap((name) => ['--values', `${root}/deploy/values/${name}.yaml`]);
  const own = values === undefined ? [] : ['--values', '-'];
  const result = spawnSync(
    helm(major),
    [
      'template',
      'sluice',
      chart,
      '--namespace',
      'ai',
      '--kube-version',
      '1.34.0',
      ...files,
      ...flags,
      ...own,
    ],
    {
      encoding: 'utf8',
      input: JSON.stringify(values ?? {}),
      maxBuffer: 64 * 1024 * 1024,
      timeout: 60_000,
    },
  );
  return { ok: result.status === 0, text: result.stdout, told: result.stderr };
}

/** @throws Error with what Helm says, when it refuses */
export function renderObjects(set: ValueSet, major: HelmMajor = 4): KubernetesObject[] {
  const { ok, text, told } = render(set, major);
  if (!ok) throw new Error(told);
  return objectsOf(text);
}

export function objectsOf(manifests: string): KubernetesObject[] {
  return parseAllDocuments(manifests)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null);
}
