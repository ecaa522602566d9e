import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { findCores } from './cores.ts';
import { type Figure, isMet, ratioOf, renderTable, selfCheckText } from './figure.ts';
import { type Flags, type MeasurementName, parseFlags, usage } from './flags.ts';
import { measureAdminLists } from './measure/admin-lists.ts';
import { measureBatches } from './measure/batches.ts';
import { measureBodies } from './measure/bodies.ts';
import { measureColdStart } from './measure/cold-start.ts';
import { measureStreamCpu, measureTranslatedCpu, measureUnaryCpu } from './measure/cpu.ts';
import { measureGuardrails } from './measure/guardrails.ts';
import { measureHeldStreams } from './measure/held-streams.ts';
import { measureFirstByte, measureLatency } from './measure/latency.ts';
import { measureLimits } from './measure/limits.ts';
import { measureIdleMemory, measureLoadedMemory } from './measure/memory.ts';
import { measureOpenStreams } from './measure/open-streams.ts';
import { measureOperations } from './measure/operations.ts';
import { measureRealtime } from './measure/realtime.ts';
import { measureRouting } from './measure/routing.ts';
import { measureSaturation } from './measure/saturation.ts';
import { measureSemanticCache } from './measure/semantic-cache.ts';
import { measureStreams } from './measure/streams.ts';
import { measureAgents, measureMcp } from './measure/tools.ts';
import { startPart } from './parts.ts';
import { type Subject, secondBareProxy, startBareProxy, startCommand } from './subject.ts';
import { type Workbench, warmUp } from './workbench.ts';

/**
 * `npm run bench`: what the gateway costs beside a bare Node proxy measured in
 * the same run. docs/benchmarks.md says what each figure means.
 */
const stops: (() => Promise<void>)[] = [];
const interrupted = new AbortController();

async function openBench(flags: Flags): Promise<Workbench> {
  const cores = findCores();
  if (cores === undefined)
    console.error('No second core or no taskset: nothing is pinned, and figures will vary.');
  const upstream = await keep(startPart('upstream.ts', [String(flags.upstreamPort)], cores?.rest));
  const load = await keep(startPart('load.ts', [], cores?.rest));
  const upstreamOrigin = `http://127.0.0.1:${upstream.port}`;
  const place = { upstreamOrigin, core: cores?.measured, signal: interrupted.signal };
  const subjects: Subject[] = [await keep(startBareProxy('bare proxy', place))];
  if (flags.selfCheck) subjects.push(await keep(startBareProxy(secondBareProxy, place)));
  if (!flags.withoutSluice) {
    // Loaded only when needed, so that another gateway can be measured without a stack.
    const { startWholeSluice } = await import('./sluice.ts');
    subjects.push(await keep(startWholeSluice(place, cores?.rest)));
  }
  if (flags.other !== undefined) subjects.push(await keep(startCommand(flags.other, place)));
  return {
    subjects,
    load,
    upstreamUrl: `${upstreamOrigin}/v1/chat/completions`,
    quick: flags.quick,
    openStreams: flags.openStreams,
  };
}

async function keep<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> {
  const started = await starting;
  stops.unshift(() => started.stop());
  return started;
}

/** Adds to `figures` as it goes. */
async function measureAll(
  bench: Workbench,
  only: ReadonlySet<MeasurementName>,
  figures: Figure[],
): Promise<void> {
  const measure = async (
    name: MeasurementName,
    run: () => Figure[] | Promise<Figure[]>,
  ): Promise<void> => {
    if (!only.has(name)) return;
    console.error(`measuring ${name} …`);
    figures.push(...(await run()));
  };
  // Fresh processes first: memory before the first load, and cold starts before anything is warm.
  await measure('cold', () => measureColdStart(bench));
  await measure('rss', () => measureIdleMemory(bench));
  await warmUp(bench, only.has('stream') || only.has('ttfb'));
  await measure('unary', () => measureUnaryCpu(bench));
  await measure('stream', () => measureStreamCpu(bench));
  await measure('translated', () => measureTranslatedCpu(bench));
  await measure('saturation', () => measureSaturation(bench));
  await measure('latency', () => measureLatency(bench));
  await measure('ttfb', () => measureFirstByte(bench));
  await measure('rss', () => measureLoadedMemory(bench));
  await measure('open', () => measureOpenStreams(bench));
  await measure('streams', () => measureStreams(bench));
  await measure('admin', () => measureAdminLists(bench));
  await measure('operations', () => measureOperations(bench));
  await measure('limits', () => measureLimits(bench));
  await measure('bodies', () => measureBodies(bench));
  await measure('guardrails', () => measureGuardrails(bench));
  await measure('held', () => measureHeldStreams(bench));
  await measure('mcp', () => measureMcp(bench));
  await measure('a2a', () => measureAgents(bench));
  await measure('realtime', () => measureRealtime(bench));
  // Last: 100,000 configs stay in the gateway's memory.
  await measure('routing', () => measureRouting(bench));
  await measure('semantic', measureSemanticCache);
  await measure('batches', () => measureBatches(bench));
}

/** May be called again: what runs is stopped, what is stopped stays so. */
async function stopAll(): Promise<void> {
  for (const stop of stops) await stop().catch((error: Error) => console.error(error.message));
}

async function main(): Promise<void> {
  const flags = parseFlags(process.argv.slice(2));
  if (flags === 'help') return console.log(usage);
  const startedAt = new Date();
  const bench = await openBench(flags);
  const figures: Figure[] = [];
  try {
    await measureAll(bench, flags.only, figures);
  } finally {
    // Also what was measured before one that failed.
    console.log(renderTable(figures));
  }
  const selfCheck = selfCheckText(figures, secondBareProxy);
  if (selfCheck !== undefined) console.log(`\n${selfCheck}`);
  if (flags.jsonFile === undefined) return;
  const machine = { node: process.version, cpu: cpus()[0]?.model, cores: cpus().length };
  const report = {
    startedAt: startedAt.toISOString(),
    elapsedS: (Date.now() - startedAt.getTime()) / 1000,
    quick: flags.quick,
    selfCheck,
    machine,
    figures: figures.map((figure) => ({ ...figure, ratio: ratioOf(figure), met: isMet(figure) })),
  };
  await writeFile(flags.jsonFile, `${JSON.stringify(report, null, 2)}\n`);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    interrupted.abort();
    process.exitCode = 130;
    // Whatever waits for one of the parts fails now, and the end of this file stops what was just starting.
    void stopAll();
    setTimeout(() => process.exit(130), 30_000).unref();
  });
}
try {
  await main();
} catch (error) {
  if (!interrupted.signal.aborted) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
} finally {
  await stopAll();
}
