/**
 * What a setting decides. All but the last two belong to the credential: whoever
 * may set one beside somebody else's credential has a say in whose account is
 * used, or sees the credential arrive.
 *
 * `address`     a whole host, or more of the address
 * `region`      where of the vendor's hosts
 * `account`     account, organisation, project, tenant, resource, compartment
 * `credential`  a secret or a part of one, and which kind of credential is used
 * `role`        who the credential turns into
 * `scope`       what a token may be used for
 * `storage`     where files are kept: a bucket, the key it is sealed with
 * `deployment`  which of the account's deployments answers
 * `option`      anything else: an API version, a switch of the vendor's
 * `protocol`    a header of the vendor's own format, which its clients send by themselves
 */
export type SettingKind =
  | 'address'
  | 'region'
  | 'account'
  | 'credential'
  | 'role'
  | 'scope'
  | 'storage'
  | 'deployment'
  | 'option'
  | 'protocol';

/**
 * Every setting of every provider, by its neutral name: `x-service-aws-region` in
 * headers, `aws_region` in credentials and configs. What does not stand here
 * cannot be declared by an entry of the catalogue.
 */
export const settingKinds = {
  'aws-region': 'region',
  'aws-auth-type': 'credential',
  'aws-access-key-id': 'credential',
  'aws-secret-access-key': 'credential',
  'aws-session-token': 'credential',
  'aws-role-arn': 'role',
  'aws-external-id': 'role',
  'aws-s3-bucket': 'storage',
  'aws-s3-object-key': 'option',
  'aws-bedrock-model': 'option',
  'aws-bedrock-role-arn': 'role',
  'amz-server-side-encryption': 'option',
  'amz-server-side-encryption-aws-kms-key-id': 'storage',
  'provider-file-name': 'option',
  'provider-model': 'option',
  'provider-batch-endpoint': 'option',
  'file-purpose': 'option',
  'file-upload-size': 'option',
  'amzn-sagemaker-custom-attributes': 'option',
  'amzn-sagemaker-target-model': 'deployment',
  'amzn-sagemaker-target-variant': 'deployment',
  'amzn-sagemaker-target-container-hostname': 'deployment',
  'amzn-sagemaker-inference-id': 'option',
  'amzn-sagemaker-enable-explanations': 'option',
  'amzn-sagemaker-inference-component': 'deployment',
  'amzn-sagemaker-session-id': 'option',
  'amzn-sagemaker-model-name': 'deployment',

  'anthropic-aws-workspace-id': 'account',
  'anthropic-google-workspace-id': 'account',
  'anthropic-workspace-id': 'account',
  'anthropic-user-profile-id': 'account',
  'anthropic-beta': 'protocol',
  'anthropic-version': 'protocol',
  'anthropic-inspect-stream-for-overloaded-error': 'option',

  // Configs call resource, deployment and version by shorter names.
  'azure-resource-name': 'account',
  'resource-name': 'account',
  'azure-foundry-url': 'address',
  'azure-region': 'region',
  'azure-endpoint-name': 'deployment',
  'azure-deployment-id': 'deployment',
  'deployment-id': 'deployment',
  'azure-deployment-name': 'deployment',
  'azure-deployment-type': 'deployment',
  'azure-deployment-config': 'deployment',
  deployments: 'deployment',
  'azure-model-name': 'deployment',
  'model-name': 'deployment',
  'azure-api-version': 'option',
  'api-version': 'option',
  'azure-extra-params': 'option',
  'provider-responses-proxy': 'option',
  'azure-auth-mode': 'credential',
  'azure-ad-token': 'credential',
  'azure-managed-client-id': 'credential',
  'azure-workload-client-id': 'credential',
  'azure-workload-tenant-id': 'credential',
  'azure-entra-tenant-id': 'credential',
  'azure-entra-client-id': 'credential',
  'azure-entra-client-secret': 'credential',
  'azure-entra-scope': 'scope',

  'byteplus-region': 'region',
  'databricks-workspace': 'address',
  'databricks-serving-endpoint-name': 'deployment',
  'huggingface-base-url': 'address',
  'mistral-fim-completion': 'option',
  'modal-key': 'credential',
  'modal-secret': 'credential',

  'openai-organization': 'account',
  'openai-project': 'account',
  'openai-beta': 'protocol',
  'http-referer': 'protocol',
  'x-title': 'protocol',

  'oracle-region': 'region',
  'oracle-api-version': 'option',
  'oracle-api-format': 'option',
  'oracle-compartment-id': 'account',
  'oracle-serving-mode': 'deployment',
  'oracle-tenancy': 'credential',
  'oracle-user': 'credential',
  'oracle-fingerprint': 'credential',
  'oracle-private-key': 'credential',
  'oracle-key-passphrase': 'credential',

  'predibase-tenant-id': 'account',
  'scenario-api-secret': 'credential',
  'snowflake-account': 'account',
  'snowflake-token-type': 'credential',
  'stability-client-id': 'protocol',
  'stability-client-user-id': 'protocol',
  'stability-client-version': 'protocol',

  'fireworks-account-id': 'account',

  'vertex-project-id': 'account',
  'vertex-region': 'region',
  'vertex-auth-type': 'credential',
  'vertex-service-account-json': 'credential',
  'vertex-storage-bucket-name': 'storage',

  'workers-ai-account-id': 'account',
  'x-pinecone-api-version': 'protocol',
} as const satisfies Readonly<Record<string, SettingKind>>;

export type SettingName = keyof typeof settingKinds;

/** Lists with commas: what is configured, what a caller sends and what a request needs are added up. */
const lists: ReadonlySet<string> = new Set<SettingName>(['anthropic-beta']);

export function isSettingList(name: string): boolean {
  return lists.has(name);
}

const kinds: ReadonlyMap<string, SettingKind> = new Map(Object.entries(settingKinds));

/** Undefined = nobody said: treat it as a part of the credential. */
export function settingKind(name: string): SettingKind | undefined {
  return kinds.get(name);
}

/** Whether a setting may stand beside a credential of somebody else's. */
export function isPlain(kind: SettingKind | undefined): boolean {
  return kind === 'option' || kind === 'protocol';
}

/** Settings that name hosts: in saved-only mode requests that send them are refused. */
export const addressSettings: readonly string[] = Object.entries(settingKinds).flatMap(
  ([name, kind]) => (kind === 'address' ? [name] : []),
);
