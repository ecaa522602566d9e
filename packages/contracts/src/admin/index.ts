/**
 * The admin API as data: what each operation takes and answers. Apart from the
 * rest, because building its schemas costs memory and time that a gateway has no use for.
 */

export { idleParameters, strangeParameters } from '../checks/idle-parameters.ts';
export { headerValue } from '../fields/fields.ts';
export { type KeptField, keptFields } from '../fields/kept-only.ts';
export { shapeNameOf } from '../fields/shape-names.ts';
export type { GuardrailActions, GuardrailCheck } from './documents/guardrails.ts';
export {
  type AdminEndpoints,
  type AnswerOf,
  adminEndpoints,
  type BodyOf,
  type EndpointId,
  type LinesId,
  type OperationId,
  type QueryOf,
} from './endpoints.ts';
export { fieldWords, pathHelp, wordOf } from './field-help.ts';
export { idleByResource } from './idle.ts';
export {
  type Access,
  type AuditAction,
  type AuditResource,
  generalFields,
} from './kernel/access.ts';
export {
  bearsAddress,
  isDeclaredAddressName,
  settingBearsAddress,
  soundsLikeAddressName,
} from './kernel/address-fields.ts';
export { type Endpoint, type GuardedEndpoint, linesType } from './kernel/endpoint.ts';
export { type ErrorForm, errorBodies, errorFormOf } from './kernel/error-bodies.ts';
export {
  idempotencyKeyHeader,
  idempotencyKeyMax,
  replayedHeader,
} from './kernel/idempotency.ts';
export type { IdleField, IdleFields } from './kernel/idle-fields.ts';
export type { Page } from './kernel/paging.ts';
export { contradictions } from './kernel/second-names.ts';
export { tags } from './kernel/tags.ts';
export { type UnknownField, unknownFields } from './kernel/unknown-fields.ts';
export { groupColumnNames, groupNames } from './ledger/analytics.ts';
export type { ChainFaultReason } from './ledger/audit-logs.ts';
export {
  type ExportField,
  type ExportFilters,
  type ExportFormat,
  exportField,
} from './ledger/log-exports.ts';
export type { AlertWebhook } from './limits/alert-settings.ts';
export { idleGrantLimits } from './limits/idle-limits.ts';
export {
  budgetKind,
  type LimitRules,
  nanoUsdPerUsd,
  type RateLimit,
  type RateLimitSetting,
  rateKind,
  type ShownUsageLimits,
  type UsageLimits,
  type UsageLimitsChange,
  usageLimits,
} from './limits/limits.ts';
export {
  appliesTo,
  conditionKeys,
  type PolicyCondition,
  type PolicyTarget,
} from './limits/policy-conditions.ts';
export {
  policyAmountFault,
  policyCreditMin,
  type UsageLimitsPolicyType,
} from './limits/usage-limits-policies.ts';
export {
  type GlobalWorkspaceAccess,
  generalSettings,
  publishedSettings,
} from './models/integrations.ts';
export type { SecretMapping, SecretMappingBody } from './models/secret-mappings.ts';
export { type SecretManagerType, secretManagerAuth } from './models/secret-references.ts';
export {
  type VirtualKeyProviderFields,
  virtualKeyProviderFields,
} from './models/virtual-keys.ts';
export type { JwtSettings, OidcSettings } from './people/auth-settings.ts';
export { type MetadataSchema, metadataSchema } from './people/metadata-schema.ts';
export {
  type NewOrganisation,
  newOrganisation,
} from './people/organisation.ts';
export {
  changedRotationPolicy,
  keyTransitionMsMin,
  type RotationPolicy,
  rotationPeriodMs,
  type SentRotationPolicy,
} from './people/rotation-policy.ts';
export {
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
export type { AgentCard } from './tools/agents.ts';
export { agentSettingNames } from './tools/agents.ts';
export { mcpSettingNames } from './tools/mcp-configurations.ts';
export { besideAdvice, type McpCapabilityType } from './tools/mcp-integrations.ts';
