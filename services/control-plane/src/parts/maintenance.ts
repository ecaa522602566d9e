import { pepperName } from '@sluice/contracts';
import type { BreakingStore } from '@sluice/object-store';
import { readPairs, readTarget } from '@sluice/otlp';
import type { RpcClient } from '@sluice/rpc';
import type { Part } from '@sluice/service';
import type { Logger } from '@sluice/telemetry';
import type { CredentialVault } from '../kernel/credentials/envelope.ts';
import type { DatabaseClient } from '../kernel/database/client.ts';
import { repeat } from '../kernel/database/repeat.ts';
import { SealAnew } from '../kernel/database/seal-anew.ts';
import { purgeIdempotencyKeys } from '../kernel/http/idempotency.ts';
import type { Ledger } from '../ledger/analytics/ledger.ts';
import { AuditForward } from '../ledger/audit-forward/forward-audit.ts';
import { removeAgedFeedback } from '../ledger/feedback/remove-aged.ts';
import { sendFeedback } from '../ledger/feedback/send-feedback.ts';
import { eraseContent } from '../ledger/logs/erase-content.ts';
import { keepLedger } from '../ledger/logs/keep-ledger.ts';
import { maintainLimits } from '../limits/maintenance.ts';
import { maintainKeys } from '../people/api-keys/maintenance.ts';
import { countHashesOfOthers } from '../people/api-keys/store.ts';
import type { Env } from '../settings.ts';

interface MaintenanceParts {
  readonly client: DatabaseClient;
  readonly vault: CredentialVault;
  readonly ledger: Ledger;
  readonly ledgerClient: RpcClient;
  /** Undefined = none is set: no bodies were kept. */
  readonly logStore: BreakingStore | undefined;
  readonly maintainOauth: () => Promise<void>;
  readonly now: () => Date;
  readonly logger: Logger;
}

/** What is done again and again, whoever asks for it or not. */
export function maintenancePart(
  env: Env,
  { client, vault, ledger, ledgerClient, logStore, maintainOauth, now, logger }: MaintenanceParts,
): Part {
  const auditForward = env.OTEL_AUDIT_ENABLED
    ? new AuditForward({
        client,
        target: readTarget(env, {
          endpoint: ['OTEL_ENDPOINT', env.OTEL_ENDPOINT],
          headers: ['OTEL_EXPORTER_OTLP_HEADERS', env.OTEL_EXPORTER_OTLP_HEADERS],
          protocol: env.OTEL_EXPORTER_OTLP_PROTOCOL,
          path: '/v1/logs',
        }),
        resource: {
          'service.name': env.OTEL_SERVICE_NAME ?? env.SERVICE_NAME,
          'deployment.environment.name': env.NODE_ENV,
          ...readPairs('OTEL_RESOURCE_ATTRIBUTES', env.OTEL_RESOURCE_ATTRIBUTES),
        },
        now,
        logger,
      })
    : undefined;
  const sealAnew = new SealAnew({
    db: client,
    vault,
    logger,
    isRotating: env.MASTER_KEY_ALSO.length > 0,
  });
  let hashesOfOthers = 0;
  const maintenance: ReturnType<typeof repeat>[] = [];
  return {
    name: 'maintenance',
    start() {
      maintenance.push(
        repeat('maintenance of keys', (signal) => maintainKeys({ client, now }, signal), {
          intervalMs: env.KEY_MAINTENANCE_INTERVAL,
          logger,
        }),
        repeat(
          'rotation of secrets',
          async (signal) => {
            await sealAnew.run(signal);
            if (env.KEY_PEPPER_ALSO.length > 0)
              hashesOfOthers = await countHashesOfOthers(client, pepperName(env.KEY_PEPPER));
          },
          { intervalMs: env.KEY_MAINTENANCE_INTERVAL, logger },
        ),
        repeat('maintenance of OAuth', () => maintainOauth(), {
          intervalMs: env.OAUTH_MAINTENANCE_INTERVAL,
          logger,
        }),
        repeat('removing idempotency keys', () => purgeIdempotencyKeys(client, now()), {
          intervalMs: env.KEY_MAINTENANCE_INTERVAL,
          logger,
        }),
        repeat('maintenance of counters', () => maintainLimits(client, now()), {
          intervalMs: env.COUNTER_MAINTENANCE_INTERVAL,
          logger,
        }),
        repeat(
          'sending feedback to the ledger',
          (signal) => sendFeedback({ client, ledger: ledgerClient }, signal),
          { intervalMs: env.FEEDBACK_INTERVAL, logger },
        ),
        repeat('forwarding audit logs', async (signal) => auditForward?.run(signal), {
          intervalMs: auditForward === undefined ? 0 : env.OTEL_AUDIT_INTERVAL,
          logger,
        }),
        repeat(
          'erasing bodies of requests',
          async (signal) => {
            if (logStore !== undefined)
              await eraseContent({ db: client, store: logStore, now: now() }, signal);
          },
          { intervalMs: env.CONTENT_MAINTENANCE_INTERVAL, logger },
        ),
        repeat('removing aged feedback', (signal) => removeAgedFeedback(client, now(), signal), {
          intervalMs: env.CONTENT_MAINTENANCE_INTERVAL,
          logger,
        }),
        repeat('telling the ledger what is kept', () => keepLedger(client, ledger), {
          intervalMs: env.CONTENT_MAINTENANCE_INTERVAL,
          logger,
        }),
      );
    },
    async stop() {
      await Promise.all(maintenance.map((each) => each.stop()));
    },
    gauges: () => [
      {
        name: 'sluice_audit_forward_waiting_entries',
        help: 'Entries of audit logs that the receiver of OTLP does not have; 0 also where none is set',
        read: () => auditForward?.waiting ?? 0,
      },
      {
        name: 'sluice_secrets_to_seal_anew',
        help: 'Values that were sealed under another master key than the one in use; 0 also where MASTER_KEY_ALSO is not set',
        read: () => sealAnew.left,
      },
      {
        name: 'sluice_key_hashes_to_make_anew',
        help: 'Secrets of keys not known to be hashed under the pepper in use; 0 also where KEY_PEPPER_ALSO is not set',
        read: () => hashesOfOthers,
      },
    ],
  };
}
