import { z } from 'zod';
import { shapeNames } from '../../fields/shape-names.ts';
import { organisationKey } from '../kernel/access.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { pageQuery } from '../kernel/paging.ts';

const day = z.iso.date();

const seal = z
  .object({
    sequence: z.int(),
    /** `part` = of a workspace and a day of records; `day` = their sum, which ends what was sealed for a day. */
    kind: z.enum(['part', 'day']),
    day,
    workspace_id: z.string().nullable(),
    /** Earlier than the day: they came after that day was sealed. */
    records_day: day,
    records: z.int(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    cost: z.number(),
    adjustments: z.int(),
    adjusted_cost: z.number(),
    hash: z.string(),
    object: z.literal('ledger-seal'),
  })
  .register(shapeNames, { name: 'LedgerSeal' });

const faultReasons = [
  'altered',
  'removed',
  'added',
  'replaced',
  'seal-altered',
  'seal-missing',
  'seal-unlinked',
] as const;

const fault = z.object({
  reason: z.enum(faultReasons),
  day,
  workspace_id: z.string(),
  /** Of a seal. */
  sequence: z.int().optional(),
  /** Of rows. */
  table: z.enum(['usage_records', 'usage_adjustments']).optional(),
  records_day: day.optional(),
  hour: z.int().optional(),
  rows: z.int().optional(),
  record_id: z.uuid().optional(),
});

export const sealsEndpoints = {
  'ledger.seals.list': endpoint({
    operationId: 'getLedgerSeals',
    summary: 'List the sealed totals of workspaces and days',
    tag: 'Ledger',
    method: 'get',
    path: '/ledger/seals',
    access: { keys: organisationKey, scopes: ['analytics.view'] },
    query: pageQuery({ default: 100, min: 1, max: 1000 }),
    answer: z.object({
      object: z.literal('list'),
      total: z.int(),
      data: z.array(seal),
    }),
    added: 'shows the sealed totals of each workspace and day',
  }),
  'ledger.seals.verify': endpoint({
    operationId: 'getLedgerVerify',
    summary: 'Prove that the sealed records are whole',
    tag: 'Ledger',
    method: 'get',
    path: '/ledger/verify',
    access: { keys: organisationKey, scopes: ['analytics.view'] },
    query: z.object({
      since: day.optional().meta({ description: 'Records are compared from this day on.' }),
    }),
    answer: z.object({
      object: z.literal('ledger-verification'),
      organisation_id: z.uuid(),
      valid: z.boolean(),
      entries: z.int(),
      sealed_to: day.nullable(),
      last_sequence: z.int().nullable(),
      /** Kept elsewhere, it shows later that the whole chain was not written anew. */
      head_hash: z.string(),
      faults: z.array(fault),
      kept_from: day.nullable(),
      late: z.array(
        z.object({
          workspace_id: z.string(),
          records_day: day,
          records: z.int(),
          adjustments: z.int(),
        }),
      ),
    }),
    added: 'proves that no sealed record of the ledger was altered, removed or added',
  }),
};
