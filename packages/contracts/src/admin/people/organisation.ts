import { z } from 'zod';
import { emailField, instantText, nameField, referenceField } from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { anyKey, organisationKey } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';
import {
  changeOrganisationSettingsBody,
  changeSettingsBody,
  organisationSettingsAnswer,
  workspaceSettingsAnswer,
} from './settings.ts';

const organisation = z
  .object({
    object: z.literal('organisation'),
    id: z.uuid(),
    name: z.string(),
    created_at: instantText,
    last_updated_at: instantText,
    /** Active ones. */
    workspaces: z.int(),
    users: z.int(),
  })
  .register(shapeNames, { name: 'Organisation' });

/** What an operator says of an organisation that is to be made; there is no operation for it. */
export const newOrganisation = z.object({ name: nameField, ownerEmail: emailField });
export type NewOrganisation = z.infer<typeof newOrganisation>;

const guardrailRef = z.object({ id: z.uuid(), slug: z.string() });

const organisationDefaults = z
  .object({
    input_guardrails: z.array(guardrailRef),
    output_guardrails: z.array(guardrailRef),
  })
  .register(shapeNames, { name: 'OrganisationDefaults' });

/** Named by UUID or slug, or sent back as it is shown. */
const guardrailList = z
  .array(z.union([referenceField, guardrailRef.transform(({ id }) => id)]))
  .max(100)
  .nullish();

export const updateOrganisationDefaultsBody = z.object({
  input_guardrails: guardrailList,
  output_guardrails: guardrailList,
});

/** The workspaces that are exempt, in the form in which they are sent. */
const exclusions = z
  .object({
    organisation_id: z.uuid(),
    workspaces: z.array(z.object({ workspace_id: z.uuid(), excluded: z.literal(true) })),
  })
  .register(shapeNames, { name: 'GuardrailExclusions' });

const exclusionsQuery = z.object({ organisation_id: z.uuid().optional() });

export const updateExclusionsBody = z.object({
  organisation_id: z.uuid().optional(),
  workspaces: z.array(z.object({ workspace_id: referenceField, excluded: z.boolean() })).max(1000),
  override_existing: z.boolean().default(false),
});

export const organisationEndpoints = {
  'organisation.read': endpoint({
    operationId: 'getOrganisation',
    summary: 'Show the organisation',
    added: 'an organisation is made by its operator; this is how its admins see it',
    tag: 'Organisation',
    method: 'get',
    path: '/admin/organisation',
    access: { keys: organisationKey, scopes: ['organisation_settings.read'] },
    answer: organisation,
  }),
  'organisation.update': endpoint({
    operationId: 'updateOrganisation',
    summary: 'Rename the organisation',
    added: 'how its admins rename it',
    tag: 'Organisation',
    method: 'put',
    path: '/admin/organisation',
    access: { keys: organisationKey, scopes: ['organisation_settings.update'] },
    audit: { resourceType: 'organisation', action: 'update' },
    body: z.object({ name: nameField.optional() }).prefault({}),
    answer: nothing,
  }),
  'organisation.settings.read': endpoint({
    operationId: 'getOrganisationSettings',
    summary: 'Show the settings of the organisation',
    added: 'security settings are known by name only; no way to read them is published',
    tag: 'Organisation',
    method: 'get',
    path: '/admin/organisation/settings',
    access: { keys: organisationKey, scopes: ['organisation_settings.read'] },
    answer: organisationSettingsAnswer,
  }),
  'organisation.settings.update': endpoint({
    operationId: 'updateOrganisationSettings',
    summary: 'Change the settings of the organisation',
    added: 'nor one to change them',
    tag: 'Organisation',
    method: 'put',
    path: '/admin/organisation/settings',
    access: { keys: organisationKey, scopes: ['organisation_settings.update'] },
    audit: { resourceType: 'organisation', action: 'update' },
    body: changeOrganisationSettingsBody.prefault({}),
    answer: nothing,
  }),
  'workspaces.settings.read': endpoint({
    operationId: 'getWorkspaceSettings',
    summary: 'Show the settings that hold in a workspace',
    added: 'what holds in a workspace, its own decisions included',
    tag: 'Workspaces',
    method: 'get',
    path: '/admin/workspaces/{workspaceId}/settings',
    access: { keys: anyKey, scopes: ['workspaces.read'] },
    answer: workspaceSettingsAnswer,
  }),
  'workspaces.settings.update': endpoint({
    operationId: 'updateWorkspaceSettings',
    summary: 'Change the settings that a workspace may set for itself',
    added: 'how a workspace decides for itself in the sections that are open to it',
    tag: 'Workspaces',
    method: 'put',
    path: '/admin/workspaces/{workspaceId}/settings',
    access: { keys: anyKey, scopes: ['workspaces.update'] },
    audit: { resourceType: 'workspaces', action: 'update' },
    body: changeSettingsBody.prefault({}),
    answer: nothing,
  }),
  'organisation.defaults.read': endpoint({
    operationId: 'getOrganisationDefaults',
    summary: 'Show the guardrails of all workspaces',
    tag: 'Organisation',
    method: 'get',
    path: '/admin/organisation/defaults',
    access: { keys: organisationKey, scopes: ['organisation_settings.read'] },
    answer: organisationDefaults,
  }),
  'organisation.defaults.update': endpoint({
    operationId: 'updateOrganisationDefaults',
    summary: 'Set the guardrails of all workspaces',
    tag: 'Organisation',
    method: 'put',
    path: '/admin/organisation/defaults',
    access: { keys: organisationKey, scopes: ['organisation_settings.update'] },
    audit: { resourceType: 'organisation', action: 'update' },
    body: updateOrganisationDefaultsBody,
    answer: nothing,
  }),
  'exclusions.input-guardrails.read': endpoint({
    operationId: 'listInputGuardrailExclusions',
    summary: 'List the workspaces that are spared the organisation’s checks of requests',
    tag: 'Workspace Exclusions',
    method: 'get',
    path: '/workspace-exclusions/input-guardrails',
    access: { keys: organisationKey, scopes: ['organisation_exclusions.list'] },
    query: exclusionsQuery,
    answer: exclusions,
  }),
  'exclusions.input-guardrails.update': endpoint({
    operationId: 'updateInputGuardrailExclusions',
    summary: 'Set which workspaces are spared the organisation’s checks of requests',
    tag: 'Workspace Exclusions',
    method: 'put',
    path: '/workspace-exclusions/input-guardrails',
    access: { keys: organisationKey, scopes: ['organisation_exclusions.update'] },
    audit: { resourceType: 'organisation', action: 'update' },
    body: updateExclusionsBody,
    answer: nothing,
  }),
  'exclusions.output-guardrails.read': endpoint({
    operationId: 'listOutputGuardrailExclusions',
    summary: 'List the workspaces that are spared the organisation’s checks of replies',
    tag: 'Workspace Exclusions',
    method: 'get',
    path: '/workspace-exclusions/output-guardrails',
    access: { keys: organisationKey, scopes: ['organisation_exclusions.list'] },
    query: exclusionsQuery,
    answer: exclusions,
  }),
  'exclusions.output-guardrails.update': endpoint({
    operationId: 'updateOutputGuardrailExclusions',
    summary: 'Set which workspaces are spared the organisation’s checks of replies',
    tag: 'Workspace Exclusions',
    method: 'put',
    path: '/workspace-exclusions/output-guardrails',
    access: { keys: organisationKey, scopes: ['organisation_exclusions.update'] },
    audit: { resourceType: 'organisation', action: 'update' },
    body: updateExclusionsBody,
    answer: nothing,
  }),
};
