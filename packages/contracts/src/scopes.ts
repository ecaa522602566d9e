/**
 * What a key may do: `<resource>.<action>`, per kind of key. No action implies
 * another: `list` does not grant `read`.
 */
export const keyTypes = ['organisation-service', 'workspace-service', 'workspace-user'] as const;
export type KeyType = (typeof keyTypes)[number];

const crudl = ['create', 'read', 'update', 'delete', 'list'];

/** Columns: organisation key, workspace service key, workspace user key. */
const actionsByResource: Readonly<
  Record<string, readonly [readonly string[], readonly string[], readonly string[]]>
> = {
  organisation_users: [crudl, [], []],
  organisation_service_api_keys: [[...crudl, 'rotate'], [], []],
  organisation_settings: [['read', 'update'], [], []],
  organisation_guardrails: [crudl, [], []],
  organisation_exclusions: [['update', 'list'], [], []],
  audit_logs: [['list'], [], []],
  plugins: [['create', 'update', 'list'], [], []],
  deployments: [crudl, [], []],
  secret_references: [crudl, [], []],
  workspaces: [crudl, ['read', 'update', 'list'], ['read', 'update', 'list']],
  workspace_service_api_keys: [[...crudl, 'rotate'], [...crudl, 'rotate'], []],
  workspace_user_api_keys: [[...crudl, 'rotate'], [...crudl, 'rotate'], []],
  workspace_users: [crudl, crudl, crudl],
  prompts: [
    [...crudl, 'publish'],
    [...crudl, 'publish', 'render'],
    [...crudl, 'publish', 'render'],
  ],
  configs: [crudl, crudl, crudl],
  guardrails: [crudl, [...crudl, 'invoke'], [...crudl, 'invoke']],
  virtual_keys: [
    [...crudl, 'duplicate', 'copy'],
    [...crudl, 'duplicate', 'copy'],
    [...crudl, 'duplicate', 'copy'],
  ],
  providers: [crudl, crudl, crudl],
  policies: [crudl, crudl, crudl],
  organisation_integrations: [crudl, ['list'], ['list']],
  organisation_mcp_integrations: [crudl, ['list'], ['list']],
  organisation_agent_integrations: [crudl, ['list'], ['list']],
  workspace_integrations: [crudl, crudl, crudl],
  workspace_mcp_integrations: [crudl, crudl, crudl],
  workspace_agent_integrations: [crudl, crudl, crudl],
  agent_servers: [crudl, crudl, crudl],
  mcp_servers: [crudl, crudl, crudl],
  analytics: [['view'], ['view'], ['view']],
  logs: [
    ['export', 'list', 'view'],
    ['export', 'list', 'view', 'write'],
    ['export', 'list', 'view', 'write'],
  ],
  completions: [[], ['write'], ['write']],
  mcp: [[], ['invoke'], ['invoke']],
  agents: [[], ['invoke'], ['invoke']],
};

const scopesByKeyType = Object.fromEntries<readonly string[]>(
  keyTypes.map((type, column) => [
    type,
    Object.entries(actionsByResource).flatMap(([resource, actions]) =>
      (actions[column] ?? []).map((action) => `${resource}.${action}`),
    ),
  ]),
) as Record<KeyType, readonly string[]>;

/** Every scope a key of this kind can hold. */
export function scopesOf(type: KeyType): readonly string[] {
  return scopesByKeyType[type];
}

/** Every scope a JWT can hold: a list of its own, shorter than that of workspace keys. */
export const jwtScopes: ReadonlySet<string> = new Set(
  Object.entries({
    workspaces: ['read', 'update', 'list'],
    workspace_users: crudl,
    configs: crudl,
    providers: crudl,
    virtual_keys: ['list'],
    logs: ['export', 'list', 'view', 'read', 'write'],
    analytics: ['view'],
    prompts: ['render'],
    completions: ['read', 'write'],
    feedbacks: ['read', 'write'],
    guardrails: ['invoke'],
    mcp: ['invoke'],
    agents: ['invoke'],
  }).flatMap(([resource, actions]) => actions.map((action) => `${resource}.${action}`)),
);

/** `completions:write` and `completions.write` are the same scope; the dot is what we keep. */
export function normaliseScope(scope: string): string {
  return scope.trim().replace(':', '.');
}
