import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { adminOnly, both, type Context, type Examples, made } from '../../example.ts';

const settings = {
  name: 'Travel',
  description: 'Books trips',
  url: 'https://agent.example.org/a2a',
  auth_type: 'headers',
  configurations: { custom_headers: { Authorization: 'Bearer token-of-the-agent' } },
  secret_mappings: [],
  agent_card: {
    name: 'Travel agent',
    url: 'https://agent.example.org/a2a',
    skills: [{ id: 'book', name: 'Book' }],
  },
};

/** One of the default workspace: both kinds of key reach it. */
async function integration(context: Context) {
  const { id, slug } = await made(context.workspace, 'agent-integrations.create', settings);
  return { id: id ?? '', slug: slug ?? '' };
}

async function named(context: Context) {
  const { id, slug } = await integration(context);
  return [{ agentIntegrationId: id }, { agentIntegrationId: slug }];
}

/** One of the organisation, which can be opened to workspaces. */
async function ofOrganisation({ admin }: Context) {
  const { id, slug } = await made(admin, 'agent-integrations.create', settings);
  return [{ agentIntegrationId: id ?? '' }, { agentIntegrationId: slug ?? '' }];
}

async function server(context: Context) {
  const { id: agent_integration_id } = await integration(context);
  const { id, slug } = await made(context.workspace, 'agent-servers.create', {
    name: 'Travel',
    agent_integration_id,
  });
  return [{ agentServerId: id ?? '' }, { agentServerId: slug ?? '' }];
}

let address: Promise<string> | undefined;

/** An agent that shows its card. It ends with the test. */
function agentAddress(): Promise<string> {
  address ??= new Promise((resolve) => {
    const agent = createServer((_, res) => res.end(JSON.stringify(settings.agent_card)));
    agent.listen(0, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${(agent.address() as AddressInfo).port}`);
    });
    agent.unref();
  });
  return address;
}

const texts = { name: 'Trips', description: 'Books trips of ours' };
const skills = () => ({ skills: [{ id: 'book', enabled: false }] });

export const examples: Examples = {
  'agent-integrations.list': {
    callers: both,
    names: 'query',
    query: ({ organisationId }) => ({
      organisation_id: organisationId,
      type: 'all',
      search: 'travel',
    }),
  },
  'agent-integrations.create': {
    callers: both,
    names: 'body',
    body: ({ organisationId }) => ({
      ...settings,
      organisation_id: organisationId,
      slug: `made-${crypto.randomUUID()}`,
    }),
  },
  'agent-integrations.read': { callers: both, path: named },
  'agent-integrations.update': { callers: both, path: named, body: () => settings },
  'agent-integrations.delete': { callers: both, path: named },
  'agent-integrations.workspaces.list': {
    callers: both,
    path: named,
    query: () => ({ version: '2' }),
  },
  'agent-integrations.workspaces.update': {
    callers: adminOnly,
    path: ofOrganisation,
    body: ({ workspaceSlug }) => ({
      workspaces: [{ id: workspaceSlug, enabled: true }],
      global_workspace_access: { enabled: true },
      override_existing_workspace_access: true,
    }),
  },
  'agent-integrations.skills.list': { callers: both, path: named },
  'agent-integrations.skills.update': { callers: both, path: named, body: skills },
  'agent-integrations.fetch-card': {
    callers: both,
    body: async () => ({ url: await agentAddress() }),
  },
  'agent-servers.list': {
    callers: both,
    names: 'query',
    query: () => ({ id: 'travel,others', search: 'travel' }),
  },
  'agent-servers.create': {
    callers: both,
    names: 'body',
    body: async (context) => ({
      ...texts,
      slug: `made-${crypto.randomUUID()}`,
      agent_integration_id: (await integration(context)).slug,
    }),
  },
  'agent-servers.read': { callers: both, path: server },
  'agent-servers.update': { callers: both, path: server, body: () => texts },
  'agent-servers.delete': { callers: both, path: server },
  'agent-servers.skills.list': { callers: both, path: server },
  'agent-servers.skills.update': { callers: both, path: server, body: skills },
  'agent-servers.user-access.list': {
    callers: both,
    path: server,
    query: () => ({ search: 'owner' }),
  },
  'agent-servers.user-access.update': {
    callers: both,
    path: server,
    body: ({ ownerId }) => ({
      user_access: [{ user_id: ownerId, enabled: false }],
      default_user_access: 'deny',
    }),
  },
  'agent-servers.card.read': { callers: both, path: server },
};
