/**
 * Real servers and processes for tests, and upstreams that misbehave on
 * request. For tests only: nothing that ships imports it. `startStack` runs all
 * of Sluice; the other functions give one part each. What a test starts it stops.
 */

export { freePort, portsOfProcess } from '@sluice/stack';
export { agreeAs, awayFrom, Browser, goOnFrom, pageOf, signInUpstream } from './browser.ts';
export { builtService, builtServices } from './built-service.ts';
export { type CertificateName, testCertificate, testCertificatePath } from './certificates.ts';
export { debianServer } from './debian-servers.ts';
export { eventually } from './eventually.ts';
export { encryptedKey, forgedRsaKey } from './forged-keys.ts';
export { freshName } from './fresh-name.ts';
export { startGcs, type TestGcs } from './gcs.ts';
export { type Introspected, type Issuer, type SignOptions, startIssuer } from './issuer.ts';
export { keepAliveMs } from './keep-alive.ts';
export { eachWith, inTurns, isLongForm } from './long-form.ts';
export { startNats } from './nats.ts';
export { type OauthServer, type OauthServerSettings, startOauthServer } from './oauth-server.ts';
export {
  type OtlpFailure,
  type OtlpReceiver,
  type ReceivedLog,
  type ReceivedSpan,
  startOtlpReceiver,
} from './otlp-receiver.ts';
export {
  type PartnerMode,
  type PartnerServer,
  startPartnerServer,
} from './partners/partner-server.ts';
export { address as partnerAddress, vendorKey } from './partners/vendor.ts';
export { waitMs } from './patience.ts';
export { startPgBouncer } from './pgbouncer.ts';
export { createDatabase, inDatabase, startPostgres, type TestPostgres } from './postgres.ts';
export { prepareLedger } from './prepare-ledger.ts';
export { preparedDatabase } from './prepared-database.ts';
export {
  startRedis,
  startRedisCluster,
  startRedisSentinel,
  type TestRedisCluster,
  type TestRedisOptions,
  type TestRedisSentinel,
} from './redis.ts';
export { type Relay, startRelay } from './relay.ts';
export { compileCacheDir, temporaryFolder } from './run-folder.ts';
export { type S3Failure, startS3, type TestS3 } from './s3.ts';
export { signatureFault } from './s3-signature.ts';
export { startHostedService, startService } from './service.ts';
export type { SpawnedServer } from './spawned-server.ts';
export { startStack, type TestStack, type TestStackOptions } from './stack.ts';
export { testDatabase } from './test-database.ts';
export {
  type RecordedRequest,
  startUpstream,
  type Upstream,
  type UpstreamHandler,
} from './upstream.ts';
export {
  bytes,
  garbage,
  hang,
  json,
  reset,
  type SseOptions,
  sequence,
  slowHeaders,
  sse,
  type UpstreamReply,
} from './upstream-replies.ts';
export { startVectorRedis, type VectorRedis } from './vector-redis.ts';
export {
  boundSignature,
  type MessagesOptions,
  type Refusal,
  refuseChat,
  refuseCohere,
  refuseConverse,
  refuseGemini,
  refuseGooglePath,
  refuseGoogleQuery,
  refuseMessages,
  refuseMistral,
  refuseResponses,
} from './vendor-rules/index.ts';
