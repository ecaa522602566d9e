import type { JsonObject } from '@sluice/contracts';
import { rowDialect } from './row-dialects.ts';

/** Of which line a provider's row is, sent or answered; undefined = it does not say. */
export function rowId(providerId: string, row: JsonObject): string | undefined {
  return rowDialect(providerId).read(row)?.customId;
}

/** A line that was never run, as OpenAI tells it, without a line end. */
export function notRunLine(customId: string, error: { code: string; message: string }): Buffer {
  return Buffer.from(
    JSON.stringify({ id: `batch_req_${customId}`, custom_id: customId, response: null, error }),
  );
}
