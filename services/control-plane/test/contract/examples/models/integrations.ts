import { randomBytes } from 'node:crypto';
import { adminOnly, both, type Context, type Examples, made } from '../../example.ts';

const random = () => randomBytes(6).toString('hex');

/** What a model with an address of its own asks for again. */
const credentials = {
  key: 'sk-integration-secret-0001',
  configurations: { custom_headers: { 'x-api-key': 'header-secret-0001' } },
};

const path = async ({ workspace }: Context) => {
  const { id = '', slug = '' } = await made(workspace, 'integrations.create', {
    name: 'Made',
    ai_provider_id: 'openai',
    ...credentials,
  });
  return [{ slug }, { slug: id }];
};

/** Where nobody answers, so that no host is waited for. */
const deafPath = async ({ workspace }: Context) => {
  const { slug = '' } = await made(workspace, 'integrations.create', {
    name: 'Deaf',
    ai_provider_id: 'openai',
    configurations: { custom_host: 'http://127.0.0.1:47113/v1' },
  });
  return [{ slug }];
};

/** Of the organisation, so that it can be opened to workspaces. */
const organisationPath = async ({ admin }: Context) => {
  const body = { name: 'Made', ai_provider_id: 'openai' };
  const { id = '', slug = '' } = await made(admin, 'integrations.create', body);
  return [{ slug }, { slug: id }];
};

const limits = {
  usage_limits: [
    {
      credit_limit: 10,
      type: 'cost',
      alert_threshold: 5,
      periodic_reset: 'monthly',
      next_usage_reset_at: '2030-01-01T00:00:00Z',
    },
  ],
  rate_limits: [{ type: 'requests', unit: 'rpm', value: 100 }],
};

const changeable = () => ({
  name: 'An integration',
  key: 'sk-integration-secret-0001',
  description: 'What it is for',
  configurations: {
    openai_organization: 'org-1',
    openai_project: 'proj-1',
    custom_host: 'https://models.example.org/v1',
    custom_headers: { 'x-team': 'a', 'x-api-key': 'header-secret-0001' },
  },
  secret_mappings: [],
  pricing_adjustments: { multiplier: { default: 1.5, image: { default: 2 } } },
  tags: { team: 'a' },
});

export const examples: Examples = {
  'integrations.test': { callers: both, path: deafPath },
  'integrations.list': {
    callers: both,
    names: 'query',
    query: () => ({ type: 'all', tags: '{}' }),
  },
  'integrations.create': {
    callers: both,
    names: 'body',
    body: () => ({
      ...changeable(),
      ai_provider_id: 'openai',
      slug: `i-${random()}`,
      create_default_provider: true,
      default_provider_slug: `p-${random()}`,
    }),
  },
  'integrations.read': { callers: both, path },
  'integrations.update': { callers: both, path, body: changeable },
  'integrations.delete': { callers: both, path },
  'integrations.models.list': { callers: both, path },
  'integrations.models.update': {
    callers: both,
    path,
    body: () => ({
      models: [
        {
          slug: 'gpt-4o',
          enabled: true,
          is_custom: true,
          is_finetune: false,
          base_model_slug: 'gpt-4o',
          configurations: {
            custom_host: 'https://models.example.org/v1',
            custom_headers: { 'x-api-key': 'header-secret-0001' },
          },
          pricing_config: {
            type: 'static',
            pay_as_you_go: { request_token: { price: 0.00025 }, response_token: { price: 0.001 } },
          },
        },
      ],
      allow_all_models: false,
      ...credentials,
    }),
  },
  'integrations.models.delete': {
    callers: both,
    path,
    query: () => ({ slugs: 'gpt-4,gpt-3.5-turbo' }),
  },
  'integrations.workspaces.list': { callers: both, path },
  'integrations.workspaces.update': {
    callers: adminOnly,
    path: organisationPath,
    body: ({ workspaceSlug }) => ({
      workspaces: [
        {
          id: workspaceSlug,
          enabled: true,
          ...limits,
          reset_usage: true,
          create_default_provider: true,
          default_provider_slug: `p-${random()}`,
        },
      ],
      global_workspace_access: { enabled: false, ...limits },
      override_existing_workspace_access: true,
      create_default_provider: true,
      default_provider_slug: `p-${random()}`,
    }),
  },
};
