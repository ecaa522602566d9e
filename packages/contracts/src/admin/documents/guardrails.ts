import { z } from 'zod';
import { type CheckDeclaration, checkDeclarations } from '../../checks/index.ts';
import { instantText, nameField, referenceField, slugField } from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { streamFields } from '../../stream-checks.ts';
import { anyKey, byLevel } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';
import { commaList, pageQuery } from '../kernel/paging.ts';

/** One check of a guardrail, its parameters complete. */
export interface GuardrailCheck {
  id: string;
  parameters: Record<string, unknown>;
  name?: string | undefined;
  is_enabled: boolean;
}

const declared: Readonly<Record<string, CheckDeclaration>> = checkDeclarations;

const parametersById: Readonly<Record<string, z.ZodType>> = {
  ...Object.fromEntries(
    Object.entries(declared).flatMap(([id, { aliases = [], parameters }]) =>
      [id, ...aliases].map((spelling) => [spelling, parameters] as const),
    ),
  ),
};

/** The parameters of a check are those of its id; published is a union of all, in which many overlap. */
const checkById = z.discriminatedUnion(
  'id',
  Object.entries(parametersById).map(([id, parameters]) =>
    z.object({
      id: z.literal(id),
      parameters: parameters.prefault({}),
      name: nameField.optional(),
      is_enabled: z.boolean().default(true),
    }),
  ) as unknown as readonly [z.ZodObject<{ id: z.ZodLiteral<string> }>],
  { error: (issue) => (issue.code === 'invalid_union' ? 'is no check that is known' : undefined) },
) as unknown as z.ZodType<GuardrailCheck, { id: string; parameters?: object | undefined }>;
checkById.register(shapeNames, { name: 'GuardrailCheck' });

const checks = z.array(checkById).min(1).max(100);

/** What is recorded of an outcome, null = nothing; `value` is what it counts unless it says so itself. */
const feedback = (value: number) =>
  z.object({
    feedback: z
      .object({
        value: z.number().min(-10).max(10).default(value),
        weight: z.number().min(0).max(1).default(1),
        metadata: z.string().max(4096).default(''),
      })
      .nullable()
      .prefault({}),
  });

/** In published samples, with other values than the schema's: taken as unknown it would block nothing. */
const misspelt = z.never('is not supported: use deny and on_fail').optional();

/** What all its checks together may take. */
const bounds = {
  soft_deny_200: z.boolean().optional(),
  timeout: z.int().min(1).max(600_000).nullish(),
  max_text_length: z.int().min(1).max(100_000_000).nullish(),
};

const actions = z.object({
  onFail: misspelt,
  deny: z.boolean().default(false),
  async: z.boolean().default(false),
  sequential: z.boolean().default(false),
  ...bounds,
  ...streamFields,
  on_success: feedback(5).prefault({}),
  on_fail: feedback(-5).prefault({}),
});
export type GuardrailActions = z.output<typeof actions>;

const summary = z
  .object({
    id: z.uuid(),
    name: z.string(),
    slug: z.string(),
    organisation_id: z.uuid(),
    workspace_id: z.uuid().nullable(),
    status: z.enum(['active', 'archived']),
    created_at: instantText,
    last_updated_at: instantText,
    owner_id: z.uuid(),
    updated_by: z.uuid().nullable(),
  })
  .register(shapeNames, { name: 'GuardrailSummary' });

const shownFeedback = z.object({
  feedback: z.object({ value: z.number(), weight: z.number(), metadata: z.string() }).nullable(),
});

const detail = summary
  .extend({
    checks: z.array(
      z.object({
        id: z.string(),
        /** Secrets among them are masked. */
        parameters: z.record(z.string(), z.unknown()),
        name: z.string().optional(),
        is_enabled: z.boolean(),
      }),
    ),
    actions: z.object({
      deny: z.boolean(),
      async: z.boolean(),
      sequential: z.boolean(),
      ...bounds,
      ...streamFields,
      on_success: shownFeedback,
      on_fail: shownFeedback,
    }),
  })
  .register(shapeNames, { name: 'Guardrail' });

const written = z
  .object({ id: z.uuid(), slug: z.string(), version_id: z.uuid() })
  .register(shapeNames, { name: 'GuardrailWritten' });

const scopesTo = byLevel('organisation_guardrails', 'guardrails');

export const guardrailsEndpoints = {
  'guardrails.list': endpoint({
    operationId: 'listGuardrails',
    summary: 'List guardrails',
    tag: 'Guardrails',
    errorForm: 'with-error',
    method: 'get',
    path: '/guardrails',
    access: { keys: anyKey, scopes: scopesTo('list') },
    query: z
      .object({
        workspace_id: referenceField.optional(),
        organisation_id: z.uuid().optional(),
        ids: commaList().optional(),
      })
      .and(pageQuery({ default: 100, max: 1000 })),
    answer: z.object({ data: z.array(summary), total: z.int() }),
    errors: [400, 403],
  }),
  'guardrails.create': endpoint({
    operationId: 'createGuardrail',
    summary: 'Save a guardrail: checks, and what follows from them',
    tag: 'Guardrails',
    errorForm: 'with-error',
    method: 'post',
    path: '/guardrails',
    access: { keys: anyKey, scopes: scopesTo('create') },
    audit: { resourceType: 'guardrails', action: 'create' },
    body: z.object({
      name: nameField,
      slug: slugField.optional(),
      workspace_id: referenceField.nullish(),
      organisation_id: z.uuid().optional(),
      checks,
      actions,
    }),
    answer: written,
    errors: [400, 403, 500],
  }),
  'guardrails.read': endpoint({
    operationId: 'getGuardrail',
    summary: 'Show one guardrail',
    tag: 'Guardrails',
    errorForm: 'with-error',
    method: 'get',
    path: '/guardrails/{guardrailId}',
    access: { keys: anyKey, scopes: scopesTo('read') },
    answer: detail,
    errors: [403, 500],
  }),
  'guardrails.update': endpoint({
    operationId: 'updateGuardrail',
    summary: 'Change a guardrail',
    tag: 'Guardrails',
    errorForm: 'with-error',
    method: 'put',
    path: '/guardrails/{guardrailId}',
    access: { keys: anyKey, scopes: scopesTo('update') },
    audit: { resourceType: 'guardrails', action: 'update' },
    body: z.object({
      name: nameField.optional(),
      checks: checks.optional(),
      actions: z
        .object({
          onFail: misspelt,
          deny: z.boolean(),
          async: z.boolean(),
          sequential: z.boolean(),
          ...bounds,
          ...streamFields,
          on_success: feedback(5),
          on_fail: feedback(-5),
        })
        .partial()
        .optional(),
    }),
    answer: written,
    errors: [400, 403],
  }),
  'guardrails.delete': endpoint({
    operationId: 'deleteGuardrail',
    summary: 'Delete a guardrail',
    tag: 'Guardrails',
    errorForm: 'with-error',
    method: 'delete',
    path: '/guardrails/{guardrailId}',
    access: { keys: anyKey, scopes: scopesTo('delete') },
    audit: { resourceType: 'guardrails', action: 'delete' },
    answer: nothing,
    errors: [403, 500],
  }),
};
