import {
  type ChildProcess,
  execFile,
  execFileSync,
  type StdioOptions,
  spawn,
  spawnSync,
} from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { root } from '../chart/render.ts';
import type { ImageList } from '../images/make-images.ts';

/** What is read of a container's state. */
export interface Container {
  Name: string;
  IsInfra: boolean;
  RestartCount: number;
  EffectiveCaps: string[] | null;
  State: { Status: string; ExitCode: number; Pid: number };
  Config: { User: string };
  HostConfig: { ReadonlyRootfs: boolean; Privileged: boolean };
}

/** Podman with images and containers of its own in the folder; within `inOwnNetwork`. */
export function openPodman(folder: string) {
  const own = ['--root', join(folder, 'storage'), '--runroot', '/run/pods'];
  const storage = [...own, '--storage-driver', 'overlay'];
  // It leaves a file where it stands when memory ran out.
  const how = { cwd: folder, timeout: 120_000, maxBuffer: 64 * 1024 * 1024 };
  function podman(...args: string[]): string {
    const stdio: StdioOptions = ['ignore', 'pipe', 'pipe'];
    return execFileSync('podman', [...storage, ...args], { ...how, encoding: 'utf8', stdio });
  }
  /** What a container wrote to either stream. */
  function logs(name: string): string {
    const said = spawnSync('podman', [...storage, 'logs', name], { ...how, encoding: 'utf8' });
    return said.stdout + said.stderr;
  }
  /** The same beside other work; resolves with what it wrote to either stream. */
  async function run(...args: string[]): Promise<{ stdout: string; stderr: string }> {
    return promisify(execFile)('podman', [...storage, ...args], how);
  }
  /** The same in the network namespace of that name: for pods of the host's network it is theirs. */
  async function runIn(network: string, ...args: string[]): Promise<void> {
    const command = [`--net=/run/netns/${network}`, 'podman', ...storage, ...args];
    await promisify(execFile)('nsenter', command, how);
  }
  function containers(): Container[] {
    const ids = podman('ps', '--all', '--quiet', '--no-trunc').split('\n').filter(Boolean);
    if (ids.length === 0) return [];
    const all = JSON.parse(podman('inspect', '--type', 'container', ...ids)) as Container[];
    return all.filter(({ IsInfra }) => !IsInfra);
  }
  return { podman, run, runIn, containers, logs };
}

/** Those of `npm run images`; returns how many. */
export function loadImages(podman: (...args: string[]) => string): number {
  const { images } = JSON.parse(
    readFileSync(join(root, 'dist/images/images.json'), 'utf8'),
  ) as ImageList;
  for (const { service } of images)
    podman('load', '--quiet', '--input', join(root, `dist/images/${service}.oci.tar`));
  return images.length;
}

/** Says what a container may more than a hardened cluster lets it, one line a container. */
export function allowedTooMuch(containers: readonly Container[]): string[] {
  return containers.flatMap(({ EffectiveCaps, Config, HostConfig, Name }) => {
    const holds =
      (EffectiveCaps ?? []).length === 0 &&
      HostConfig.ReadonlyRootfs &&
      !HostConfig.Privileged &&
      /^[1-9]\d*(:|$)/.test(Config.User);
    const found = { EffectiveCaps, Config: Config.User, ...HostConfig };
    return holds ? [] : [`${Name}: ${JSON.stringify(found)}`];
  });
}

/** Postgres, ClickHouse's interface over chDB, Redis and NATS, and how they are reached, as settings of the services. */
export async function startStores(): Promise<{
  child: ChildProcess;
  settings: Record<string, string>;
}> {
  const program = [
    '--disable-warning=ExperimentalWarning',
    'services/data-service/test/stores-main.ts',
  ];
  const child = spawn(process.execPath, program, { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const [line] = await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error('The stores did not start.'))),
  ]);
  return { child, settings: JSON.parse(line) };
}
