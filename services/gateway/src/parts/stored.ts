import type { HeaderPrefixes } from '@sluice/contracts';
import { jobs } from '@sluice/proto-stubs';
import { createRpcClient, type RpcClient, type RpcClientOptions } from '@sluice/rpc';
import type { Part } from '@sluice/service';
import type { Logger } from '@sluice/telemetry';
import type { Exchange } from '../exchange/exchange.ts';
import type { Reply } from '../exchange/reply.ts';
import type { NewerBundles } from '../held/newer-bundles.ts';
import type { Stage } from '../pipeline/pipeline.ts';
import type { Env } from '../settings.ts';
import { answerStored } from '../stored/answer-stored.ts';
import { bringFiles } from '../stored/bring-files.ts';
import { keepResponses, showKept } from '../stored/keep-responses.ts';
import { KeepWatch } from '../stored/keep-watch.ts';
import { resumeKept } from '../stored/kept-context.ts';
import { KeptStore } from '../stored/kept-store.ts';
import { tuneManaged } from '../stored/managed-tuning.ts';
import { ReachWatch } from '../stored/reach-watch.ts';
import { StoredRegister } from '../stored/register.ts';

interface StoredParts {
  readonly controlPlane: RpcClient;
  /** How the data service is asked. */
  readonly peer: Omit<RpcClientOptions, 'address'>;
  readonly prefixes: HeaderPrefixes;
  readonly resolvesConfig: Stage;
  readonly newer: Pick<NewerBundles, 'after'>;
  readonly logger: Logger;
}

/** Files and batches that the service itself keeps for callers. */
export function storedPart(
  env: Env,
  { controlPlane, peer, prefixes, resolvesConfig: resolveConfig, newer, logger }: StoredParts,
): {
  stage: Stage;
  keeps: Stage;
  resumes: Stage;
  shows: Stage;
  brings: Stage;
  tunes: (ask: (part: Exchange) => Promise<Reply>) => Stage;
  part: Part;
  register: StoredRegister;
} {
  const register = new StoredRegister(
    controlPlane,
    createRpcClient(jobs.ContentService, { address: env.DATA_SERVICE_GRPC_URL, ...peer }),
  );
  const kept = new KeptStore(register);
  return {
    stage: answerStored({
      register,
      kept,
      prefixes,
      resolveConfig,
      watch: new ReachWatch(logger),
      newer,
    }),
    tunes: (ask) => tuneManaged({ register, prefixes, resolveConfig }, ask),
    keeps: keepResponses({ store: kept, register, watch: new KeepWatch(logger) }),
    resumes: resumeKept(kept),
    shows: showKept(kept),
    brings: bringFiles({ register, bytesMax: env.REQUEST_BODY_BYTES_MAX }),
    register,
    part: { name: 'stored', stop: () => register.close() },
  };
}
