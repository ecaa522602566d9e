import { both, type Context, type Examples } from '../../example.ts';

/** Its answer is wrapped, so it is not made with `made`. */
const path = async ({ workspace }: Context) => {
  const body = { name: 'Made', provider: 'openai', key: 'sk-virtual-key-secret-0001' };
  const { slug } = (await workspace.post('/virtual-keys', body).expect(200)).body.data;
  return [{ slug }];
};

const changeable = () => ({
  name: 'A virtual key',
  key: 'sk-virtual-key-secret-0001',
  note: 'What it is for',
  apiVersion: '2024-02-01',
  resourceName: 'a-resource',
  deploymentName: 'a-deployment',
  deploymentConfig: [
    { apiVersion: '2024-02-01', deploymentName: 'a-deployment', alias: 'a', is_default: true },
  ],
  azureAuthMode: 'entra',
  azureEntraTenantId: 'tenant-1',
  azureEntraClientId: 'client-1',
  azureEntraClientSecret: 'entra-secret-0001',
  azureManagedClientId: 'managed-1',
  awsAuthType: 'accessKey',
  awsRegion: 'eu-central-1',
  awsAccessKeyId: 'AKIA000000000001',
  awsSecretAccessKey: 'aws-secret-access-key-0001',
  awsRoleArn: 'arn:aws:iam::1:role/a',
  awsExternalId: 'external-1',
  vertexAuthType: 'serviceAccount',
  vertexRegion: 'europe-west1',
  vertexProjectId: 'project-1',
  vertexServiceAccountJson: { private_key: 'service-account-secret-0001' },
  workersAiAccountId: 'account-1',
  openaiOrganization: 'org-1',
  openaiProject: 'project-1',
  huggingfaceBaseUrl: 'https://models.example.org',
  snowflakeAccount: 'account-1',
  customHost: 'https://models.example.org/v1',
  customHeaders: { 'x-team': 'a', 'x-api-key': 'header-secret-0001' },
  usage_limits: {
    credit_limit: 10,
    type: 'cost',
    alert_threshold: 5,
    periodic_reset: 'monthly',
    next_usage_reset_at: '2030-01-01T00:00:00Z',
  },
  rate_limits: { type: 'requests', unit: 'rpm', value: 100 },
  expires_at: '2090-01-01T00:00:00Z',
  secret_mappings: [],
});

export const examples: Examples = {
  'virtual-keys.list': { callers: both, names: 'query' },
  'virtual-keys.create': {
    callers: both,
    names: 'body',
    body: () => ({ ...changeable(), provider: 'open-ai' }),
  },
  'virtual-keys.read': { callers: both, names: 'query', path },
  'virtual-keys.update': {
    callers: both,
    names: 'query',
    path,
    body: () => ({ ...changeable(), reset_usage: true }),
  },
  'virtual-keys.delete': { callers: both, names: 'query', path },
};
