import { type OtlpTarget, readPairs, readTarget } from '@sluice/otlp';
import type { Gauge, Part } from '@sluice/service';
import { type Logger, Outage } from '@sluice/telemetry';
import manifest from '../../package.json' with { type: 'json' };
import type { ContentTaker } from '../content/content-taker.ts';
import { ExportThread } from '../otlp/export-thread.ts';
import { PairedSpans } from '../otlp/paired-spans.ts';
import { SpanQueue } from '../otlp/span-queue.ts';
import type { Env } from '../settings.ts';
import type { RecordFollower } from '../usage/stored-record.ts';
import { headerRules } from './header-rules.ts';

export interface OtlpParts {
  readonly replicaId: string;
  readonly logger: Logger;
}

/** Spans of what requests came to, on their way to receivers that the operator named; without any nothing is done. */
export function otlpPart(env: Env, { replicaId, logger }: OtlpParts) {
  const openQueue = (target: OtlpTarget, scope: string, further: Record<string, string>) => {
    const outage = new Outage({
      logger,
      away: 'a receiver of OTLP takes no spans: they are dropped',
      back: 'a receiver of OTLP takes spans again',
      // Some have a key in the path.
      facts: { receiver: target.origin },
    });
    return new SpanQueue(
      new ExportThread({
        target,
        resource: {
          'service.name': env.OTEL_SERVICE_NAME ?? env.SERVICE_NAME,
          'service.version': manifest.version,
          'service.instance.id': replicaId,
          'deployment.environment.name': env.NODE_ENV,
          'otel.semconv.version': semconvVersion,
          ...readPairs('OTEL_RESOURCE_ATTRIBUTES', env.OTEL_RESOURCE_ATTRIBUTES),
          ...further,
        },
        scope: { name: scope, version: manifest.version },
      }),
      {
        bytesMax: env.OTEL_QUEUE_BYTES_MAX,
        onExported: ({ reason }) => (reason === undefined ? outage.ends() : outage.begins(reason)),
      },
    );
  };
  const records = isPushed(env) ? openQueue(recordsTarget(env), 'sluice.records', {}) : undefined;
  const contents = isContentPushed(env)
    ? openQueue(
        contentsTarget(env),
        'custom.genai.instrumentation',
        readPairs(
          'EXPERIMENTAL_GEN_AI_OTEL_RESOURCE_ATTRIBUTES',
          env.EXPERIMENTAL_GEN_AI_OTEL_RESOURCE_ATTRIBUTES,
        ),
      )
    : undefined;
  const pairs = contents && new PairedSpans(contents, headerRules(env));
  const queues = [records, contents].filter((queue) => queue !== undefined);
  const part: Part = {
    name: 'otlp',
    async stop(deadlineMs) {
      pairs?.flush();
      await Promise.all(queues.map((queue) => queue.stop(Math.min(sendMs, deadlineMs / 2))));
      const lost = queues.reduce((sum, queue) => sum + queue.dropped + queue.lost, 0);
      if (lost > 0) logger.warn({ spans: lost }, 'spans of this life were not taken by anybody');
    },
    gauges: () => [...gaugesOf('records', records), ...gaugesOf('contents', contents)],
  };
  const takers: readonly ContentTaker[] = pairs === undefined ? [] : [pairs];
  return { follow: followerOf(records, pairs), takers, part };
}

function followerOf(
  records: SpanQueue | undefined,
  pairs: PairedSpans | undefined,
): RecordFollower | undefined {
  if (records === undefined && pairs === undefined) return undefined;
  return {
    addRecord(record, bytes) {
      records?.add(bytes);
      pairs?.addRecord(record, bytes);
    },
    addLateHook(bytes) {
      records?.addLateHook(bytes);
      pairs?.addLateHook(bytes);
    },
  };
}

function isPushed(env: Env): boolean {
  return env.OTEL_PUSH_ENABLED;
}

function recordsTarget(env: Env): OtlpTarget {
  return readTarget(env, {
    endpoint: ['OTEL_ENDPOINT', env.OTEL_ENDPOINT],
    headers: ['OTEL_EXPORTER_OTLP_HEADERS', env.OTEL_EXPORTER_OTLP_HEADERS],
    protocol: env.OTEL_EXPORTER_OTLP_PROTOCOL,
    path: '/v1/traces',
  });
}

function isContentPushed(env: Env): boolean {
  return env.EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED || env.EXPERIMENTAL_GEN_AI_OTEL_PUSH_ENABLED;
}

function contentsTarget(env: Env): OtlpTarget {
  return readTarget(env, {
    endpoint: [
      'EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT',
      env.EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT ??
        env.EXPERIMENTAL_GEN_AI_OTEL_OTLP_ENDPOINT,
    ],
    headers: [
      'EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_HEADERS',
      env.EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_HEADERS ??
        env.EXPERIMENTAL_GEN_AI_OTEL_OTLP_HEADERS,
    ],
    protocol: env.EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_PROTOCOL,
    path: '/v1/traces',
  });
}

function gaugesOf(flow: 'records' | 'contents', queue: SpanQueue | undefined): readonly Gauge[] {
  const of = flow === 'records' ? 'records of the ledger' : 'records with content';
  return [
    {
      name: `sluice_otlp_${flow}_queue_bytes`,
      help: `Spans of ${of} that wait for their receiver`,
      read: () => queue?.bytes ?? 0,
    },
    {
      name: `sluice_otlp_${flow}_exported_spans`,
      help: `Spans of ${of} since the start that the receiver took`,
      read: () => queue?.taken ?? 0,
    },
    {
      name: `sluice_otlp_${flow}_dropped_spans`,
      help: `Spans of ${of} since the start that nobody took: no room, refused, or given up`,
      read: () => (queue === undefined ? 0 : queue.dropped + queue.lost),
    },
    {
      name: `sluice_otlp_${flow}_receiver_away`,
      help: `1 while the receiver of spans of ${of} does not take any`,
      read: () => Number(queue?.isAway ?? false),
    },
  ];
}

/** The last that names what is told of generative AI; since then it has a repository without releases. */
const semconvVersion = '1.41.1';
/** What is not sent by then is lost. */
const sendMs = 4_000;
