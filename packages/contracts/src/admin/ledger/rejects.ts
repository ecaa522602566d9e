import { z } from 'zod';
import { instantText } from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { organisationKey } from '../kernel/access.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { pageQuery } from '../kernel/paging.ts';

const digest = z.string().regex(/^[0-9a-f]{64}$/, 'must be the id of a reject');
const reason = z.string().min(1).max(500);

const reject = z
  .object({
    id: digest,
    reason: z.string(),
    received_at: instantText,
    size: z.int(),
    /** Of the caller's own organisation, for who may read logs, and not too large; else null. */
    record: z.base64().nullable(),
    object: z.literal('ledger-reject'),
  })
  .register(shapeNames, { name: 'LedgerReject' });

export const rejectsEndpoints = {
  'ledger.rejects.list': endpoint({
    operationId: 'getLedgerRejects',
    summary: 'List what arrived at the ledger and could not be read',
    tag: 'Ledger',
    method: 'get',
    path: '/ledger/rejects',
    access: { keys: organisationKey, scopes: ['analytics.view'] },
    query: z
      .object({ reason: reason.optional() })
      .and(pageQuery({ default: 100, min: 1, max: 1000 })),
    answer: z.object({
      object: z.literal('list'),
      total: z.int(),
      data: z.array(reject),
    }),
    added: 'shows what arrived at the ledger and could not be read',
  }),
  'ledger.rejects.replay': endpoint({
    operationId: 'createLedgerRejectsReplay',
    summary: 'Read again what the ledger could not read',
    tag: 'Ledger',
    method: 'post',
    path: '/ledger/rejects/replay',
    access: { keys: organisationKey, scopes: ['organisation_settings.update'] },
    audit: { resourceType: 'ledger_rejects', action: 'replay' },
    body: z
      .object({
        ids: z.array(digest).min(1).max(1000).optional(),
        reason: reason.optional(),
        all: z.literal(true).optional(),
        cursor: digest.optional(),
      })
      .refine(
        ({ ids, reason, all }) =>
          [ids, reason, all].filter((one) => one !== undefined).length === 1,
        'must hold one of ids, reason and all',
      ),
    answer: z.object({
      object: z.literal('ledger-reject-replay'),
      stored: z.int(),
      rejected: z.int(),
      next_cursor: digest.nullable(),
    }),
    added: 'reads rejects of the ledger again, after an upgrade',
  }),
};
