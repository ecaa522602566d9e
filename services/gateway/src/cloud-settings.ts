import {
  bool,
  integer,
  oneOf,
  optionalSecret,
  optionalText,
  type SectionValues,
  text,
  url,
} from '@sluice/env';

/** Of Entra; in clouds of a country or an agency it is another. */
export const publicAuthority = 'https://login.microsoftonline.com';

/**
 * What this machine is in the clouds, under the names that the clouds' own
 * tools read, so that a pod or instance made for them needs nothing more.
 * `settings.ts` reads them with all the others.
 */
export const cloudSettings = {
  AWS_ACCESS_KEY_ID: optionalText('access key of this machine'),
  AWS_SECRET_ACCESS_KEY: optionalSecret('its secret'),
  AWS_SESSION_TOKEN: optionalSecret('its session token, for temporary keys'),
  AWS_REGION: optionalText('region where neither provider nor address name one'),
  AWS_DEFAULT_REGION: optionalText('the same, where AWS_REGION is not set'),
  AWS_ROLE_ARN: optionalText('role this machine takes with its web identity'),
  AWS_WEB_IDENTITY_TOKEN_FILE: optionalText('file of the web identity, read at each use'),
  AWS_ROLE_SESSION_NAME: text('name of our sessions in AWS’s logs', 'sluice'),
  AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: optionalText('path of a container’s credentials'),
  AWS_CONTAINER_CREDENTIALS_FULL_URI: optionalText('address of a container’s credentials'),
  AWS_CONTAINER_AUTHORIZATION_TOKEN: optionalSecret('token for a container’s credentials'),
  AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: optionalText('file of that token, read at each use'),
  AWS_EC2_METADATA_SERVICE_ENDPOINT: url('metadata service of instances', 'http://169.254.169.254'),
  AWS_EC2_METADATA_DISABLED: bool('never ask the metadata service of instances', false),
  AWS_IMDS_V1: bool('ask it without a session token where it gives none', false),
  AWS_ASSUME_ROLE_ACCESS_KEY_ID: optionalText('access key that takes the roles of providers'),
  AWS_ASSUME_ROLE_SECRET_ACCESS_KEY: optionalSecret('its secret'),
  AWS_ASSUME_ROLE_REGION: optionalText('region of AWS STS; default: the provider’s'),
  AWS_ASSUME_ROLE_SOURCE_ARN: optionalText('role taken first, before those of providers'),
  AWS_ASSUME_ROLE_SOURCE_EXTERNAL_ID: optionalSecret('external id for that role'),
  AWS_SESSION_TAGS: bool('send the metadata of requests as tags of assumed roles', true),
  AWS_ENDPOINT_DOMAIN: optionalText('in place of amazonaws.com, for other partitions'),
  AWS_ENDPOINT_URL_STS: url('in place of AWS STS’s regional addresses'),

  GCP_AUTH_MODE: oneOf(
    '`workload`: Google’s providers without a credential use this machine’s service account',
    ['', 'workload'],
    '',
  ),
  GCP_WIF_AUDIENCE: optionalText(
    'workload identity provider that trusts this machine’s AWS identity',
  ),
  GCP_WIF_SERVICE_ACCOUNT_EMAIL: optionalText('service account taken after that'),
  GCE_METADATA_HOST: text('host, or host:port, of Google’s metadata service', '169.254.169.254'),

  AZURE_AUTHORITY_HOST: url('where Entra gives tokens', publicAuthority),
  AZURE_TENANT_ID: optionalText('tenant of this machine’s workload identity'),
  AZURE_CLIENT_ID: optionalText('client id of this machine’s workload identity'),
  AZURE_FEDERATED_TOKEN_FILE: optionalText('file of its token, read at each use'),
  AZURE_MANAGED_CLIENT_ID: optionalText('which managed identity, when there are several'),
  AZURE_MANAGED_VERSION: optionalText('API version of the managed identity’s service'),
  AZURE_POD_IDENTITY_AUTHORITY_HOST: url(
    'metadata service of Azure’s machines',
    'http://169.254.169.254',
  ),
  IDENTITY_ENDPOINT: optionalText('managed identity’s service of container platforms'),
  IDENTITY_HEADER: optionalSecret('what that service wants to be shown'),

  HOST_IDENTITY_FOR_CALLERS: bool(
    'this machine’s identity in a cloud may also be used with providers that callers describe in headers',
    false,
  ),
  SIGNED_BODY_BYTES_MAX: integer(
    'largest streamed body that is collected because its signature needs all of it, bytes',
    32 * 1024 * 1024,
    1024,
  ),
} as const;

export type CloudSettings = SectionValues<typeof cloudSettings>;
