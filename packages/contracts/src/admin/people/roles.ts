import { keyTypes, scopesOf } from '../../scopes.ts';
import type { Settings } from './settings.ts';

/** Who a person is in an organisation and in a workspace, and what that lets their keys do. */
export const organisationRoles = ['owner', 'admin', 'member'] as const;
export type OrganisationRole = (typeof organisationRoles)[number];

export const workspaceRoles = ['admin', 'manager', 'member'] as const;
export type WorkspaceRole = (typeof workspaceRoles)[number];

/** What a person is to a workspace. */
export interface Standing {
  readonly organisationRole: OrganisationRole;
  /** What they act as there. */
  readonly role: WorkspaceRole;
}

/**
 * The role a person acts with in a workspace: owners and admins of the
 * organisation are admins of every workspace; others need a membership.
 */
export function roleInWorkspace(
  organisationRole: string | undefined,
  membership: string | undefined,
): WorkspaceRole | undefined {
  if (organisationRole === 'owner' || organisationRole === 'admin') return 'admin';
  return workspaceRoles.find((role) => role === membership);
}

/** The same, together with who they are in the organisation; `undefined` for who has no place in the workspace. */
export function standingIn(
  organisationRole: string | undefined,
  membership: string | undefined,
): Standing | undefined {
  const role = roleInWorkspace(organisationRole, membership);
  return role === undefined
    ? undefined
    : { role, organisationRole: organisationRole as OrganisationRole };
}

type Condition = boolean | ((settings: Settings) => boolean);

const view = '(read|list|view|render)';
const write = '(create|update|delete|publish|duplicate|copy|rotate)';

/**
 * What managers and members may do with the scopes that their key holds: always,
 * never, or while a setting says so. A scope that is in no row is for admins.
 */
const rules: readonly (readonly [scopes: string, managers: Condition, members: Condition])[] = [
  ['(completions|mcp|agents|guardrails|logs).(write|invoke)', true, true],
  [
    'logs.list',
    ({ logs }) => logs.managersViewLogs || logs.managersViewLogMetadata,
    ({ logs }) => logs.membersViewLogs || logs.membersViewLogMetadata,
  ],
  ['logs.view', ({ logs }) => logs.managersViewLogs, ({ logs }) => logs.membersViewLogs],
  ['logs.export', ({ logs }) => logs.managersViewLogs, false],
  [
    'analytics.view',
    ({ analytics }) => analytics.managersViewAnalytics,
    ({ analytics }) => analytics.membersViewAnalytics,
  ],
  [
    `prompts.${view}`,
    ({ prompts }) => prompts.managersViewPrompts,
    ({ prompts }) => prompts.membersViewPrompts,
  ],
  [
    `prompts.${write}`,
    ({ prompts }) => prompts.managersWritePrompts,
    ({ prompts }) => prompts.membersWritePrompts,
  ],
  [
    `guardrails.${view}`,
    ({ guardrails }) => guardrails.managersViewGuardrails,
    ({ guardrails }) => guardrails.membersViewGuardrails,
  ],
  [`guardrails.${write}`, ({ guardrails }) => guardrails.managersWriteGuardrails, false],
  [
    `configs.${view}`,
    ({ configs }) => configs.managersViewConfigs,
    ({ configs }) => configs.membersViewConfigs,
  ],
  [
    `configs.${write}`,
    ({ configs }) => configs.managersWriteConfigs,
    ({ configs }) => configs.membersWriteConfigs,
  ],
  [
    `(providers|virtual_keys).${view}`,
    ({ providers }) => providers.managersViewProviders,
    ({ providers }) => providers.membersViewProviders,
  ],
  [
    `(providers|virtual_keys).${write}`,
    ({ providers }) => providers.managersManageProviders,
    false,
  ],
  [
    `workspace_integrations.${write}`,
    ({ integrations }) => integrations.managersWriteWsIntegrations,
    false,
  ],
  [
    `workspace_(mcp|agent)_integrations.${write}`,
    ({ integrations }) => integrations.managersWriteWsMcpIntegrations,
    false,
  ],
  [
    `(mcp|agent)_servers.${write}`,
    ({ integrations }) => integrations.managersWriteMcpServers,
    false,
  ],
  [
    `workspace_(service|user)_api_keys.${view}`,
    ({ keys }) => keys.managersViewKeys,
    ({ keys }) => keys.membersViewKeys,
  ],
  [
    `workspace_(service|user)_api_keys.${write}`,
    ({ keys }) => keys.managersManageKeys,
    ({ keys }) => keys.membersManageKeys,
  ],
  [
    'workspaces.update',
    ({ workspace_management }) => workspace_management.managersManageWorkspace,
    false,
  ],
  [`(policies|workspace_users).${write}`, true, false],
  [`(policies|workspaces|workspace_users|(mcp|agent)_servers).${view}`, true, true],
  [`(organisation|workspace)(_mcp|_agent)?_integrations.${view}`, true, true],
];

/** Found once for each scope there is: this is asked for every scope of every request's key. */
const ruleOf = new Map(
  [...new Set(keyTypes.flatMap(scopesOf))].map((scope) => [
    scope,
    rules.find(([pattern]) => new RegExp(`^${pattern.replaceAll('.', '\\.')}$`).test(scope)),
  ]),
);

/** Whether a person may use a scope that their key holds. */
export function roleAllowsScope(standing: Standing, scope: string, settings: Settings): boolean {
  if (standing.organisationRole === 'admin' && !organisationAdminAllows(scope, settings))
    return false;
  if (standing.role === 'admin') return true;
  const [, managers, members] = ruleOf.get(scope) ?? [];
  const condition = standing.role === 'manager' ? managers : members;
  return typeof condition === 'function' ? condition(settings) : (condition ?? false);
}

/** Whether a person is shown what everybody's keys did in the workspace, or only their own. */
export function seesAllData(
  standing: Standing | undefined,
  { data_visibility: visibility }: Settings,
): boolean {
  if (standing === undefined) return false;
  if (standing.role === 'admin') return true;
  return standing.role === 'manager'
    ? visibility.managersViewAllData
    : visibility.membersViewAllData;
}

/** Nothing limits owners, and two switches the organisation's other admins. */
function organisationAdminAllows(scope: string, { logs }: Settings): boolean {
  if (scope === 'logs.list')
    return logs.organisationAdminsViewLogs || logs.organisationAdminsViewLogMetadata;
  if (scope === 'logs.view' || scope === 'logs.export') return logs.organisationAdminsViewLogs;
  return true;
}

/** Whether a person of this role may give, take or change that one: nobody reaches above themselves. */
export function mayGrantRole(role: WorkspaceRole, granted: WorkspaceRole): boolean {
  return workspaceRoles.indexOf(role) <= workspaceRoles.indexOf(granted);
}
