/**
 * `npm run soak`: an hour of 500 requests a second with streams among them, and
 * what the gateway holds meanwhile. With `--tools` sessions of MCP that are begun, used and left in place of requests to models. Ends with 1 when its memory, handles, timers
 * or listeners grow. docs/benchmarks.md says how it is judged.
 */
import { parseArgs } from 'node:util';
import { findCores } from './bench/cores.ts';
import { startPart } from './bench/parts.ts';
import { startWholeSluice } from './bench/sluice.ts';
import { type Sample, soak } from './soak/soak.ts';
import { verdictOf } from './soak/verdict.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    'settle-minutes': { type: 'string', default: '10' },
    rate: { type: 'string', default: '500' },
    tools: { type: 'boolean', default: false },
  },
});
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => interrupted.abort());

const cores = findCores();
const upstream = await startPart('upstream.ts', ['0'], cores?.rest);
const upstreamOrigin = `http://127.0.0.1:${upstream.port}`;
const sluice = await startWholeSluice(
  { upstreamOrigin, core: cores?.measured, signal: interrupted.signal },
  cores?.rest,
);
try {
  const samples = await soak({
    gateway: sluice,
    minutes: Number(values.minutes),
    requestsPerSecond: Number(values.rate),
    tools: values.tools ? (await sluice.openTools?.())?.mcp : undefined,
    core: cores?.rest,
    signal: interrupted.signal,
    onSample: (sample) => process.stdout.write(`${lineOf(sample)}\n`),
  });
  const { faults, sentence } = verdictOf(samples, Number(values['settle-minutes']) * 60);
  process.stdout.write(`${sentence}\n`);
  for (const fault of faults) process.stdout.write(`GROWS: ${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  await sluice.stop();
  await upstream.stop();
}

function lineOf({ atS, rssMb, heapMb, handles, requests, p99Ms, resources, warnings }: Sample) {
  const kinds = Object.entries(resources)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', ');
  return `${(atS / 60).toFixed(1).padStart(5)} min  RSS ${rssMb.toFixed(0)} MB  heap ${heapMb.toFixed(0)} MB  handles ${handles}  requests ${requests}  p99 ${p99Ms.toFixed(1)} ms  ${kinds}  warnings ${warnings}`;
}
