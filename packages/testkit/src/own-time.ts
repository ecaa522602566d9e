/**
 * What some work takes of this thread's CPU, in ms of a machine of usual speed. Other processes are no part of it. That caches, cores
 * and memory are shared with them is: a host that has half its speed, or takes memory back all the time, would make a bound of 20 ms
 * one of 10 or of 4. So known work is done behind the measured one, and what that takes longer than usual is taken off.
 *
 *     const spentMs = ownTime();
 *     readJson(bytes);
 *     expect(spentMs()).toBeLessThan(250);
 */
export function ownTime(): () => number {
  const before = cpuMs();
  return () => asUsual(cpuMs() - before);
}

/** CPU of any process of this machine, just now, in ms of a machine of usual speed. */
export function asUsual(spentMs: number): number {
  return spentMs < shortMs ? spentMs : spentMs / slowness();
}

/** Below all bounds: it needs no closer look. */
const shortMs = 20;

/** What this thread has taken so far, ms. Linux tells it in steps of up to four. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

let known = { factor: 1, untilMs: 0 };
const knownMs = 500;

/**
 * How many times slower than usual this machine is now; at least 1. What counts, what copies, what makes small things and what meets
 * new pages of memory suffer by different factors: 1.5, 2.5 and 10 were seen at once, and 20 of pages. The worst of them is taken.
 */
export function slowness(): number {
  const nowMs = performance.now();
  if (nowMs < known.untilMs) return known.factor;
  const factor = Math.max(1, ...works.map(({ work, usualMs }) => msOf(work) / usualMs));
  known = { factor, untilMs: performance.now() + knownMs };
  return factor;
}

function msOf(work: () => number): number {
  const startedAt = cpuMs();
  work();
  return cpuMs() - startedAt;
}

/** What they take by themselves on two quiet cores of 2026, once compiled. */
const works = [
  { work: countThrough, usualMs: 7 },
  { work: copyJson, usualMs: 5 },
  { work: makeSmallThings, usualMs: 10 },
  { work: meetNewPages, usualMs: 6 },
];

const text = 'a'.repeat(4 * 1024 * 1024);

function countThrough(): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === 0x2e) count++;
  return count;
}

const json = JSON.stringify(Array.from({ length: 13_000 }, () => ({ role: 'user', content: 'a' })));

function copyJson(): number {
  const messages = JSON.parse(json) as { content: string }[];
  return JSON.stringify(messages.map((each) => ({ ...each, content: `${each.content}b` }))).length;
}

function makeSmallThings(): number {
  const things: object[] = [];
  for (let step = 0; step < 170_000; step++) things.push({ path: { step }, text });
  return things.length;
}

/** Of Node, and no part of its types. */
declare const WebAssembly: {
  Memory: new (pages: { initial: number; maximum: number }) => { buffer: ArrayBuffer };
};

/** 16 MiB that the process has not used before: memory of WebAssembly is the system's each time, and given back. */
function meetNewPages(): number {
  const pages = new Uint8Array(new WebAssembly.Memory({ initial: 256, maximum: 256 }).buffer);
  return pages.fill(1).length;
}
