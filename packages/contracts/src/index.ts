/** The vocabulary the services share: keys, scopes, config documents, policies. Imports nothing of ours. */

export type {
  AgentCard,
  CreateAgentIntegrationBody,
  UpdateAgentIntegrationBody,
} from './admin/agents.ts';
export type { AnalyticsQuery } from './admin/analytics.ts';
export type { CreateApiKeyBody, UpdateApiKeyBody } from './admin/api-keys.ts';
export type { ChainFaultReason, ListAuditLogsQuery } from './admin/audit-logs.ts';
export type { JwtSettings, UpdateAuthSettings } from './admin/auth-settings.ts';
export type { CreateConfigBody, UpdateConfigBody } from './admin/configs.ts';
export type { Endpoint } from './admin/endpoint.ts';
export {
  type AdminEndpoints,
  type AnswerOf,
  adminEndpoints,
  type BodyOf,
  type EndpointId,
  type QueryOf,
} from './admin/endpoints.ts';
export { type ErrorForm, errorBodies } from './admin/error-bodies.ts';
export type { GuardrailActions, GuardrailCheck } from './admin/guardrails.ts';
export type {
  CreateIntegrationBody,
  GlobalWorkspaceAccess,
  ListIntegrationsQuery,
  UpdateIntegrationBody,
  UpdateIntegrationModelsBody,
  UpdateIntegrationWorkspacesBody,
} from './admin/integrations.ts';
export type { AcceptInviteBody, CreateInviteBody } from './admin/invites.ts';
export type {
  RateLimitSetting,
  ShownRateLimit,
  ShownUsageLimits,
  UsageLimits,
} from './admin/limits.ts';
export { type ExportField, type ExportFilters, exportField } from './admin/log-exports.ts';
export type {
  CreateMcpIntegrationBody,
  McpCapabilityType,
  UpdateMcpIntegrationBody,
} from './admin/mcp-integrations.ts';
export { type MetadataSchema, metadataSchema } from './admin/metadata-schema.ts';
export {
  type NewOrganisation,
  newOrganisation,
  type UpdateExclusionsBody,
  type UpdateOrganisationDefaultsBody,
} from './admin/organisation.ts';
export type { Page } from './admin/paging.ts';
export { appliesTo, type PolicyCondition, type PolicyTarget } from './admin/policy-conditions.ts';
export type {
  CreateProviderBody,
  ListProvidersQuery,
  UpdateProviderBody,
} from './admin/providers.ts';
export type {
  CreateRateLimitsPolicyBody,
  ListRateLimitsPoliciesQuery,
  UpdateRateLimitsPolicyBody,
} from './admin/rate-limits-policies.ts';
export type { IntegrationWorkspacesBody, UserAccessBody } from './admin/registries.ts';
export {
  keyTransitionMsMin,
  type RotationPolicy,
  rotationPeriodMs,
  type SentRotationPolicy,
} from './admin/rotation-policy.ts';
export type { CreateScimMappingBody } from './admin/scim.ts';
export type { SecretMapping, SecretMappingBody } from './admin/secret-mappings.ts';
export { type SecretManagerType, secretManagerAuth } from './admin/secret-references.ts';
export {
  type ChangeOrganisationSettingsBody,
  changeOrganisationSettingsBody,
  defaultSettings,
  organisationSettingsAnswer,
  type Settings,
  type SettingsChange,
  type SettingsSection,
  type SharedSection,
  sharedSectionNames,
  workspaceSettingsAnswer,
} from './admin/settings.ts';
export {
  type CreateUsageLimitsPolicyBody,
  type ListUsageLimitsEntitiesQuery,
  type ListUsageLimitsPoliciesQuery,
  policyCreditMin,
  type UpdateUsageLimitsPolicyBody,
  type UsageLimitsPolicyType,
} from './admin/usage-limits-policies.ts';
export {
  type CreateVirtualKeyBody,
  type UpdateVirtualKeyBody,
  type VirtualKeyProviderFields,
  virtualKeyProviderFields,
} from './admin/virtual-keys.ts';
export type { AddMembersBody } from './admin/workspace-members.ts';
export type {
  CreateWorkspaceBody,
  ListWorkspacesQuery,
  UpdateWorkspaceBody,
} from './admin/workspaces.ts';
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
  ChatUsage,
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
} from './chat.ts';
export { noUsage } from './chat.ts';
export {
  type ConfigNode,
  type ConfigParseResult,
  configPath,
  credentialKeys,
  parseConfigDocument,
  type StrategyMode,
  strategyModes,
} from './config.ts';
export { type ConfigCaps, type ConfigFault, configCaps, fanOutFault } from './config-caps.ts';
export { foldConfigNames } from './config-names.ts';
export {
  canonicalHeaderPrefixes,
  canonicalHeaders,
  canonicalPrefix,
  type HeaderPrefixes,
  type HeaderSpelling,
  headerPrefixes,
  headerPrefixesBehindGateway,
  spelledHeaders,
  spelledText,
  spellingOf,
} from './header-names.ts';
export {
  mayGrantRole,
  type OrganisationRole,
  organisationRoles,
  roleAllowsScope,
  roleInWorkspace,
  type Standing,
  standingIn,
  type WorkspaceRole,
  workspaceRoles,
} from './roles.ts';
export { jwtScopes, type KeyType, keyTypes, normaliseScope, scopesOf } from './scopes.ts';
export {
  createServiceKey,
  hashServiceKey,
  isWellFormedServiceKey,
  maskServiceKey,
} from './service-key.ts';
export { type NatsAddresses, parseNatsAddresses, usageStream } from './usage-stream.ts';
