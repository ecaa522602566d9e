import { randomUUID } from 'node:crypto';
import { adminOnly, both, type Context, type Examples } from '../../example.ts';

/** Sections opened to workspaces, so that their settings can be changed. */
async function openSections({ admin }: Context): Promise<void> {
  const body = { workspace_overrides: { prompts: true, request_logging: true } };
  await admin.put('/admin/organisation/settings', body).expect(200);
}

/** A guardrail of the organisation, made without its operation: that is another resource's. */
async function guardrail({ h, organisationId, ownerId }: Context): Promise<string> {
  const id = randomUUID();
  await h.db.guardrail.create({
    data: { id, organisationId, slug: `pg-${id}`, name: 'Of the organisation', ownerId },
  });
  return `pg-${id}`;
}

const exclusions = {
  read: {
    callers: adminOnly,
    query: ({ organisationId }: Context) => ({ organisation_id: organisationId }),
  },
  update: {
    callers: adminOnly,
    body: ({ organisationId, workspaceSlug }: Context) => ({
      organisation_id: organisationId,
      workspaces: [{ workspace_id: workspaceSlug, excluded: true }],
      override_existing: false,
    }),
  },
};

export const examples: Examples = {
  'organisation.read': { callers: adminOnly },
  'organisation.update': { callers: adminOnly, body: () => ({ name: 'Another name' }) },
  'organisation.settings.read': { callers: adminOnly },
  'organisation.settings.update': {
    callers: adminOnly,
    body: () => ({
      prompts: { membersWritePrompts: true, managersWritePrompts: null },
      user_keys: { user_api_key_ttl: 86_400 },
      export_settings: { deniedFields: ['request'] },
      request_logging: { mode: 'full' },
      workspace_overrides: { prompts: true },
    }),
  },
  'workspaces.settings.read': {
    callers: both,
    path: async ({ workspaceId, workspaceSlug }) => [
      { workspaceId },
      { workspaceId: workspaceSlug },
    ],
  },
  'workspaces.settings.update': {
    callers: both,
    path: async (context) => {
      await openSections(context);
      return [{ workspaceId: context.workspaceId }, { workspaceId: context.workspaceSlug }];
    },
    body: () => ({
      prompts: { membersWritePrompts: true },
      request_logging: { mode: 'metrics' },
    }),
  },
  'organisation.defaults.read': { callers: adminOnly },
  'organisation.defaults.update': {
    callers: adminOnly,
    body: async (context) => ({
      input_guardrails: [await guardrail(context)],
      output_guardrails: [],
    }),
  },
  'exclusions.input-guardrails.read': exclusions.read,
  'exclusions.input-guardrails.update': exclusions.update,
  'exclusions.output-guardrails.read': exclusions.read,
  'exclusions.output-guardrails.update': exclusions.update,
};
