import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** CPU time and memory of a process and all below it, from /proc (Linux only). */
export interface ProcessUsage {
  cpuMs: number;
  /** Of the thread that serves, alone. */
  loopMs: number;
  rssMb: number;
}

const msPerTick = 1000 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

export function usageOf(rootPid: number): ProcessUsage {
  let cpuMs = 0;
  let rssMb = 0;
  const loop = statOf(rootPid, `/proc/${rootPid}/task/${rootPid}/stat`);
  for (const pid of processTree(rootPid)) {
    const stat = statOf(pid);
    if (stat === undefined) continue;
    // utime and stime are fields 14 and 15; `stat` begins with field 3.
    cpuMs += cpuMsOf(stat);
    rssMb += residentMb(pid);
  }
  return { cpuMs, loopMs: loop === undefined ? 0 : cpuMsOf(loop), rssMb };
}

function cpuMsOf(stat: readonly string[]): number {
  return (Number(stat[11]) + Number(stat[12])) * msPerTick;
}

/** The process and its descendants, parents first. */
export function processTree(rootPid: number): number[] {
  const parentOf = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const stat = Number.isInteger(pid) ? statOf(pid) : undefined;
    if (stat !== undefined) parentOf.set(pid, Number(stat[1]));
  }
  const tree = [rootPid];
  for (const pid of tree)
    for (const [child, parent] of parentOf) if (parent === pid) tree.push(child);
  return tree;
}

/** Fields 3 and up of /proc/<pid>/stat; the second, the name, may contain anything. */
function statOf(pid: number, file = `/proc/${pid}/stat`): string[] | undefined {
  try {
    const text = readFileSync(file, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined; // The process ended between listing and reading.
  }
}

function residentMb(pid: number): number {
  try {
    const line = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Number(line?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
