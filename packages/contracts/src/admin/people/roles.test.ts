import { describe, expect, it } from 'vitest';
import {
  mayGrantRole,
  roleAllowsScope,
  roleInWorkspace,
  type Standing,
  scopesOf,
  standingIn,
} from '../../index.ts';
import { defaultSettings, type Settings, type SettingsChange } from '../index.ts';

const scopes = scopesOf('workspace-user');
const person = (organisationRole: string, role?: string) =>
  standingIn(organisationRole, role) as Standing;
const owner = person('owner');
const organisationAdmin = person('admin');
const admin = person('member', 'admin');
const manager = person('member', 'manager');
const member = person('member', 'member');

function settings(change: SettingsChange): Settings {
  const sections = Object.entries(defaultSettings).map(([name, values]) => [
    name,
    { ...values, ...change[name as keyof Settings] },
  ]);
  return Object.fromEntries(sections);
}

const allowed = (standing: Standing, change: SettingsChange = {}) =>
  scopes.filter((scope) => roleAllowsScope(standing, scope, settings(change)));

/** What the change of a setting takes from somebody, and gives them. */
function difference(standing: Standing, change: SettingsChange) {
  const before = allowed(standing);
  const after = allowed(standing, change);
  return {
    lost: before.filter((scope) => !after.includes(scope)).sort(),
    won: after.filter((scope) => !before.includes(scope)).sort(),
  };
}

describe('roleAllowsScope', () => {
  it('lets members look and call models, and change nothing', () => {
    expect(allowed(member)).toEqual(
      expect.arrayContaining(['completions.write', 'prompts.render', 'configs.read', 'mcp.invoke']),
    );
    expect(
      allowed(member).filter((scope) =>
        /\.(create|update|delete|publish|export|duplicate|copy)$/.test(scope),
      ),
    ).toEqual([]);
  });

  it('lets managers do everything but change the workspace itself', () => {
    expect(scopes.filter((scope) => !allowed(manager).includes(scope))).toEqual([
      'workspaces.update',
    ]);
  });

  it.each<[string, Standing, SettingsChange, { lost?: string[]; won?: string[] }]>([
    [
      'membersWritePrompts',
      member,
      { prompts: { membersWritePrompts: true } },
      { won: ['prompts.create', 'prompts.delete', 'prompts.publish', 'prompts.update'] },
    ],
    [
      'membersViewPrompts',
      member,
      { prompts: { membersViewPrompts: false } },
      { lost: ['prompts.list', 'prompts.read', 'prompts.render'] },
    ],
    [
      'managersWritePrompts',
      manager,
      { prompts: { managersWritePrompts: false } },
      { lost: ['prompts.create', 'prompts.delete', 'prompts.publish', 'prompts.update'] },
    ],
    [
      'managersViewAnalytics',
      manager,
      { analytics: { managersViewAnalytics: false } },
      { lost: ['analytics.view'] },
    ],
    [
      'managersViewLogs, with the metadata left to see',
      manager,
      { logs: { managersViewLogs: false } },
      { lost: ['logs.export', 'logs.view'] },
    ],
    [
      'both log switches of members',
      member,
      { logs: { membersViewLogs: false, membersViewLogMetadata: false } },
      { lost: ['logs.list', 'logs.view'] },
    ],
    [
      'membersWriteConfigs',
      member,
      { configs: { membersWriteConfigs: true } },
      { won: ['configs.create', 'configs.delete', 'configs.update'] },
    ],
    [
      'managersWriteGuardrails',
      manager,
      { guardrails: { managersWriteGuardrails: false } },
      { lost: ['guardrails.create', 'guardrails.delete', 'guardrails.update'] },
    ],
    [
      'membersViewProviders',
      member,
      { providers: { membersViewProviders: false } },
      {
        lost: ['providers.list', 'providers.read', 'virtual_keys.list', 'virtual_keys.read'],
      },
    ],
    [
      'managersWriteMcpServers',
      manager,
      { integrations: { managersWriteMcpServers: false } },
      {
        lost: ['agent_servers', 'mcp_servers'].flatMap((resource) =>
          ['create', 'delete', 'update'].map((action) => `${resource}.${action}`),
        ),
      },
    ],
    [
      'managersManageWorkspace',
      manager,
      { workspace_management: { managersManageWorkspace: true } },
      { won: ['workspaces.update'] },
    ],
    [
      'organisationAdminsViewLogs',
      organisationAdmin,
      { logs: { organisationAdminsViewLogs: false } },
      { lost: ['logs.export', 'logs.view'] },
    ],
  ])('follows %s', (_name, standing, change, { lost = [], won = [] }) => {
    expect(difference(standing, change)).toEqual({ lost, won });
  });

  it('limits no owner and no workspace admin, whatever is switched off', () => {
    const off = Object.fromEntries(
      Object.entries(defaultSettings).map(([name, values]) => [
        name,
        Object.fromEntries(
          Object.entries(values).map(([key, value]) => [key, value === true ? false : value]),
        ),
      ]),
    ) as SettingsChange;
    expect(allowed(owner, off)).toEqual(scopes);
    expect(allowed(admin, off)).toEqual(scopes);
    expect(allowed(organisationAdmin, off)).toEqual(
      scopes.filter((scope) => !/^logs\.(list|view|export)$/.test(scope)),
    );
  });
});

describe('roleInWorkspace', () => {
  it('makes owners and admins of the organisation admins of every workspace', () => {
    expect(roleInWorkspace('owner', undefined)).toBe('admin');
    expect(roleInWorkspace('admin', 'member')).toBe('admin');
    expect(roleInWorkspace('member', 'manager')).toBe('manager');
    expect(roleInWorkspace('member', undefined)).toBeUndefined();
  });
});

describe('mayGrantRole', () => {
  it('lets nobody reach above themselves', () => {
    expect([mayGrantRole('manager', 'admin'), mayGrantRole('manager', 'manager')]).toEqual([
      false,
      true,
    ]);
    expect([mayGrantRole('admin', 'admin'), mayGrantRole('member', 'manager')]).toEqual([
      true,
      false,
    ]);
  });
});
