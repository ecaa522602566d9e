import { setTimeout as delay } from 'node:timers/promises';
import {
  attributesOf,
  createLogsExport,
  ExportLogsServiceRequestSchema,
  encodeExport,
  type LogForwardEnv,
  OtlpExporter,
  readPairs,
  readTarget,
} from '@sluice/otlp';
import type { Part } from './part.ts';
import type { ForwardedLog } from './run-service.ts';
import type { ServiceEnv } from './start-service.ts';

/**
 * The lines of a service's log, also to a receiver of OTLP where one is to have
 * them. They are on stderr whatever becomes of them here: what waits is
 * bounded, and what comes on top is left out and counted.
 */
export function forwardLog(env: ServiceEnv & LogForwardEnv): ForwardedLog {
  if (!env.OTEL_LOGS_ENABLED) return { part: forwardPart(() => 0), close: async () => {} };
  const target = readTarget(env, {
    endpoint: ['OTEL_ENDPOINT', env.OTEL_ENDPOINT],
    headers: ['OTEL_EXPORTER_OTLP_HEADERS', env.OTEL_EXPORTER_OTLP_HEADERS],
    protocol: env.OTEL_EXPORTER_OTLP_PROTOCOL,
    path: '/v1/logs',
  });
  const resource = attributesOf({
    'service.name': env.OTEL_SERVICE_NAME ?? env.SERVICE_NAME,
    'deployment.environment.name': env.NODE_ENV,
    ...readPairs('OTEL_RESOURCE_ATTRIBUTES', env.OTEL_RESOURCE_ATTRIBUTES),
  });
  const exporter = new OtlpExporter(target);
  let lines: string[] = [];
  let held = 0;
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;

  async function sendAll(): Promise<void> {
    while (lines.length > 0) {
      const batch = lines.slice(0, linesMax);
      const request = createLogsExport(resource, 'sluice.log', batch);
      const encoded = encodeExport(ExportLogsServiceRequestSchema, request, target.protocol);
      const { outcome } = await exporter.send(encoded);
      lines = lines.slice(batch.length);
      for (const line of batch) held -= line.length;
      if (outcome !== 'taken') dropped += batch.length;
    }
  }
  function send(): void {
    clearTimeout(timer);
    timer = undefined;
    sending ??= sendAll().finally(() => {
      sending = undefined;
    });
  }
  return {
    follow(line) {
      if (held + line.length > heldMax) {
        dropped++;
        return;
      }
      lines.push(line);
      held += line.length;
      timer ??= setTimeout(send, lingerMs).unref();
    },
    async close(deadlineMs) {
      exporter.stopRetrying();
      send();
      await Promise.race([sending, delay(deadlineMs, undefined, { ref: false })]);
      await exporter.close();
    },
    part: forwardPart(() => dropped),
  };
}

function forwardPart(read: () => number): Part {
  return {
    name: 'log-forward',
    gauges: () => [
      {
        name: 'event_log_lines_not_forwarded',
        help: 'Lines of the event log since the start that the receiver of OTLP did not take',
        read,
      },
    ],
  };
}

const lingerMs = 500;
const linesMax = 500;
const heldMax = 4 * 1024 * 1024;
