import { readFileSync } from 'node:fs';

/** How long the main thread of a process, which has its event loop, ran since its start. Linux only. */
export function ranMs(pid: number): number {
  const [ranNs] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(ranNs) / 1e6;
}

/**
 * The longest that this thread worked between two turns of its timers: what a
 * request waits for here at most, whatever else the machine has to do.
 */
export function watchLongestWork(): { stop(): number } {
  let longestMs = 0;
  let last = process.threadCpuUsage();
  const look = () => {
    const { user, system } = process.threadCpuUsage(last);
    last = process.threadCpuUsage();
    longestMs = Math.max(longestMs, (user + system) / 1_000);
  };
  const timer = setInterval(look, 1);
  return {
    stop() {
      look();
      clearInterval(timer);
      return longestMs;
    },
  };
}
