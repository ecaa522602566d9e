import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import {
  baseEnvironment,
  createInstallation,
  createSecrets,
  freePorts,
  type ManagedProcess,
  type SluiceCredentials,
  serviceEnvironments,
  serviceProcesses,
  startProcess,
} from '@sluice/stack';
import { type AdminCall, adminCaller } from '../bench/admin-call.ts';
import { usageOf } from '../bench/process-usage.ts';
import { changeMeanwhile, fillDatabase } from './fill-database.ts';
import type { CountedWatcher, WatcherPlan } from './watch-job.ts';
import { startWatcherProcess, type WatcherProcess } from './watcher-process.ts';

export interface ScaleOptions {
  /** Of an empty database. */
  databaseUrl: string;
  /** The control plane as one file, as users run it. */
  controlPlane: string;
  watchers: number;
  /** Processes that the watchers share. */
  processes: number;
  workspaces: number;
  /** In the database; of them each watcher holds as many as fall to it. */
  keys: number;
  /** Workspaces that each watcher holds. */
  workspacesEach: number;
  /** Workspaces that change while the control plane is away, and a key of each. */
  changed: number;
  onStep?: (sentence: string) => void;
}

export interface ScaleFigures {
  /** From the command to start until the control plane is ready. */
  startedMs: number;
  /** From the same moment until the last watcher is fresh; infinite when one was not. */
  freshMs: number;
  /** From when the control plane was ready. */
  freshAfterReadyMs: number;
  /** Of the control plane, over its second life. */
  peakRssMb: number;
  cpuMsUntilFresh: number;
  adminCalls: number;
  adminP95Ms: number;
  adminMaxMs: number;
  /** What all watchers asked for until they were fresh, and how often what they hold was told to have changed, at most. */
  bundlesAsked: number;
  bundlesChanged: number;
  keysAsked: number;
  keysChanged: number;
  keyListsAsked: number;
  /** Of keys, by all watchers: more than there are watchers, and some were told a second time of what changed within the last minute. */
  comparisons: number;
  /** Of all questions, those that were not answered in time, and asked again. */
  unanswered: number;
  /** Of one change of one workspace, when all is quiet. */
  holders: number;
  /** Bytes a watcher that holds it was told, the most. */
  holderBytesMax: number;
  /** The same of all that do not hold it, together. */
  othersBytes: number;
  /** What those asked for. */
  othersAsked: number;
  changeMs: number;
}

const freshTimeoutMs = 120_000;
/** Between two calls of the admin API; each takes a turn in another workspace. */
const adminEveryMs = 100;
/** After which what was told has been heard and asked for. */
const quietMs = 1_500;

/**
 * One control plane with many followers: fills a database, opens the watchers,
 * kills the control plane, changes something meanwhile, starts it again, and
 * watches who becomes fresh when and what that costs.
 */
export async function measureScale(options: ScaleOptions): Promise<ScaleFigures> {
  const step = options.onStep ?? (() => {});
  const ports = await freePorts();
  const secrets = createSecrets();
  const { databaseUrl } = options;
  const { controlPlane } = serviceEnvironments({ dataDir: '', ports, secrets, databaseUrl });
  const env = { ...baseEnvironment(), ...controlPlane };
  const installed = await createInstallation(env);
  if (installed === undefined) throw new Error('the database was not empty');
  const started = performance.now();
  const workspaceIds = await fillDatabase(databaseUrl, {
    organisationId: installed.organisation_id,
    workspaces: options.workspaces,
    keys: options.keys,
  });
  step(`the database was filled in ${seconds(performance.now() - started)}`);
  const spec = {
    name: 'control-plane',
    entry: options.controlPlane,
    nodeFlags: serviceProcesses['control-plane'].nodeFlags,
    env: { ...serviceProcesses['control-plane'].env, ...env },
  };
  let service = await startProcess(spec);
  const processes: WatcherProcess[] = [];
  try {
    for (let count = 0; count < options.processes; count += 1)
      processes.push(await startWatcherProcess());
    const plans = plansOf(options, workspaceIds);
    const openedFrom = performance.now();
    await Promise.all(
      processes.map((each, index) =>
        each.perform<'open'>({
          kind: 'open',
          databaseUrl,
          address: `127.0.0.1:${ports.controlPlaneGrpc}`,
          token: secrets.service_token,
          watchers: plans.filter(({ number }) => number % processes.length === index),
        }),
      ),
    );
    step(`${plans.length} watchers were opened in ${seconds(performance.now() - openedFrom)}`);

    await forget(processes);
    await service.kill();
    const changed = workspaceIds.slice(0, options.changed);
    const missed = await changeMeanwhile(databaseUrl, changed);
    const since = Date.now();
    service = await startProcess(spec);
    const readyAt = Date.now();
    step(`the control plane was killed, and started in ${seconds(readyAt - since)}`);
    const calls = callAdmin(ports.controlPlane, installed, workspaceIds);
    const freshness = await Promise.all(
      processes.map((each) =>
        each.perform<'awaitFresh'>({
          kind: 'awaitFresh',
          since,
          missed,
          timeoutMs: freshTimeoutMs,
        }),
      ),
    );
    const { cpuMs: cpuMsUntilFresh } = usageOf(service.pid);
    const freshAt = freshness.flatMap((each) => each.freshAt);
    const lastAt = freshAt.includes(null)
      ? Number.POSITIVE_INFINITY
      : Math.max(...freshAt.map(Number));
    // The calls go on for as long as a short run needs to have enough of them.
    await delay(2_000);
    const admin = await calls.stop();
    const asked = await count(processes, workspaceIds[0] ?? '');
    step(`all were fresh after ${seconds(lastAt - since)}`);

    const one = await measureOneChange(processes, ports.controlPlane, installed, workspaceIds);
    const holdersOf = (id: string) => plans.filter((plan) => plan.workspaceIds.includes(id)).length;
    const changedHeld = sum(changed.map(holdersOf));
    return {
      startedMs: readyAt - since,
      freshMs: lastAt - since,
      freshAfterReadyMs: lastAt - readyAt,
      peakRssMb: peakRssMbOf(service),
      cpuMsUntilFresh,
      adminCalls: admin.tookMs.length,
      adminP95Ms: quantile(admin.tookMs, 0.95),
      adminMaxMs: Math.max(...admin.tookMs),
      bundlesAsked: sum(asked.map((each) => each.bundles)),
      // A change in the moment in which a watcher compares is told with it, and by itself.
      bundlesChanged: changedHeld + 2 * sum(admin.changed.map(holdersOf)),
      keysAsked: sum(asked.map((each) => each.keys)),
      keysChanged: changedHeld,
      keyListsAsked: sum(asked.map((each) => each.keyLists)),
      comparisons: sum(asked.map((each) => each.comparisons)),
      unanswered: sum(asked.map((each) => each.unanswered)),
      ...one,
    };
  } finally {
    await Promise.all(processes.map((each) => each.stop()));
    await service.stop();
  }
}

/** Neighbours hold mostly the same: each workspace is held by many, and none by all. */
function plansOf(options: ScaleOptions, workspaceIds: readonly string[]): WatcherPlan[] {
  const { watchers, workspaces, workspacesEach, keys } = options;
  const apart = workspaces / watchers;
  return Array.from({ length: watchers }, (_, number) => ({
    number,
    workspaceIds: Array.from(
      { length: workspacesEach },
      (_, index) => workspaceIds[(Math.floor(number * apart) + index) % workspaces] ?? '',
    ),
    keysEach: Math.ceil(keys / watchers / workspacesEach),
  }));
}

/** Reads and changes, until it is stopped: how long each took, and what changed. */
function callAdmin(
  port: number,
  { admin_key: adminKey }: Installed,
  workspaceIds: readonly string[],
) {
  const call = adminCaller({ baseUrl: `http://127.0.0.1:${port}/v1`, adminKey });
  const stopped = new AbortController();
  const tookMs: number[] = [];
  const changed: string[] = [];
  const one = async (turn: number) => {
    const workspaceId = turnOf(workspaceIds, turn);
    const perform = adminCalls[turn % adminCalls.length];
    const startedAt = performance.now();
    if (perform === createConfig) changed.push(workspaceId);
    try {
      await perform?.(call, workspaceId);
      tookMs.push(performance.now() - startedAt);
    } catch {
      // A call that is refused has taken too long, however soon that was.
      tookMs.push(Number.POSITIVE_INFINITY);
    }
  };
  const running = (async () => {
    const all: Promise<void>[] = [];
    for (let turn = 0; !stopped.signal.aborted; turn += 1) {
      // By the clock: calls that wait do not keep others from coming.
      all.push(one(turn));
      await delay(adminEveryMs);
    }
    await Promise.all(all);
  })();
  return {
    async stop() {
      stopped.abort();
      await running;
      return { tookMs, changed };
    },
  };
}

type Installed = Omit<SluiceCredentials, 'base_url'>;

const adminCalls: readonly ((call: AdminCall, workspaceId: string) => Promise<unknown>)[] = [
  (call, id) => call('GET', `/configs?workspace_id=${id}`),
  (call, id) => call('GET', `/api-keys?workspace_id=${id}&page_size=50`),
  (call) => call('GET', '/admin/workspaces?page_size=50'),
  createConfig,
];

/** From the end: those at the beginning are what changed meanwhile. */
function turnOf(workspaceIds: readonly string[], turn: number): string {
  return workspaceIds.at(-1 - (turn % workspaceIds.length)) ?? '';
}

function createConfig(call: AdminCall, workspaceId: string): Promise<unknown> {
  return call('POST', '/configs?allow_missing=true', {
    name: 'While others come back',
    workspace_id: workspaceId,
    config: { provider: '@demo' },
  });
}

async function measureOneChange(
  processes: readonly WatcherProcess[],
  port: number,
  { admin_key: adminKey }: Installed,
  workspaceIds: readonly string[],
) {
  await delay(quietMs);
  await forget(processes);
  const call = adminCaller({ baseUrl: `http://127.0.0.1:${port}/v1`, adminKey });
  const workspaceId = workspaceIds[0] ?? '';
  const startedAt = performance.now();
  await createConfig(call, workspaceId);
  const changeMs = performance.now() - startedAt;
  await delay(quietMs);
  const counted = await count(processes, workspaceId);
  const holders = counted.filter((each) => each.holds);
  const others = counted.filter((each) => !each.holds);
  return {
    holders: holders.filter((each) => each.toldBytes > 0 && each.bundles > 0).length,
    holderBytesMax: Math.max(...holders.map((each) => each.toldBytes)),
    othersBytes: sum(others.map((each) => each.toldBytes)),
    othersAsked: sum(others.map(({ bundles, keys, keyLists }) => bundles + keys + keyLists)),
    changeMs,
  };
}

async function forget(processes: readonly WatcherProcess[]): Promise<void> {
  await Promise.all(
    processes.map((each) => each.perform<'forgetCounts'>({ kind: 'forgetCounts' })),
  );
}

async function count(
  processes: readonly WatcherProcess[],
  workspaceId: string,
): Promise<CountedWatcher[]> {
  const counted = await Promise.all(
    processes.map((each) => each.perform<'count'>({ kind: 'count', workspaceId })),
  );
  return counted.flat();
}

/** Linux only, as `process-usage.ts`. */
function peakRssMbOf(process: ManagedProcess): number {
  const line = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${process.pid}/status`, 'utf8'));
  return Number(line?.[1] ?? Number.NaN) / 1024;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, each) => total + each, 0);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
