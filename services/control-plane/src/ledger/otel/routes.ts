import { create, toBinary } from '@bufbuild/protobuf';
import {
  ExportLogsServiceRequestSchema,
  ExportLogsServiceResponseSchema,
  ExportTraceServiceRequestSchema,
  ExportTraceServiceResponseSchema,
  encodeExport,
  type OtlpProtocol,
} from '@sluice/otlp';
import type { PriceBook } from '@sluice/pricing';
import { usage } from '@sluice/proto-stubs';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { Authenticate, Caller } from '../../kernel/access/caller.ts';
import type { Database } from '../../kernel/database/client.ts';
import { readBody } from '../../kernel/http/json-body.ts';
import type { Ledger } from '../analytics/ledger.ts';
import { refuseWriter } from '../logs/refuse-writer.ts';
import { findWorkspaceSlug } from '../logs/store.ts';
import { answerError } from './answer-error.ts';
import { callsOfLogs, callsOfTraces, type ReadCalls } from './calls-of.ts';
import { rawBody } from './raw-body.ts';
import { protocolOf, readSent } from './read-export.ts';
import { recordOfCall } from './record-of-call.ts';

export interface OtelParts {
  readonly db: Database;
  readonly authenticate: Authenticate;
  readonly ledger: Pick<Ledger, 'writeUsage'>;
  readonly book: Pick<PriceBook, 'lookUp'>;
  readonly now: () => Date;
  /** Of a body, unpacked. */
  readonly bodyBytesMax: number;
}

/**
 * OTLP over HTTP, for spans and logs that tell of calls of models: they become
 * records of the ledger. Not operations of the admin API: bodies, answers and
 * errors are those that OTLP defines, in the encoding that the exporter speaks.
 */
export function otelRoutes(parts: OtelParts): Router {
  const readRaw = rawBody(parts.bodyBytesMax);
  const take =
    (handle: (protocol: OtlpProtocol, body: Buffer) => ReadCalls, answer: Answer): RequestHandler =>
    async (req, res) => {
      try {
        const caller = await parts.authenticate(req);
        refuseWriter(caller);
        const protocol = protocolOf(req.headers['content-type']);
        await readBody(req, res, readRaw);
        const read = handle(protocol, bodyOf(req));
        await store(read, caller, parts);
        send(res, answer(protocol, read));
      } catch (caught) {
        answerError(caught, req, res);
      }
    };
  return Router()
    .post(
      '/v1/otel/v1/traces',
      take(
        (protocol, body) =>
          callsOfTraces(
            readSent(ExportTraceServiceRequestSchema, protocol, body),
            parts.now().getTime(),
          ),
        (protocol, { rejected, reason = '' }) =>
          encodeExport(
            ExportTraceServiceResponseSchema,
            create(ExportTraceServiceResponseSchema, {
              ...(rejected > 0 && {
                partialSuccess: { rejectedSpans: BigInt(rejected), errorMessage: reason },
              }),
            }),
            protocol,
          ),
      ),
    )
    .post(
      '/v1/otel/v1/logs',
      take(
        (protocol, body) =>
          callsOfLogs(
            readSent(ExportLogsServiceRequestSchema, protocol, body),
            parts.now().getTime(),
          ),
        (protocol, { rejected, reason = '' }) =>
          encodeExport(
            ExportLogsServiceResponseSchema,
            create(ExportLogsServiceResponseSchema, {
              ...(rejected > 0 && {
                partialSuccess: { rejectedLogRecords: BigInt(rejected), errorMessage: reason },
              }),
            }),
            protocol,
          ),
      ),
    );
}

type Answer = (protocol: OtlpProtocol, read: ReadCalls) => ReturnType<typeof encodeExport>;

function send(res: Response, { contentType, body }: ReturnType<typeof encodeExport>): void {
  res.writeHead(200, { 'content-type': contentType, 'content-length': body.length });
  res.end(body);
}

function bodyOf(req: Request): Buffer {
  return Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0);
}

async function store(
  { calls }: ReadCalls,
  caller: Caller & { workspaceId: string },
  { db, ledger, book }: OtelParts,
): Promise<void> {
  const { organisationId, workspaceId, keyId, userId } = caller;
  if (calls.length === 0) return;
  const owner = {
    organisationId,
    workspaceId,
    workspaceSlug: (await findWorkspaceSlug(db, workspaceId)) ?? '',
    apiKeyId: keyId,
    userId: userId ?? '',
  };
  const records = calls.map(({ call, place }) =>
    toBinary(
      usage.UsageRecordSchema,
      create(usage.UsageRecordSchema, recordOfCall(call, place, owner, book)),
    ),
  );
  for (let at = 0; at < records.length; at += recordsAtOnce)
    await ledger.writeUsage({ records: records.slice(at, at + recordsAtOnce) });
}

/** Far below what one message to the data service may hold. */
const recordsAtOnce = 1000;
