import type { JsonObject } from '../../contract.ts';
import { stringOf } from '../../json/json-access.ts';
import type { VendorBatches } from './vendor-batches.ts';

/** OpenAI's own, and whoever has them at its paths: only the output has no path there. */
export const openAiBatches: VendorBatches = {
  output: (batch) => filesOfResults(batch),
};

/** The files that a batch names: answers, then errors. */
export function filesOfResults({ output_file_id: output, error_file_id: errors }: JsonObject) {
  return [stringOf(output), stringOf(errors)].flatMap((id) =>
    id === undefined || id === '' ? [] : [{ kind: 'file' as const, id }],
  );
}
