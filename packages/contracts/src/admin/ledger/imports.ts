import { z } from 'zod';
import { organisationKey } from '../kernel/access.ts';
import { endpoint } from '../kernel/endpoint.ts';

const figures = z.object({
  /** What an export does not tell is null. */
  requests: z.int().nullable(),
  input_tokens: z.int().nullable(),
  output_tokens: z.int().nullable(),
  cost: z.number().nullable(),
});

export const importsEndpoints = {
  'ledger.imports.create': endpoint({
    operationId: 'createLedgerImport',
    summary: 'Compare a provider’s own figures with the ledger',
    tag: 'Ledger',
    method: 'post',
    path: '/ledger/imports',
    access: { keys: organisationKey, scopes: ['analytics.view'] },
    body: z.object({
      provider: z.enum(['openai', 'anthropic']),
      data: z.string().min(1).meta({ description: 'The text of the export.' }),
    }),
    answer: z.object({
      object: z.literal('ledger-import'),
      provider: z.enum(['openai', 'anthropic']),
      /** How many lines or results were read. */
      rows: z.int(),
      data: z.array(
        z.object({
          day: z.iso.date(),
          ai_model: z.string(),
          exported: figures,
          ledger: figures,
          /** What was exported less what the ledger has. */
          difference: figures,
        }),
      ),
    }),
    added: 'compares a provider’s usage or cost export with the ledger, a model and day',
  }),
};
