import { certificatesPart, httpPart, type Part, type ServiceTools } from '@sluice/service';
import { createPartOf } from './app.ts';
import { airGap } from './parts/air-gap.ts';
import { countersPart } from './parts/counters.ts';
import { grpcPart } from './parts/grpc.ts';
import { mcpPortPart } from './parts/mcp-port.ts';
import type { Env } from './settings.ts';
import { wireCalls } from './wiring/calls.ts';
import { wireDoors } from './wiring/doors.ts';
import { layFoundations } from './wiring/foundations.ts';
import { wireStages } from './wiring/stages.ts';

/** Builds every client once and hands it down. Takes the data folder first: nothing looks into it before. */
export async function wire(env: Env, tools: ServiceTools): Promise<readonly Part[]> {
  const base = await layFoundations(env, tools);
  const calls = wireCalls(env, base);
  const doors = wireDoors(env, base, calls, wireStages(env, base, calls));
  const { logger, metrics } = tools;
  const { store } = base;
  const { app, server, serving, pipelines, readiness, underWay } = doors;
  // Each after those it needs; the first to stop is the last.
  return [
    { name: 'data-folder', stop: () => base.folder.release() },
    base.log.part,
    ...certificatesPart(base.certificates, { logger }),
    airGap(env, base.redisPlace, logger),
    calls.priceFiles,
    base.otlp.part, // tells of what the two below have
    base.content.part, // takes what requests leave until nothing is left that makes any
    base.ledger.part, // takes records until nothing is left that makes any
    base.held.part,
    base.stored.part,
    base.works.part,
    base.ownerLedger.part,
    { name: 'control-plane', gauges: base.partner.gauges },
    base.jwt.part, // reports to the control plane what it refused
    // What is settled last is told, too.
    countersPart({ limits: base.limits.limits, client: base.counters, logger }),
    base.redis.part,
    base.limits.part,
    base.circuits.part,
    { name: 'admin', stop: () => doors.admin.close() },
    { name: 'checks', stop: () => base.checksFetch.close() },
    base.upstream.part, // what still runs is cut here, and recorded
    // Readiness says no, and replies close their connections, before the port closes.
    {
      name: 'readiness',
      isReady: () => (store.connected || store.holdsAnything) && !store.pepperDiffers,
      retire: doors.drain,
    },
    doors.streams,
    doors.realtime.part,
    doors.mcp.part,
    ...grpcPart(env, {
      certificates: base.certificates,
      serving,
      run: pipelines.unified,
      readiness,
      underWay,
      metrics,
    }),
    ...mcpPortPart(env, {
      certificates: base.certificates,
      answer: createPartOf(app, 'mcp', serving),
      cut: () => underWay.cut(),
    }),
    httpPart({ server, host: env.HOST, port: env.PORT, cut: () => underWay.cut() }),
  ];
}
