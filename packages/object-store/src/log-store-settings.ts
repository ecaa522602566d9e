import { bool, checked, integer, oneOf, optionalSecret, optionalText } from '@sluice/env';
import { logFormats } from './log-path.ts';

/** What keeps the content of logs; the same for all services that write or read it. */
export const logStoreSettings = {
  LOG_STORE: optionalText(
    'what keeps bodies of requests: local, s3, s3_custom, gcs, wasabi, netapp, r2; unset = they are not kept',
  ),
  LOG_STORE_DIR: optionalText('folder of `local`; the same volume for all services'),
  LOG_STORE_REGION: optionalText('region of the bucket'),
  LOG_STORE_ACCESS_KEY: optionalSecret('access key; of `gcs` an HMAC key'),
  LOG_STORE_SECRET_KEY: optionalSecret('its secret'),
  LOG_STORE_GENERATIONS_BUCKET: optionalText('bucket of `s3` and `gcs`'),
  LOG_STORE_BASEPATH: optionalText(
    'address with the bucket, https://minio:9000/bucket, of `s3_custom` and the others that speak like S3',
  ),
  LOG_STORE_FILE_PATH_FORMAT: oneOf(
    'layout of new objects: v1 = 30/<organisation>/<log>.json, v2 = with workspace, date and hour',
    logFormats,
    'v1',
  ),
  LOG_STORE_OBJECT_LOCK_RETENTION_ENABLED: bool(
    'the bucket has Object Lock: objects are sent with a checksum',
    false,
  ),
  LOG_STORE_CONNECTION_FAILURE_THRESHOLD: integer(
    'failures in a row after which the store is left alone',
    5,
    1,
  ),
  LOG_STORE_CONNECTION_BACKOFF_MS: integer('ms for which it is', 60_000, 1, 2 ** 31 - 1),
  LOG_STORE_CONNECTION_TIMEOUT_MS: integer('ms of one call of the store', 15_000, 1, 2 ** 31 - 1),
  SSE_ENCRYPTION_TYPE: optionalText(
    'how the store encrypts objects: AES256, aws:kms, aws:kms:dsse; unset = as the bucket says',
  ),
  KMS_KEY_ID: optionalText('key of aws:kms'),
  KMS_BUCKET_KEY_ENABLED: bool('use the key of the bucket with aws:kms', false),
  KMS_ENCRYPTION_CONTEXT: checked(
    optionalText('context of aws:kms, base64 of a JSON object of texts'),
    checkContext,
  ),
};

/** The store would refuse each object, and only then. */
function checkContext(value: string): void {
  const isOne = /^[A-Za-z0-9+/]+={0,2}$/.test(value) && holdsTexts(value);
  if (!isOne) throw new Error('must be base64 of a JSON object of texts');
}

function holdsTexts(base64: string): boolean {
  try {
    const context: unknown = JSON.parse(Buffer.from(base64, 'base64').toString());
    if (typeof context !== 'object' || context === null || Array.isArray(context)) return false;
    return Object.values(context).every((text) => typeof text === 'string');
  } catch {
    return false;
  }
}
