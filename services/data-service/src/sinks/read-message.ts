import { fromBinary } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';

/** Why a message that cannot be read is kept; by it, it is known again for a whole message. */
export const notAMessage = 'not a WriteUsageRequest';

/** The entries that a message of the stream brings; undefined = it is none. */
export function readMessage(bytes: Uint8Array): Uint8Array[] | undefined {
  try {
    return fromBinary(usage.WriteUsageRequestSchema, bytes).records;
  } catch {
    // Kept by the caller as a reject; decoding it again would fail again.
    return undefined;
  }
}
