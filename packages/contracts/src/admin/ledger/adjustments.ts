import { z } from 'zod';
import { instantField, instantText } from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { organisationKey } from '../kernel/access.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { inOrder } from '../kernel/in-order.ts';
import { pageQuery } from '../kernel/paging.ts';

/** US cents and tokens of one correction: beyond these somebody slipped. */
const centsMax = 100_000_000;
const tokensMax = 1_000_000_000;

const cents = z.number().min(-centsMax).max(centsMax);
const tokens = z.int().min(-tokensMax).max(tokensMax);

const adjustment = z
  .object({
    id: z.uuid(),
    record_id: z.uuid(),
    workspace_id: z.string(),
    created_at: instantText,
    /** When the request arrived. */
    record_created_at: instantText,
    cost: z.number(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    reason: z.string(),
    /** Null where a command of the operator's made it. */
    author: z.string().nullable(),
    price_version: z.string().nullable(),
    object: z.literal('ledger-adjustment'),
  })
  .register(shapeNames, { name: 'LedgerAdjustment' });

export const adjustmentsEndpoints = {
  'ledger.adjustments.create': endpoint({
    operationId: 'createLedgerAdjustment',
    summary: 'Add to or take from what an attempt cost',
    tag: 'Ledger',
    method: 'post',
    path: '/ledger/adjustments',
    access: { keys: organisationKey, scopes: ['organisation_settings.update'] },
    audit: { resourceType: 'ledger_adjustments', action: 'create' },
    body: z
      .object({
        id: z.uuid().toLowerCase().optional(),
        record_id: z.uuid().toLowerCase(),
        cost: cents.optional(),
        input_tokens: tokens.optional(),
        output_tokens: tokens.optional(),
        reason: z.string().trim().min(1).max(500),
        price_version: z.string().min(1).max(255).optional(),
      })
      .refine(
        ({ cost, input_tokens, output_tokens }) =>
          (cost === undefined) !== (input_tokens === undefined && output_tokens === undefined),
        'must hold either cost, or input_tokens or output_tokens',
      ),
    answer: adjustment,
    added: 'adds to what an attempt cost, and leaves its record as it is',
  }),
  'ledger.adjustments.list': endpoint({
    operationId: 'getLedgerAdjustments',
    summary: 'List what was added to the costs of attempts later',
    tag: 'Ledger',
    method: 'get',
    path: '/ledger/adjustments',
    access: { keys: organisationKey, scopes: ['analytics.view'] },
    query: z
      .object({
        record_id: z.uuid().toLowerCase().optional(),
        created_from: instantField.optional(),
        created_to: instantField.optional(),
      })
      .superRefine(inOrder(['created_from', 'created_to']))
      .and(pageQuery({ default: 100, min: 1, max: 1000 })),
    answer: z.object({
      object: z.literal('list'),
      total: z.int(),
      data: z.array(adjustment),
    }),
    added: 'shows what was added to the costs of attempts later',
  }),
};
