import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeDataDir, notUsable } from './data-dir.ts';
import { processStartTime } from './process-start-time.ts';

/** `run.json`: who runs on this data directory. It is the lock and the list of processes. */
interface RunFile {
  launcher: ProcessId;
  gateway_port: number;
  parts: Record<string, ProcessId>;
}

/** A pid alone may belong to somebody else by now. */
interface ProcessId {
  pid: number;
  started: string | null;
}

export class AlreadyRunningError extends Error {}

export interface Run {
  /** Notes the process that now is the part. */
  note(part: string, pid: number): void;
  /** Frees the data directory. */
  end(): void;
}

/** Parts of a killed launcher stop by themselves; this is how long they may take. */
const orphansMs = 20_000;

/**
 * Claims the data directory. Waits for what a killed launcher left behind.
 * @throws AlreadyRunningError while another launcher runs on it; DataDirError when it cannot be written.
 */
export async function beginRun(
  path: string,
  gatewayPort: number,
  say: (line: string) => void,
): Promise<Run> {
  const content: RunFile = {
    launcher: processId(process.pid),
    gateway_port: gatewayPort,
    parts: {},
  };
  makeDataDir(dirname(path));
  for (;;) {
    try {
      writeFileSync(path, JSON.stringify(content), { flag: 'wx' });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw notUsable(dirname(path), error);
    }
    const left = readRunFile(path);
    if (left !== undefined && isRunning(left.launcher))
      throw new AlreadyRunningError(
        `Sluice runs on this data already (process ${left.launcher.pid}, gateway on port ${left.gateway_port}). Stop it first, or use --data and --port for a second one.`,
      );
    await endOrphans(left, say);
    rmSync(path, { force: true });
  }
  return {
    note(part, pid) {
      content.parts[part] = processId(pid);
      writeFileSync(`${path}.new`, `${JSON.stringify(content, null, 2)}\n`);
      renameSync(`${path}.new`, path);
    },
    end: () => rmSync(path, { force: true }),
  };
}

/** The gateway's port of whoever runs on the data directory. */
export function runningGatewayPort(path: string): number | undefined {
  const run = readRunFile(path);
  return run !== undefined && isRunning(run.launcher) ? run.gateway_port : undefined;
}

async function endOrphans(left: RunFile | undefined, say: (line: string) => void): Promise<void> {
  const orphans = Object.values(left?.parts ?? {});
  if (!orphans.some(isRunning)) return;
  say('The last run was killed; waiting for its processes to end.');
  const deadline = Date.now() + orphansMs;
  while (orphans.some(isRunning) && Date.now() < deadline) await delay(50);
  for (const orphan of orphans) if (isRunning(orphan)) process.kill(orphan.pid, 'SIGKILL');
}

function readRunFile(path: string): RunFile | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as RunFile;
  } catch {
    // Gone, or cut short by a crash: nobody to ask.
    return undefined;
  }
}

function processId(pid: number): ProcessId {
  return { pid, started: processStartTime(pid) ?? null };
}

function isRunning({ pid, started }: ProcessId): boolean {
  const now = processStartTime(pid);
  return now !== undefined && now === started;
}
