/** The vocabulary the services share: keys, scopes, config documents, policies. Imports nothing of ours. */

export {
  mayGrantRole,
  type OrganisationRole,
  organisationRoles,
  roleAllowsScope,
  roleInWorkspace,
  type Standing,
  seesAllData,
  standingIn,
  type WorkspaceRole,
  workspaceRoles,
} from './admin/people/roles.ts';
export { type Arrival, type Arriving, arrivalReader } from './arrival.ts';
export { billingLine } from './billing-line.ts';
export { type CacheStatus, cacheStatuses } from './cache-status.ts';
export {
  type Changed,
  changedHeader,
  type InForce,
  inForceHeader,
  readChanged,
  unchangedHeader,
  writeChanged,
} from './change-headers.ts';
export type {
  AudioPart,
  CacheControl,
  ChatChoice,
  ChatMessage,
  ChatPart,
  ChatReply,
  ChatRequest,
  ChatStreamEvent,
  ChatTool,
  FilePart,
  FinishReason,
  ForeignPart,
  FunctionTool,
  ImagePart,
  JsonObject,
  JsonValue,
  MediaSource,
  ProviderTool,
  Reasoning,
  RedactedThinkingPart,
  RefusalPart,
  ResponseFormat,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  ToolChoice,
  ToolResultPart,
  VendorFault,
} from './chat.ts';
export { type ChatUsage, noUsage } from './chat-usage.ts';
export {
  type ConfigNode,
  configSchema,
  credentialKeys,
  type StrategyMode,
  strategyModes,
} from './config.ts';
export {
  type ConfigCaps,
  type ConfigFault,
  configCaps,
  fanOutFault,
  storedConfigCaps,
} from './config-caps.ts';
export { idleSettings } from './config-idle.ts';
export { foldConfigNames } from './config-names.ts';
export {
  type ForwardedCaller,
  type ForwardedCallerSeal,
  forwardedCallerHeader,
  forwardedCallerSeal,
} from './forwarded-caller.ts';
export {
  canonicalHeaderPrefixes,
  canonicalHeaders,
  canonicalPrefix,
  type HeaderPrefixes,
  type HeaderSpelling,
  headerPrefixes,
  headerPrefixesBehindGateway,
  lenientInputHeader,
  spelledHeaders,
  spelledText,
  spellingOf,
} from './header-names.ts';
export { type IdleSetting, idleActions } from './idle-actions.ts';
export {
  type BatchLine,
  type BatchStatement,
  batchKeySecret,
  batchLineHeader,
  isJobToken,
  type JobStatement,
  type JobTokenSeal,
  jobTokenLifeMs,
  jobTokenSeal,
  type LookStatement,
  readBatchLine,
  writeBatchLine,
} from './job-token.ts';
export {
  type McpAddress,
  type McpRight,
  mcpChallenge,
  mcpGrantSecret,
  mcpPath,
  mcpResourceMetadataUrl,
  mcpRightsOf,
  mcpScopes,
  mcpScopesSupported,
  mcpTokenType,
  readMcpPath,
} from './mcp-oauth.ts';
export { metadataValueMax } from './metadata-values.ts';
export { endOf, followedWork, lookPathOf } from './operations/followed-work.ts';
export {
  type BarePath,
  barePath,
  type MatchedObject,
  matchObject,
  objectsAt,
} from './operations/match-object.ts';
export type {
  BilledKind,
  BodyKind,
  ErrorShape,
  FollowedWork,
  FollowInterval,
  HookKinds,
  MadeObject,
  ModelOperation,
  NamedObject,
  ObjectFacts,
  ObjectFamily,
  ObjectKind,
  ObjectOperation,
  Operation,
  ToolOperation,
} from './operations/operation.ts';
export {
  type AnsweringFormat,
  type AnsweringFormatOf,
  type CalledId,
  type CalledOperation,
  type CallerFormat,
  type CheckedFormat,
  type CheckedFormatOf,
  type Endpoint,
  type EndpointOperation,
  endpoints,
  type NamedOperation,
  type ObjectOperationId,
  type OperationId,
  objectOperations,
  operationIds,
  operations,
  type StreamableFormat,
  type StreamableFormatOf,
} from './operations/operations.ts';
export { type PublishedOperation, publishedOperations } from './operations/published-operations.ts';
export { type RequestType, requestTypes } from './operations/request-types.ts';
export { rowNames } from './operations/row-names.ts';
export { namedResources, vendorCollections } from './operations/vendor-collections.ts';
export { errorsOf, vendorErrorsAt, vendorTarget } from './operations/vendor-paths.ts';
export { type ConfigParseResult, configPath, parseConfigDocument } from './parse-config.ts';
export {
  agentServerUrl,
  isLoopback,
  mcpServerUrl,
  type PublicAddresses,
  toolBaseUrl,
} from './public-base.ts';
export type { ChargedTokens, OtherModel, ReplyBill, ReplyUnits } from './reply-bill.ts';
export { requestIdHeader, shownRequestIdHeader } from './request-id-headers.ts';
export { isReservedSlug, rootSegment } from './root-paths.ts';
export { jwtScopes, type KeyType, keyTypes, normaliseScope, scopesOf } from './scopes.ts';
export { SeenIds } from './seen-ids.ts';
export {
  createServiceKey,
  hashServiceKey,
  isWellFormedServiceKey,
  maskServiceKey,
  pepperName,
} from './service-key.ts';
export {
  isStoredId,
  type KeptKind,
  type StoredKind,
  storedId,
  uuidOfStored,
} from './stored-ids.ts';
export { holdBounds, type StreamMode, streamModes } from './stream-checks.ts';
export {
  agentHeaderNames,
  hopByHop,
  mcpHeaderNames,
  saysWhoCalls,
  type ToolHeaders,
} from './tool-headers.ts';
export type {
  SentToolPolicy,
  ToolAccess,
  ToolAccessRule,
  ToolPolicy,
  ToolPrice,
  ToolPrices,
} from './tool-policy.ts';
export { toolPriceMax } from './tool-price-max.ts';
export {
  type NatsAddresses,
  parseNatsAddresses,
  usageStream,
  usageStreamConfig,
} from './usage-stream.ts';
export {
  type ExternalAuthConfig,
  externalAuthConfig,
  type IssuerLogin,
  identityClaims,
  identityIssuer,
  identityLifetimeSeconds,
  issuerLoginSecret,
  type JwtValidation,
  jwtValidation,
  toldClaims,
  type UserIdentityForwarding,
  userIdentityForwarding,
} from './user-identity.ts';
