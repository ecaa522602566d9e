import { z } from 'zod';
import {
  descriptionField,
  flagField,
  instantField,
  instantText,
  metadataField,
  nameField,
  referenceField,
  slugField,
} from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { keyTypes, normaliseScope } from '../../scopes.ts';
import { anyKey } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';
import { commaList, pageQuery } from '../kernel/paging.ts';
import {
  keyRateLimits,
  shownKeyRateLimit,
  shownUsageLimits,
  usageLimits,
  usageLimitsChange,
} from '../limits/limits.ts';
import { keyTransitionMsMin, rotationPolicy, rotationPolicyChange } from './rotation-policy.ts';

/** Scopes of a key that is to be made or changed. */
export const scopesField = z
  .array(z.string().max(128))
  .min(1)
  .max(200)
  .transform((list) => [...new Set(list.map(normaliseScope))]);

const defaults = z.object({
  metadata: metadataField.nullish(),
  config_id: referenceField.nullish(),
  allow_config_override: z.boolean().optional(),
});

const shared = {
  description: descriptionField.nullish(),
  rate_limits: keyRateLimits.nullish(),
  usage_limits: usageLimits.nullish(),
  defaults: defaults.nullish(),
  alert_emails: z.array(z.email().max(320)).max(50).nullish(),
  expires_at: instantField.nullish(),
  rotation_policy: rotationPolicy.nullish(),
};

const createApiKeyBody = z.object({
  name: nameField,
  slug: slugField.optional(),
  scopes: scopesField,
  organisation_id: z.uuid().optional(),
  workspace_id: referenceField.optional(),
  user_id: z.uuid().optional(),
  ...shared,
});

/** The type of a key and its user stay as they were made. */
const updateApiKeyBody = z.object({
  name: nameField.optional(),
  scopes: scopesField.optional(),
  reset_usage: flagField.optional(),
  ...shared,
  usage_limits: usageLimitsChange.nullish(),
  rotation_policy: rotationPolicyChange.nullish(),
});

const rotateApiKeyBody = z.object({
  /** 0 is ours: for a secret that somebody else has. */
  key_transition_period_ms: z
    .int()
    .min(0)
    .refine(
      (ms) => ms === 0 || ms >= keyTransitionMsMin,
      `must be 0, or ${keyTransitionMsMin} at least`,
    )
    .meta({
      description:
        'Milliseconds for which the old secret works on: 1,800,000 at least, or 0 to end it, and any that still works beside it, at once.',
    })
    .optional(),
});

const listApiKeysQuery = z
  .object({
    workspace_id: referenceField.optional(),
    ids: commaList().pipe(z.array(z.uuid())).optional(),
  })
  .and(pageQuery({ default: 100, max: 1000 }));

const apiKey = z
  .object({
    id: z.uuid(),
    /** Masked. */
    key: z.string(),
    name: z.string(),
    /** Ours: names the key in messages about its limits. */
    slug: z.string(),
    description: z.string().optional(),
    type: z.enum(keyTypes),
    organisation_id: z.uuid(),
    workspace_id: z.string().optional(),
    user_id: z.uuid().optional(),
    /** `suspended` is ours. */
    status: z.enum(['active', 'exhausted', 'expired', 'suspended']),
    created_at: instantText,
    last_updated_at: instantText,
    creation_mode: z.enum(['ui', 'api', 'auto']),
    rate_limits: z.array(shownKeyRateLimit),
    usage_limits: shownUsageLimits.optional(),
    reset_usage: z.number(),
    scopes: z.array(z.string()),
    defaults: z.object({
      metadata: z.record(z.string(), z.string()),
      config_id: z.string().optional(),
      allow_config_override: z.boolean(),
    }),
    alert_emails: z.array(z.email()),
    expires_at: instantText.optional(),
    object: z.literal('api-key'),
    last_reset_at: instantText.nullable(),
    last_rotated_at: instantText.nullable(),
    rotation_policy: z
      .object({
        rotation_period: z.enum(['weekly', 'monthly']).nullable(),
        rotation_period_days: z.int().nullable(),
        next_rotation_at: instantText.nullable(),
        key_transition_period_ms: z.int(),
        status: z.string(),
      })
      .nullable(),
  })
  .register(shapeNames, { name: 'ApiKey' });

/** Keys are guarded by the scopes of the kind of key that is handled. */
const scopesTo = (action: string) => ({
  'organisation-service': [`organisation_service_api_keys.${action}`],
  'workspace-service': [`workspace_service_api_keys.${action}`],
  'workspace-user': [`workspace_user_api_keys.${action}`],
});

export const apiKeysEndpoints = {
  'api-keys.create': endpoint({
    operationId: 'postApiKeysTypeSubType',
    summary: 'Make a key; its secret is shown this once',
    tag: 'Api-Keys',
    method: 'post',
    path: '/api-keys/{type}/{sub-type}',
    access: { keys: anyKey, scopes: scopesTo('create') },
    audit: { resourceType: 'api_keys', action: 'create' },
    pathValues: { type: ['organisation', 'workspace'], 'sub-type': ['service', 'user'] },
    body: createApiKeyBody,
    answer: z.object({ id: z.uuid(), key: z.string(), object: z.literal('api-key') }),
  }),
  'api-keys.list': endpoint({
    operationId: 'getApiKeys',
    summary: 'List keys',
    tag: 'Api-Keys',
    method: 'get',
    path: '/api-keys',
    access: { keys: anyKey, scopes: scopesTo('list') },
    query: listApiKeysQuery,
    answer: z.object({ total: z.int(), object: z.literal('list'), data: z.array(apiKey) }),
  }),
  'api-keys.read': endpoint({
    operationId: 'getApiKeysId',
    summary: 'Show one key, its secret masked',
    tag: 'Api-Keys',
    method: 'get',
    path: '/api-keys/{id}',
    access: { keys: anyKey, scopes: scopesTo('read') },
    answer: apiKey,
  }),
  'api-keys.update': endpoint({
    operationId: 'putApiKeysId',
    summary: 'Change a key: name, scopes, limits, defaults',
    tag: 'Api-Keys',
    method: 'put',
    path: '/api-keys/{id}',
    access: { keys: anyKey, scopes: scopesTo('update') },
    audit: { resourceType: 'api_keys', action: 'update' },
    body: updateApiKeyBody.prefault({}),
    answer: nothing,
  }),
  'api-keys.delete': endpoint({
    operationId: 'deleteApiKeysId',
    summary: 'Delete a key; it is refused from then on',
    tag: 'Api-Keys',
    method: 'delete',
    path: '/api-keys/{id}',
    access: { keys: anyKey, scopes: scopesTo('delete') },
    audit: { resourceType: 'api_keys', action: 'delete' },
    answer: nothing,
  }),
  'api-keys.rotate': endpoint({
    operationId: 'postApiKeysIdRotate',
    summary: 'Replace the secret of a key',
    tag: 'Api-Keys',
    method: 'post',
    path: '/api-keys/{id}/rotate',
    access: { keys: anyKey, scopes: scopesTo('rotate') },
    audit: { resourceType: 'api_keys', action: 'rotate' },
    body: rotateApiKeyBody.prefault({}),
    answer: z.object({ id: z.uuid(), key: z.string(), key_transition_expires_at: instantText }),
  }),
  'api-keys.suspend': endpoint({
    operationId: 'suspendApiKey',
    summary: 'Suspend a key',
    tag: 'Api-Keys',
    method: 'post',
    path: '/api-keys/{id}/suspend',
    access: { keys: anyKey, scopes: scopesTo('update') },
    audit: { resourceType: 'api_keys', action: 'suspend' },
    answer: nothing,
    added: 'a key that may have leaked is stopped at once, without taking it from whoever uses it',
  }),
  'api-keys.resume': endpoint({
    operationId: 'resumeApiKey',
    summary: 'Let a suspended key work again',
    tag: 'Api-Keys',
    method: 'post',
    path: '/api-keys/{id}/resume',
    access: { keys: anyKey, scopes: scopesTo('update') },
    audit: { resourceType: 'api_keys', action: 'resume' },
    answer: nothing,
    added: 'ends a suspension',
  }),
};
