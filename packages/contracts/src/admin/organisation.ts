import { z } from 'zod';
import { endpoint, nothing } from './endpoint.ts';
import { referenceField } from './fields.ts';

const guardrailRef = z.object({
  id: z.string(),
  slug: z.string(),
});

const organisationDefaults = z.object({
  input_guardrails: z.array(guardrailRef),
  output_guardrails: z.array(guardrailRef),
});

const updateOrganisationDefaultsInput = z.object({
  input_guardrails: z.array(z.string()).optional(),
  output_guardrails: z.array(z.string()).optional(),
});

const updateWorkspaceExclusionsInput = z.object({
  organisation_id: z.uuid().optional(),
  workspaces: z.array(
    z.object({
      workspace_id: referenceField,
      excluded: z.boolean(),
    }),
  ),
  override_existing: z.boolean().default(false),
});

export const organisationEndpoints = {
  'organisation.defaults.read': endpoint({
    operationId: 'getOrganisationDefaults',
    tag: 'Organisation',
    method: 'get',
    path: '/admin/organisation/defaults',
    answer: organisationDefaults,
  }),
  'organisation.defaults.update': endpoint({
    operationId: 'updateOrganisationDefaults',
    tag: 'Organisation',
    method: 'put',
    path: '/admin/organisation/defaults',
    body: updateOrganisationDefaultsInput,
    answer: nothing,
  }),
  'exclusions.input-guardrails.read': endpoint({
    operationId: 'listInputGuardrailExclusions',
    tag: 'Workspace Exclusions',
    method: 'get',
    path: '/workspace-exclusions/input-guardrails',
    query: z.object({
      organisation_id: z.uuid().optional(),
    }),
    answer: nothing,
  }),
  'exclusions.input-guardrails.update': endpoint({
    operationId: 'updateInputGuardrailExclusions',
    tag: 'Workspace Exclusions',
    method: 'put',
    path: '/workspace-exclusions/input-guardrails',
    body: updateWorkspaceExclusionsInput,
    answer: nothing,
  }),
  'exclusions.output-guardrails.read': endpoint({
    operationId: 'listOutputGuardrailExclusions',
    tag: 'Workspace Exclusions',
    method: 'get',
    path: '/workspace-exclusions/output-guardrails',
    query: z.object({
      organisation_id: z.uuid().optional(),
    }),
    answer: nothing,
  }),
  'exclusions.output-guardrails.update': endpoint({
    operationId: 'updateOutputGuardrailExclusions',
    tag: 'Workspace Exclusions',
    method: 'put',
    path: '/workspace-exclusions/output-guardrails',
    body: updateWorkspaceExclusionsInput,
    answer: nothing,
  }),
};
