import { z } from 'zod';
import { descriptionField, instantText, referenceField, searchField } from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { anyKey } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';
import { pageQuery } from '../kernel/paging.ts';

/** Never something that a reference to a version could mean: a number, `latest`, `default`. */
const labelName = z
  .string()
  .min(1)
  .max(255)
  .regex(
    /^(?!latest$)(?!default$)(?!\d+$)[a-zA-Z0-9_-]*[^@\s]?[a-zA-Z0-9_-]*$/,
    'may hold letters, digits, "-" and "_", and must not be a number, "latest" or "default"',
  );
const colorCode = z.string().max(64);

const label = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string(),
    color_code: z.string(),
    organisation_id: z.uuid(),
    /** Not told of universal labels, which are in every workspace. */
    workspace_id: z.uuid().optional(),
    is_universal: z.boolean(),
    created_at: instantText,
    last_updated_at: instantText,
    status: z.string(),
  })
  .register(shapeNames, { name: 'Label' });

const listLabelsResponse = z.object({
  total: z.int(),
  data: z.array(label),
});

const createLabelRequestInput = z.object({
  organisation_id: z.uuid().optional(),
  workspace_id: referenceField.optional(),
  name: labelName,
  description: descriptionField.nullish(),
  color_code: colorCode.nullish(),
});

const createLabelResponse = z.object({
  id: z.uuid(),
});

const updateLabelRequestInput = z.object({
  name: labelName.optional(),
  description: descriptionField.nullish(),
  color_code: colorCode.nullish(),
});

// Nobody named scopes for labels: they are parts of prompts.
export const labelsEndpoints = {
  'labels.list': endpoint({
    operationId: 'listLabels',
    summary: 'List labels of prompts’ versions',
    tag: 'Labels',
    errorForm: 'with-error',
    method: 'get',
    path: '/labels',
    access: { keys: anyKey, scopes: ['prompts.list'] },
    query: z
      .object({
        organisation_id: z.uuid().optional(),
        workspace_id: referenceField.optional(),
        search: searchField.optional(),
      })
      .and(pageQuery({ default: 100, max: 1000 })),
    answer: listLabelsResponse,
    errors: [400, 401, 403, 500],
  }),
  'labels.create': endpoint({
    operationId: 'createLabel',
    summary: 'Make a label',
    tag: 'Labels',
    errorForm: 'with-error',
    method: 'post',
    path: '/labels',
    access: { keys: anyKey, scopes: ['prompts.create'] },
    audit: { resourceType: 'labels', action: 'create' },
    body: createLabelRequestInput,
    answer: createLabelResponse,
    errors: [400, 401, 403, 500],
  }),
  'labels.read': endpoint({
    operationId: 'getLabel',
    summary: 'Show one label',
    tag: 'Labels',
    errorForm: 'with-error',
    method: 'get',
    path: '/labels/{labelId}',
    access: { keys: anyKey, scopes: ['prompts.read'] },
    query: z.object({
      organisation_id: z.uuid().optional(),
      workspace_id: referenceField.optional(),
    }),
    answer: label,
    errors: [400, 401, 403, 404, 500],
  }),
  'labels.update': endpoint({
    operationId: 'updateLabel',
    summary: 'Change a label',
    tag: 'Labels',
    errorForm: 'with-error',
    method: 'put',
    path: '/labels/{labelId}',
    access: { keys: anyKey, scopes: ['prompts.update'] },
    audit: { resourceType: 'labels', action: 'update' },
    body: updateLabelRequestInput,
    answer: nothing,
    errors: [400, 401, 403, 404, 500],
  }),
  'labels.delete': endpoint({
    operationId: 'deleteLabel',
    summary: 'Delete a label',
    tag: 'Labels',
    errorForm: 'with-error',
    method: 'delete',
    path: '/labels/{labelId}',
    access: { keys: anyKey, scopes: ['prompts.delete'] },
    audit: { resourceType: 'labels', action: 'delete' },
    answer: nothing,
    errors: [400, 401, 403, 404, 500],
  }),
};
