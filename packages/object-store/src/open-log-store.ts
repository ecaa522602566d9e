import { type SectionValues, SettingsError, writableFolder } from '@sluice/env';
import { BreakingStore, type StoreListener } from './breaking-store.ts';
import { FolderStore } from './folder-store.ts';
import { logStoreSettings } from './log-store-settings.ts';
import type { ObjectStore } from './object-store.ts';
import { type S3Options, S3Store } from './s3-store.ts';

export type LogStoreEnv = SectionValues<typeof logStoreSettings>;

/** Of all settings those of the store: what a thread is given that opens one itself. */
export function logStoreEnvOf(env: LogStoreEnv): LogStoreEnv {
  const names = Object.keys(logStoreSettings) as (keyof LogStoreEnv)[];
  return Object.fromEntries(names.map((name) => [name, env[name]])) as LogStoreEnv;
}

/**
 * The store that the settings name; undefined where they name none.
 * @param blocks whether the calling thread does nothing but write: a folder's objects are written within the call
 * @throws Error naming the setting that is missing, wrong or not supported
 */
export function openLogStore(
  env: LogStoreEnv,
  { blocks = false, listener }: { blocks?: boolean; listener?: StoreListener | undefined } = {},
): BreakingStore | undefined {
  const { LOG_STORE: kind } = env;
  if (kind === undefined) return undefined;
  return new BreakingStore(openKind(kind, env, blocks), {
    failuresMax: env.LOG_STORE_CONNECTION_FAILURE_THRESHOLD,
    openMs: env.LOG_STORE_CONNECTION_BACKOFF_MS,
    nowMs: Date.now,
    listener,
  });
}

/** What writes of a store that goes and comes back into a service's log. */
export function logOfStore(logger: StoreLogger): StoreListener {
  return {
    onAway: (reason) => logger.warn({ reason }, 'the log store is away'),
    onBack: () => logger.info({}, 'the log store is back'),
  };
}

/** As much of a logger as is needed. */
export interface StoreLogger {
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

/**
 * Before it is opened, where there is an air gap.
 * @throws Error when the store is at its vendor's own address, and that is not within
 */
export function expectLogStoreWithin(
  env: LogStoreEnv,
  isWithin: (origin: string) => boolean,
): void {
  const { LOG_STORE: kind } = env;
  if (kind === undefined || !atVendors.has(kind)) return;
  const { origin } = placeOf(kind, env);
  if (!isWithin(origin))
    throw new SettingsError([
      `LOG_STORE: ${kind} is at ${origin}, beyond the air gap (AIRGAP=true): use s3_custom with LOG_STORE_BASEPATH, or list the host in AIRGAP_HOSTS`,
    ]);
}

const atVendors: ReadonlySet<string> = new Set(['s3', 'gcs']);

function openKind(kind: string, env: LogStoreEnv, blocks: boolean): ObjectStore {
  if (kind === 'local')
    return new FolderStore(writableFolder('LOG_STORE_DIR', needed(env, 'LOG_STORE_DIR')), {
      blocks,
    });
  const reason = notSupported.get(kind);
  if (reason !== undefined)
    throw new SettingsError([`LOG_STORE: ${kind} is not supported by this release: ${reason}`]);
  const place = placeOf(kind, env);
  return new S3Store({
    ...place,
    credentials: {
      accessKeyId: needed(env, 'LOG_STORE_ACCESS_KEY'),
      secretAccessKey: needed(env, 'LOG_STORE_SECRET_KEY'),
    },
    timeoutMs: env.LOG_STORE_CONNECTION_TIMEOUT_MS,
    putHeaders: encryptionHeaders(env),
    sendsChecksum: env.LOG_STORE_OBJECT_LOCK_RETENTION_ENABLED,
    connectionsMax: 32,
    nowMs: Date.now,
  });
}

/** What other gateways know, with what to do here. */
const notSupported: ReadonlyMap<string, string> = new Map([
  ['s3_assume', 'use s3 with an access key'],
  ['gcs_assume', 'use gcs with an HMAC key'],
  ['azure', 'use one of local, s3, s3_custom, gcs'],
  ['mongo', 'use one of local, s3, s3_custom, gcs'],
  ['control_plane', 'use local on a volume that the control plane shares'],
]);

function placeOf(
  kind: string,
  env: LogStoreEnv,
): Pick<S3Options, 'origin' | 'basePath' | 'region'> {
  if (atVendors.has(kind)) {
    const region = needed(env, 'LOG_STORE_REGION');
    const bucket = needed(env, 'LOG_STORE_GENERATIONS_BUCKET');
    // Both become parts of a host name or path: they must not become another one.
    if (!/^[a-z0-9-]{1,64}$/i.test(region))
      throw new SettingsError(['LOG_STORE_REGION: is no region']);
    if (!/^[a-z0-9][a-z0-9._-]{1,221}[a-z0-9]$/.test(bucket))
      throw new SettingsError(['LOG_STORE_GENERATIONS_BUCKET: is no name of a bucket']);
    if (kind === 'gcs')
      return { origin: 'https://storage.googleapis.com', basePath: `/${bucket}`, region };
    const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
    // A certificate for one level of names covers no bucket with a dot.
    return bucket.includes('.')
      ? { origin: `https://${host}`, basePath: `/${bucket}`, region }
      : { origin: `https://${bucket}.${host}`, basePath: '', region };
  }
  if (!likeS3.has(kind))
    throw new SettingsError([
      `LOG_STORE: ${kind} is unknown; there are local, ${[...likeS3].join(', ')}, s3, gcs`,
    ]);
  return {
    ...basePlace(needed(env, 'LOG_STORE_BASEPATH')),
    region: env.LOG_STORE_REGION ?? 'us-east-1',
  };
}

const likeS3: ReadonlySet<string> = new Set(['s3_custom', 'wasabi', 'netapp', 'r2']);

function basePlace(address: string): Pick<S3Options, 'origin' | 'basePath'> {
  const wrong = (what: string) => new SettingsError([`LOG_STORE_BASEPATH: ${what}`]);
  // Without a scheme it is one of TLS, as other gateways read it.
  const text = /^[a-z]+:\/\//i.test(address) ? address : `https://${address}`;
  if (!URL.canParse(text)) throw wrong('is no address');
  const { protocol, origin, pathname, search, hash, username, password } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') throw wrong('must be http or https');
  if (username !== '' || password !== '') throw wrong('must not hold a credential');
  if (search !== '' || hash !== '') throw wrong('must end with the bucket');
  const basePath = pathname.replace(/\/+$/, '');
  if (basePath === '') throw wrong('lacks the bucket, as in https://minio:9000/bucket');
  return { origin, basePath };
}

function encryptionHeaders(env: LogStoreEnv): Record<string, string> {
  const { SSE_ENCRYPTION_TYPE: type, KMS_KEY_ID: key, KMS_ENCRYPTION_CONTEXT: context } = env;
  if (type === undefined) return {};
  if (!['AES256', 'aws:kms', 'aws:kms:dsse'].includes(type))
    throw new SettingsError(['SSE_ENCRYPTION_TYPE: must be AES256, aws:kms or aws:kms:dsse']);
  const name = 'x-amz-server-side-encryption';
  return {
    [name]: type,
    ...(key !== undefined && { [`${name}-aws-kms-key-id`]: key }),
    ...(context !== undefined && { [`${name}-context`]: context }),
    ...(env.KMS_BUCKET_KEY_ENABLED && { [`${name}-bucket-key-enabled`]: 'true' }),
  };
}

function needed(env: LogStoreEnv, name: keyof LogStoreEnv): string {
  const value = env[name];
  if (typeof value !== 'string')
    throw new SettingsError([`${name}: is required with LOG_STORE=${env.LOG_STORE}`]);
  return value;
}
