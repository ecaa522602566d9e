import type { AnswerOf, ExportField } from '@sluice/contracts/admin';

type Log = AnswerOf<'logs.read'>;

/** The fields that were asked for, in their order, as the published log object has them. */
export function exportedRow(fields: readonly ExportField[], log: Log): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field, fieldOf(field, log)]));
}

function fieldOf(field: ExportField, { request, response, metrics, call }: Log): unknown {
  switch (field) {
    case 'request':
      return request;
    case 'response':
      return response;
    case 'call':
      return call ?? null;
    case 'metadata': {
      const values = metrics['metadata.value'];
      return Object.fromEntries(metrics['metadata.key'].map((key, at) => [key, values[at]]));
    }
    default:
      return metrics[field];
  }
}
