import { readdirSync, readFileSync } from 'node:fs';

/** The kernel counts CPU in hundredths of a second, on every machine that Node runs on. */
const msPerTick = 10;

/** CPU in milliseconds, user and system, of a process. */
export interface ProcessCpu {
  /** Its own threads. */
  ownMs: number;
  /** All that it started: what runs, and what has ended. */
  startedMs: number;
}

/** Undefined where there is no `/proc`. */
export function cpuOfTree(pid: number): ProcessCpu | undefined {
  const processes = new Map<number, Stat>();
  try {
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      const stat = statOf(name);
      if (stat !== undefined) processes.set(Number(name), stat);
    }
  } catch {
    return undefined;
  }
  const root = processes.get(pid);
  if (root === undefined) return undefined;
  const children = Map.groupBy(processes.keys(), (each) => processes.get(each)?.parent);
  const living = (parent: number): number =>
    (children.get(parent) ?? []).reduce((sum, child) => {
      const { own, reaped } = processes.get(child) as Stat;
      return sum + own + reaped + living(child);
    }, 0);
  return { ownMs: root.own * msPerTick, startedMs: (root.reaped + living(pid)) * msPerTick };
}

interface Stat {
  parent: number;
  /** In ticks. */
  own: number;
  /** Of what it started and has waited for. */
  reaped: number;
}

function statOf(pid: string): Stat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    // It has ended since.
    return undefined;
  }
  // The second field is a name, which may hold blanks and brackets.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [parent = 0] = fields.slice(1);
  const [user = 0, system = 0, reapedUser = 0, reapedSystem = 0] = fields.slice(11);
  return { parent, own: user + system, reaped: reapedUser + reapedSystem };
}
