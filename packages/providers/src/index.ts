/**
 * Providers and wire formats: pure mapping, no sockets. Start at `contract.ts`
 * (the shapes), then `catalog.ts` (who there is) and `wire-call.ts` (what one
 * attempt does to bodies).
 */
export { authHeaders, type ProviderCredential, withRequestHeaders } from './auth-headers.ts';
export { findProvider, providerIds } from './catalog.ts';
export { assembleStream } from './codecs/assemble.ts';
export { type ReplayOptions, replayAsStream, type StreamableFormat } from './codecs/replay.ts';
export type {
  AuthRecipe,
  CallContext,
  DecodedReply,
  EncodedRequest,
  Endpoint,
  EndpointEntry,
  JsonObject,
  JsonValue,
  ProviderEntry,
  Quirks,
  ReplyFacts,
  StreamFault,
  StreamReader,
  Usage,
  WireCall,
  WireFormat,
} from './contract.ts';
export { isFinalFault } from './final-faults.ts';
export { prepareCall } from './wire-call.ts';
