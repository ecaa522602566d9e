import { pepperName } from '@sluice/contracts';
import { config, jobs } from '@sluice/proto-stubs';
import { served } from '@sluice/service';
import { batchHandlers } from '../batches/batch-service.ts';
import { fileHandlers } from '../batches/file-service.ts';
import { jobHandlers } from '../batches/job-service.ts';
import { uploadHandlers } from '../batches/upload-service.ts';
import { createQuestionMetrics } from '../config-sync/metrics.ts';
import { configServiceHandlers } from '../config-sync/service.ts';
import { followHandlers } from '../followed/follow-service.ts';
import type { Env } from '../settings.ts';
import type { Foundations } from './foundations.ts';

interface Told {
  readonly draining: AbortSignal;
  readonly hasNats: boolean;
  /** A limit has been reached, and its alerts wait to be sent. */
  readonly onAlert: () => void;
}

/** What gateways and data services are told and asked over gRPC. */
export function wireRpcServices(env: Env, base: Foundations, { draining, hasNats, onAlert }: Told) {
  const {
    client,
    feed,
    barriers,
    vault,
    jobTokens,
    ledger,
    tokens,
    connections,
    oauth,
    now,
    metrics,
  } = base;
  const files = {
    client,
    vault,
    now,
    filesMax: env.FILES_PER_WORKSPACE_MAX,
    keptMs: env.FILE_KEEP_DAYS * 86_400_000,
    responses: {
      countMax: env.RESPONSES_PER_WORKSPACE_MAX,
      bytesMax: env.RESPONSES_BYTES_PER_WORKSPACE_MAX,
      keptMs: env.RESPONSE_KEEP_DAYS * 86_400_000,
    },
  };

  return [
    served(
      config.ConfigService,
      configServiceHandlers({
        client,
        vault,
        pepperName: pepperName(env.KEY_PEPPER),
        pepperNames: [env.KEY_PEPPER, ...env.KEY_PEPPER_ALSO].map(pepperName),
        feed,
        barriers,
        // The others are for the admin API, whoever comes back.
        readsMax: Math.max(1, Math.floor(env.DATABASE_CONNECTIONS_MAX / 2)),
        now,
        observe: createQuestionMetrics(metrics),
        draining,
        ledger,
        tokens,
        connections,
        signIdentity: oauth.signIdentity,
        issuerLogins: oauth.issuerLogins,
        counters: {
          client,
          now,
          hasNats,
          onAlert,
        },
      }),
    ),
    served(jobs.FileService, fileHandlers(files)),
    served(jobs.UploadService, uploadHandlers(files)),
    served(
      jobs.BatchService,
      batchHandlers({
        client,
        vault,
        pepper: env.KEY_PEPPER,
        now,
        batchesMax: env.BATCHES_PER_WORKSPACE_MAX,
        backgroundMax: env.BACKGROUND_RESPONSES_MAX,
      }),
    ),
    served(
      jobs.FollowService,
      followHandlers({
        client,
        tokens: jobTokens,
        now,
        followedMax: env.FOLLOWED_PER_WORKSPACE_MAX,
      }),
    ),
    served(
      jobs.JobService,
      jobHandlers({
        client,
        vault,
        tokens: jobTokens,
        now,
      }),
    ),
  ];
}
