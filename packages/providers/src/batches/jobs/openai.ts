import { stringOf } from '../../json/json-access.ts';
import type { VendorBatches } from './vendor-batches.ts';

/** OpenAI's own, and whoever has them at its paths: only the output has no path there. */
export const openAiBatches: VendorBatches = {
  output(batch) {
    const files = [stringOf(batch.output_file_id), stringOf(batch.error_file_id)];
    return files.flatMap((id) =>
      id === undefined || id === '' ? [] : [{ kind: 'file' as const, id }],
    );
  },
};
