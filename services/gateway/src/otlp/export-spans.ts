import { parentPort, workerData } from 'node:worker_threads';
import { create } from '@bufbuild/protobuf';
import { jsonBounds, readJson } from '@sluice/json';
import {
  type AttributeValue,
  attributesOf,
  ExportTraceServiceRequestSchema,
  ExportTraceServiceResponseSchema,
  encodeExport,
  OtlpExporter,
  type OtlpTarget,
  readExport,
} from '@sluice/otlp';
import { spansIn } from './span-batch.ts';
import type { Exported } from './span-queue.ts';
import { type SpanInit, spansOf } from './spans-of.ts';

/**
 * A thread of its own: reads records, puts answers together, writes spans and
 * sends them, and keeps all of that off the loop that serves requests. It is
 * given batches, one after the other, and says what became of each.
 */
export interface ExporterData {
  readonly target: OtlpTarget;
  /** What all its spans are of. */
  readonly resource: Readonly<Record<string, AttributeValue>>;
  readonly scope: { readonly name: string; readonly version: string };
}

async function exportBatch(batch: Uint8Array, exporter: OtlpExporter): Promise<Exported> {
  const spans: SpanInit[] = [];
  let records = 0;
  for (const span of spansIn(batch)) {
    spans.push(...spansOf(span));
    records++;
  }
  const request = create(ExportTraceServiceRequestSchema, {
    resourceSpans: [
      { resource: { attributes: attributesOf(resource) }, scopeSpans: [{ scope, spans }] },
    ],
  });
  const encoded = encodeExport(ExportTraceServiceRequestSchema, request, target.protocol);
  const delivery = await exporter.send(encoded);
  const { isAway } = exporter;
  if (delivery.outcome !== 'taken') return { taken: 0, isAway, reason: delivery.reason };
  return { taken: Math.max(0, records - rejectedBy(delivery.answer)), isAway };
}

/** What the receiver says of its own; of an answer that says nothing, none. */
function rejectedBy(answer: Buffer): number {
  try {
    const { partialSuccess } = readExport(
      ExportTraceServiceResponseSchema,
      target.protocol === 'http/protobuf'
        ? { protocol: 'http/protobuf', bytes: answer }
        : { protocol: 'http/json', json: readJson(answer, jsonBounds.small) },
    );
    return Number(partialSuccess?.rejectedSpans ?? 0);
  } catch {
    return 0;
  }
}

const { target, resource, scope } = workerData as ExporterData;

if (parentPort !== null) {
  const port = parentPort;
  const exporter = new OtlpExporter(target);
  let last = Promise.resolve();
  port.on('message', (batch: Uint8Array) => {
    last = last.then(async () => {
      try {
        port.postMessage(await exportBatch(batch, exporter));
      } catch {
        // What cannot be made a span today cannot be tomorrow.
        port.postMessage({ taken: 0, isAway: exporter.isAway } satisfies Exported);
      }
    });
  });
}
