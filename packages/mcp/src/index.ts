/**
 * MCP without sockets: messages whose bytes are kept, eras and headers, who may use what, lists, pins. Start at
 * `envelope/read-message.ts`.
 */
export { MessageEdit } from './envelope/edit-message.ts';
export {
  assumedVersion,
  isModernVersion,
  legacyVersions,
  metaKeys,
  modernVersions,
  namedMethods,
  sseTransportVersion,
  subjectFields,
  supportedVersions,
} from './envelope/protocol.ts';
export {
  idKey,
  isObject,
  type McpErrorReply,
  type McpMessage,
  type McpNotification,
  type McpRequest,
  type McpResponse,
  type MessageBounds,
  messageBounds,
  type RpcId,
  readMessage,
} from './envelope/read-message.ts';
export { errorReply, faultReply, McpFault, resultReply, rpcCodes } from './fault.ts';
export {
  checkEra,
  type Era,
  eraOf,
  negotiated,
  requestHeaders,
  requireClientCapability,
  unsupportedVersion,
} from './headers/check-era.ts';
export { checkPostHeaders, checkStreamHeaders } from './headers/check-transport.ts';
export {
  decodeHeaderValue,
  encodeHeaderValue,
  type HeaderMap,
  headerValue,
} from './headers/header-value.ts';
export {
  checkParamHeaders,
  type ParamHeader,
  type ParamHeaders,
  paramHeadersFor,
  readParamHeaders,
} from './headers/param-headers.ts';
export { openState, type StateOwner, sealState } from './sealing/request-state.ts';
export {
  createSealer,
  type Sealer,
  sealedBodyLengthMax,
  sealedLengthMax,
} from './sealing/sealer.ts';
export { type SseBlock, SseReader, writeSseEvent } from './streams/sse-reader.ts';
