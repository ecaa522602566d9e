import { z } from 'zod';
import { workspaceRoles } from '../roles.ts';
import { descriptionField, metadataField, nameField, referenceField } from './fields.ts';
import { rateLimit, usageLimits } from './limits.ts';
import { commaList, pageQuery } from './paging.ts';

const limits = {
  usage_limits: z.array(usageLimits).max(20).nullish(),
  rate_limits: z.array(rateLimit).max(20).nullish(),
};
const guardrails = z
  .array(referenceField)
  .max(100)
  .transform((list) => [...new Set(list)]);

export const createWorkspaceBody = z.object({
  name: nameField,
  description: descriptionField.nullish(),
  defaults: z.object({ metadata: metadataField.nullish() }).nullish(),
  users: z
    .array(
      z.union([
        z.uuid().transform((id) => ({ id, role: 'member' as const })),
        z.object({ id: z.uuid(), role: z.enum(workspaceRoles).default('member') }),
      ]),
    )
    .max(1000)
    .optional(),
  ...limits,
});
export type CreateWorkspaceBody = z.infer<typeof createWorkspaceBody>;

export const updateWorkspaceBody = z.object({
  name: nameField.optional(),
  description: descriptionField.nullish(),
  defaults: z
    .object({
      metadata: metadataField.nullish(),
      input_guardrails: guardrails.nullish(),
      output_guardrails: guardrails.nullish(),
      user_api_key_config: referenceField.nullish(),
    })
    .nullish(),
  ...limits,
});
export type UpdateWorkspaceBody = z.infer<typeof updateWorkspaceBody>;

export const listWorkspacesQuery = z
  .object({
    name: z.string().max(255).optional(),
    exact_name: z.string().max(255).optional(),
    status: commaList(2)
      .pipe(z.array(z.enum(['active', 'archived'])))
      .optional(),
  })
  .and(pageQuery({ default: 100, max: 1000 }));
export type ListWorkspacesQuery = z.infer<typeof listWorkspacesQuery>;

export const getWorkspaceQuery = z.object({
  name_format: z.enum(['display', 'plain']).default('display'),
});
