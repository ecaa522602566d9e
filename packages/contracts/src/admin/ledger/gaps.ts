import { z } from 'zod';
import { instantField, instantText } from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { organisationKey } from '../kernel/access.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { pageQuery } from '../kernel/paging.ts';

const gap = z
  .object({
    replica_id: z.string(),
    from_sequence: z.int(),
    to_sequence: z.int(),
    missing: z.int(),
    /** Null where the replica told nothing of itself before. */
    since: instantText.nullable(),
    life: z.enum(['alive', 'ended', 'silent', 'untold']),
    object: z.literal('ledger-gap'),
  })
  .register(shapeNames, { name: 'LedgerGap' });

export const gapsEndpoints = {
  'ledger.gaps': endpoint({
    operationId: 'getLedgerGaps',
    summary: 'List usage records that gateways made and the ledger lacks',
    tag: 'Ledger',
    method: 'get',
    path: '/ledger/gaps',
    access: { keys: organisationKey, scopes: ['analytics.view'] },
    query: z
      .object({ heard_since: instantField.optional() })
      .and(pageQuery({ default: 100, min: 1, max: 1000 })),
    answer: z.object({
      object: z.literal('list'),
      total: z.int(),
      data: z.array(gap),
    }),
    added: 'names the usage records that gateways made and the ledger does not have',
  }),
};
