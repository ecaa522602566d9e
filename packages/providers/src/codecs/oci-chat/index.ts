/**
 * Chat of Oracle Cloud's generative AI, as an upstream. `encode-request.ts`
 * makes the envelope, `encode-generic.ts` and `encode-cohere.ts` what is in it.
 */

import { readVendorError } from '../../errors/read-vendor-error.ts';
import type { UpstreamCodec } from '../chat-codec.ts';
import { OciStreamDecoder } from './decode-stream.ts';
import { encodeRequest } from './encode-request.ts';
import { decodeReply } from './reply.ts';

export const ociChat: UpstreamCodec = {
  format: 'oci-chat',
  encodeRequest,
  decodeReply,
  decodeError: readVendorError,
  openDecoder: () => new OciStreamDecoder(),
};
