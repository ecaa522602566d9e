/**
 * The admin API as data: what each operation takes and answers. Apart from the
 * rest, because building its schemas costs memory and time that a gateway has no use for.
 */

export type { CreateConfigBody, UpdateConfigBody } from './documents/configs.ts';
export type { GuardrailActions, GuardrailCheck } from './documents/guardrails.ts';
export {
  type AdminEndpoints,
  type AnswerOf,
  adminEndpoints,
  type BodyOf,
  type EndpointId,
  type QueryOf,
} from './endpoints.ts';
export {
  bearsAddress,
  isDeclaredAddressName,
  settingBearsAddress,
  soundsLikeAddressName,
} from './kernel/address-fields.ts';
export type { Endpoint } from './kernel/endpoint.ts';
export { type ErrorForm, errorBodies } from './kernel/error-bodies.ts';
export type { Page } from './kernel/paging.ts';
export type { AnalyticsQuery } from './ledger/analytics.ts';
export type { ChainFaultReason, ListAuditLogsQuery } from './ledger/audit-logs.ts';
export { type ExportField, type ExportFilters, exportField } from './ledger/log-exports.ts';
export type {
  RateLimit,
  RateLimitSetting,
  ShownUsageLimits,
  UsageLimits,
} from './limits/limits.ts';
export { appliesTo, type PolicyCondition, type PolicyTarget } from './limits/policy-conditions.ts';
export type {
  CreateRateLimitsPolicyBody,
  ListRateLimitsPoliciesQuery,
  UpdateRateLimitsPolicyBody,
} from './limits/rate-limits-policies.ts';
export {
  type CreateUsageLimitsPolicyBody,
  type ListUsageLimitsEntitiesQuery,
  type ListUsageLimitsPoliciesQuery,
  policyCreditMin,
  type UpdateUsageLimitsPolicyBody,
  type UsageLimitsPolicyType,
} from './limits/usage-limits-policies.ts';
export type {
  CreateIntegrationBody,
  GlobalWorkspaceAccess,
  ListIntegrationsQuery,
  UpdateIntegrationBody,
  UpdateIntegrationModelsBody,
  UpdateIntegrationWorkspacesBody,
} from './models/integrations.ts';
export type {
  CreateProviderBody,
  ListProvidersQuery,
  UpdateProviderBody,
} from './models/providers.ts';
export type { SecretMapping, SecretMappingBody } from './models/secret-mappings.ts';
export { type SecretManagerType, secretManagerAuth } from './models/secret-references.ts';
export {
  type CreateVirtualKeyBody,
  type UpdateVirtualKeyBody,
  type VirtualKeyProviderFields,
  virtualKeyProviderFields,
} from './models/virtual-keys.ts';
export type { CreateApiKeyBody, UpdateApiKeyBody } from './people/api-keys.ts';
export type { JwtSettings, UpdateAuthSettings } from './people/auth-settings.ts';
export type { AcceptInviteBody, CreateInviteBody } from './people/invites.ts';
export { type MetadataSchema, metadataSchema } from './people/metadata-schema.ts';
export {
  type NewOrganisation,
  newOrganisation,
  type UpdateExclusionsBody,
  type UpdateOrganisationDefaultsBody,
} from './people/organisation.ts';
export {
  keyTransitionMsMin,
  type RotationPolicy,
  rotationPeriodMs,
  type SentRotationPolicy,
} from './people/rotation-policy.ts';
export type { CreateScimMappingBody } from './people/scim.ts';
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
} from './people/settings.ts';
export type { AddMembersBody } from './people/workspace-members.ts';
export type {
  CreateWorkspaceBody,
  ListWorkspacesQuery,
  UpdateWorkspaceBody,
} from './people/workspaces.ts';
export type {
  AgentCard,
  CreateAgentIntegrationBody,
  UpdateAgentIntegrationBody,
} from './tools/agents.ts';
export type {
  CreateMcpIntegrationBody,
  McpCapabilityType,
  UpdateMcpIntegrationBody,
} from './tools/mcp-integrations.ts';
export type { IntegrationWorkspacesBody, UserAccessBody } from './tools/registry.ts';
