/**
 * MCP without sockets: messages whose bytes are kept, eras and headers, who may use what, lists, pins. Start at
 * `envelope/read-message.ts`.
 */
export { askedBy, refusalOf } from './access/asked-by-message.ts';
export {
  type Asked,
  type Decision,
  type DenyReason,
  decide,
  denyServer,
  type Who,
} from './access/decide.ts';
export { compileGlob, type Glob } from './access/glob.ts';
export {
  type CapabilityRow,
  type CapabilityType,
  capabilityTypes,
  compileServer,
  exposedName,
  type ServerRules,
  type ServerView,
  upstreamName,
} from './access/server-view.ts';
export { declares, mayBeAsked } from './capabilities/asked-of-client.ts';
export {
  advertiseRelayed,
  clientCapabilities,
  type Relayable,
  serverCapabilities,
} from './capabilities/intersect.ts';
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
export { privateResult } from './lists/cache-hints.ts';
export { type FilteredList, type FilterOptions, filterList } from './lists/filter-list.ts';
export { KnownPages } from './lists/known-pages.ts';
export { type ListKind, listKindOf, listKinds } from './lists/list-kinds.ts';
export { prepareCall } from './lists/prepare-call.ts';
export { type ListedItem, type ReadList, readList } from './lists/read-list.ts';
export { ownArguments } from './lists/shown-schema.ts';
export {
  type MemberId,
  type MemberIdKind,
  memberUri,
  mergedUri,
  openMemberId,
  openPageCursor,
  type PageCursor,
  sealMemberId,
  sealPageCursor,
} from './merge/member-ids.ts';
export {
  type AskedOf,
  askedOfMember,
  type MemberView,
  memberRequestId,
  openRequestId,
  openShownUri,
  shownUri,
  toCaller,
  toMember,
} from './merge/member-messages.ts';
export { itemsOfPage, type JoinedKind, joinItems, type PageItem } from './merge/merge-pages.ts';
export {
  type MemberHello,
  mergedCapabilities,
  mergedInstructions,
} from './merge/merged-hello.ts';
export {
  callableName,
  type MemberName,
  type MergedNames,
  mergeNames,
  type PrefixRule,
} from './merge/merged-names.ts';
export { hostileDefinitions } from './pins/hostile-definitions.ts';
export { type ItemFacts, type PageFacts, PinMemory, pinOf } from './pins/pin-of.ts';
export {
  type Finding,
  type FindingKind,
  type ScanContext,
  scanContext,
  scanDefinition,
} from './pins/scan-definition.ts';
export { openState, type StateOwner, sealState } from './sealing/request-state.ts';
export {
  createSealer,
  type Sealer,
  sealedBodyLengthMax,
  sealedLengthMax,
} from './sealing/sealer.ts';
export { type SearchedTool, searchTools } from './search/search-tools.ts';
export { type SseBlock, SseReader, writeSseEvent } from './streams/sse-reader.ts';
