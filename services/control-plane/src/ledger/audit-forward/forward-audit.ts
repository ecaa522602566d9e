import { create } from '@bufbuild/protobuf';
import { jsonBounds, readJson } from '@sluice/json';
import {
  attributesOf,
  ExportLogsServiceRequestSchema,
  ExportLogsServiceResponseSchema,
  encodeExport,
  OtlpExporter,
  type OtlpTarget,
  readExport,
  SeverityNumber,
} from '@sluice/otlp';
import { type Logger, Outage } from '@sluice/telemetry';
import type { DatabaseClient } from '../../kernel/database/client.ts';
import { presentEntry } from '../audit-logs/present.ts';
import type { AuditRow } from '../audit-logs/store.ts';
import {
  type ClaimedLog,
  claimLog,
  countWaitingEntries,
  leaveLog,
  listEntriesAfter,
  noteForwarded,
} from './store.ts';

export interface AuditForwardParts {
  readonly client: DatabaseClient;
  readonly target: OtlpTarget;
  readonly resource: Readonly<Record<string, string>>;
  readonly now: () => Date;
  readonly logger: Logger;
}

/**
 * Brings a receiver of OTLP the audit logs of all organisations, each in its
 * order. How far it got stands in the database and moves when the receiver has
 * answered: an entry may come twice, and none is left out. What the receiver
 * refuses stays where it is, is told, and is sent again.
 */
export class AuditForward {
  /** Entries that the receiver does not have, when somebody last looked. */
  waiting = 0;
  readonly #parts: AuditForwardParts;
  readonly #outage: Outage;
  /** By organisation, the entry that is refused and was told of. */
  readonly #refused = new Map<string, bigint>();

  constructor(parts: AuditForwardParts) {
    this.#parts = parts;
    const { logger, target } = parts;
    this.#outage = new Outage({
      logger,
      away: 'the receiver of audit logs takes nothing: entries wait',
      back: 'the receiver of audit logs takes entries again',
      // Some have a key in the path.
      facts: { receiver: target.origin },
    });
  }

  /** Until the receiver has everything, or takes no more. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, target, now } = this.#parts;
    const exporter = new OtlpExporter(target, { triedForMs: 0 });
    const end = () => void exporter.close();
    signal.addEventListener('abort', end, { once: true });
    try {
      for (;;) {
        this.waiting = await countWaitingEntries(client);
        if (this.waiting === 0 || signal.aborted) return;
        const claimed = await claimLog(client, now(), leaseMs);
        if (claimed === undefined) return;
        if (!(await this.#forward(claimed, exporter, signal))) return;
      }
    } finally {
      signal.removeEventListener('abort', end);
      await exporter.close();
    }
  }

  /** Whether the receiver takes more. */
  async #forward(log: ClaimedLog, exporter: OtlpExporter, signal: AbortSignal): Promise<boolean> {
    const { client, now } = this.#parts;
    const { organisationId } = log;
    let { sequence } = log;
    let atOnce = entriesMax;
    while (!signal.aborted) {
      const rows = await listEntriesAfter(client, { organisationId, sequence }, atOnce);
      const last = rows.at(-1);
      if (last === undefined) {
        await leaveLog(client, organisationId, new Date(0));
        return true;
      }
      const { outcome, reason } = await this.#send(rows, exporter);
      if (outcome === 'away') this.#outage.begins(reason);
      else this.#outage.ends();
      if (outcome === 'taken') {
        this.#refused.delete(organisationId);
        ({ sequence } = last);
        const until = new Date(now().getTime() + leaseMs);
        await noteForwarded(client, organisationId, sequence, until);
      } else if (outcome === 'refused' && rows.length > 1) atOnce = 1;
      else if (outcome === 'refused') {
        this.#tellRefused(last, reason);
        // The logs of others first.
        await leaveLog(client, organisationId, new Date(now().getTime() + refusedMs));
        return true;
      } else break;
    }
    await leaveLog(client, organisationId, new Date(0));
    return false;
  }

  async #send(rows: readonly AuditRow[], exporter: OtlpExporter): Promise<Sent> {
    const { target, resource } = this.#parts;
    const request = create(ExportLogsServiceRequestSchema, {
      resourceLogs: [
        {
          resource: { attributes: attributesOf(resource) },
          scopeLogs: [{ scope: { name: 'sluice.audit' }, logRecords: rows.map(logOf) }],
        },
      ],
    });
    const encoded = encodeExport(ExportLogsServiceRequestSchema, request, target.protocol);
    const delivery = await exporter.send(encoded);
    if (delivery.outcome === 'given-up') return { outcome: 'away', reason: delivery.reason };
    if (delivery.outcome === 'refused')
      return { outcome: delivery.isOfAll ? 'away' : 'refused', reason: delivery.reason };
    return rejectedBy(delivery.answer, target) > 0
      ? { outcome: 'refused', reason: 'it says that it rejects log records' }
      : { outcome: 'taken', reason: '' };
  }

  /** Once, however often it is sent again. */
  #tellRefused({ organisationId, sequence }: AuditRow, reason: string): void {
    if (this.#refused.get(organisationId) === sequence) return;
    this.#refused.set(organisationId, sequence);
    this.#parts.logger.error(
      { organisation_id: organisationId, sequence: Number(sequence), reason },
      'an entry of an audit log is refused by the receiver; those behind it wait',
    );
  }
}

/** What became of entries, and why; `away`: the receiver takes none, whatever they are. */
interface Sent {
  readonly outcome: 'taken' | 'refused' | 'away';
  readonly reason: string;
}

/** What the receiver took of it, it says; of an answer that says nothing, everything. */
function rejectedBy(answer: Buffer, { protocol }: OtlpTarget): number {
  try {
    const { partialSuccess } = readExport(
      ExportLogsServiceResponseSchema,
      protocol === 'http/protobuf'
        ? { protocol, bytes: answer }
        : { protocol, json: readJson(answer, jsonBounds.small) },
    );
    return Number(partialSuccess?.rejectedLogRecords ?? 0);
  } catch {
    return 0;
  }
}

/** The body is the entry as `GET /v1/audit-logs` shows it, with its place in the chain. */
function logOf(row: AuditRow) {
  const entry = presentEntry(row);
  const atNanos = BigInt(row.timestamp.getTime()) * 1_000_000n;
  const isRefused = row.responseStatusCode >= 400;
  return {
    timeUnixNano: atNanos,
    observedTimeUnixNano: atNanos,
    severityNumber: isRefused ? SeverityNumber.WARN : SeverityNumber.INFO,
    severityText: isRefused ? 'WARN' : 'INFO',
    eventName: 'sluice.audit',
    body: { value: { case: 'stringValue' as const, value: JSON.stringify(entry) } },
    attributes: attributesOf({
      'audit.id': row.id,
      'audit.sequence': row.sequence,
      'audit.action': row.action,
      'audit.resource_type': row.resourceType,
      'audit.resource_id': row.resourceId ?? undefined,
      'audit.user_type': row.userType,
      'audit.hash': entry.hash,
      'service.organisation.id': row.organisationId,
      'service.workspace.id': row.workspaceId ?? undefined,
      'service.user.id': row.userId ?? undefined,
      'service.api_key.id': row.apiKeyId ?? undefined,
      'service.request.id': row.requestId,
      'http.request.method': row.method,
      'url.path': row.uri,
      'http.response.status_code': row.responseStatusCode,
      'client.address': row.clientIp,
    }),
  };
}

/** Entries hold bodies. */
const entriesMax = 100;
/** A refused entry is not sent again before that. */
const refusedMs = 10_000;
/** Of a replica that died, others go on after it. */
const leaseMs = 60_000;
