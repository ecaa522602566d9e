/**
 * The admin API as data: what each operation takes and answers. Apart from the
 * rest, because building its schemas costs memory and time that a gateway has no use for.
 */
export {
  bearsAddress,
  isDeclaredAddressName,
  settingBearsAddress,
  soundsLikeAddressName,
} from './address-fields.ts';
export type {
  AgentCard,
  CreateAgentIntegrationBody,
  UpdateAgentIntegrationBody,
} from './agents.ts';
export type { AnalyticsQuery } from './analytics.ts';
export type { CreateApiKeyBody, UpdateApiKeyBody } from './api-keys.ts';
export type { ChainFaultReason, ListAuditLogsQuery } from './audit-logs.ts';
export type { JwtSettings, UpdateAuthSettings } from './auth-settings.ts';
export type { CreateConfigBody, UpdateConfigBody } from './configs.ts';
export type { Endpoint } from './endpoint.ts';
export {
  type AdminEndpoints,
  type AnswerOf,
  adminEndpoints,
  type BodyOf,
  type EndpointId,
  type QueryOf,
} from './endpoints.ts';
export { type ErrorForm, errorBodies } from './error-bodies.ts';
export type { GuardrailActions, GuardrailCheck } from './guardrails.ts';
export type {
  CreateIntegrationBody,
  GlobalWorkspaceAccess,
  ListIntegrationsQuery,
  UpdateIntegrationBody,
  UpdateIntegrationModelsBody,
  UpdateIntegrationWorkspacesBody,
} from './integrations.ts';
export type { AcceptInviteBody, CreateInviteBody } from './invites.ts';
export type {
  RateLimit,
  RateLimitSetting,
  ShownUsageLimits,
  UsageLimits,
} from './limits.ts';
export { type ExportField, type ExportFilters, exportField } from './log-exports.ts';
export type {
  CreateMcpIntegrationBody,
  McpCapabilityType,
  UpdateMcpIntegrationBody,
} from './mcp-integrations.ts';
export { type MetadataSchema, metadataSchema } from './metadata-schema.ts';
export {
  type NewOrganisation,
  newOrganisation,
  type UpdateExclusionsBody,
  type UpdateOrganisationDefaultsBody,
} from './organisation.ts';
export type { Page } from './paging.ts';
export { appliesTo, type PolicyCondition, type PolicyTarget } from './policy-conditions.ts';
export type {
  CreateProviderBody,
  ListProvidersQuery,
  UpdateProviderBody,
} from './providers.ts';
export type {
  CreateRateLimitsPolicyBody,
  ListRateLimitsPoliciesQuery,
  UpdateRateLimitsPolicyBody,
} from './rate-limits-policies.ts';
export type { IntegrationWorkspacesBody, UserAccessBody } from './registries.ts';
export {
  keyTransitionMsMin,
  type RotationPolicy,
  rotationPeriodMs,
  type SentRotationPolicy,
} from './rotation-policy.ts';
export type { CreateScimMappingBody } from './scim.ts';
export type { SecretMapping, SecretMappingBody } from './secret-mappings.ts';
export { type SecretManagerType, secretManagerAuth } from './secret-references.ts';
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
} from './settings.ts';
export {
  type CreateUsageLimitsPolicyBody,
  type ListUsageLimitsEntitiesQuery,
  type ListUsageLimitsPoliciesQuery,
  policyCreditMin,
  type UpdateUsageLimitsPolicyBody,
  type UsageLimitsPolicyType,
} from './usage-limits-policies.ts';
export {
  type CreateVirtualKeyBody,
  type UpdateVirtualKeyBody,
  type VirtualKeyProviderFields,
  virtualKeyProviderFields,
} from './virtual-keys.ts';
export type { AddMembersBody } from './workspace-members.ts';
export type {
  CreateWorkspaceBody,
  ListWorkspacesQuery,
  UpdateWorkspaceBody,
} from './workspaces.ts';
