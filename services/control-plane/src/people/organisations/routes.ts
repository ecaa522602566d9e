import { implement, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminCall, Operation } from '../../kernel/http/operation.ts';
import { requireOwnOrganisation } from '../../kernel/tenancy/target-workspace.ts';
import { reachWorkspace } from '../workspaces/operations.ts';
import { changeDefaults, presentDefaults } from './defaults.ts';
import { changeExclusions, type Exemption, presentExclusions } from './exclusions.ts';
import {
  changeOrganisationSettings,
  changeWorkspaceSettings,
  renameOrganisation,
} from './operations.ts';
import {
  presentOrganisation,
  presentOrganisationSettings,
  presentWorkspaceSettings,
} from './present.ts';
import { countContents, readOrganisation } from './store.ts';

export const organisationOperations: readonly Operation[] = [
  implement('organisation.read', async (call) => {
    const organisation = await ownOrganisation(call);
    return presentOrganisation(organisation, await countContents(call.db, organisation.id));
  }),
  implement('organisation.update', async (call, { body }) => {
    await renameOrganisation(call, body.name);
    return {};
  }),
  implement('organisation.settings.read', async (call) =>
    presentOrganisationSettings((await ownOrganisation(call)).settings),
  ),
  implement('organisation.settings.update', async (call, { body }) => {
    await changeOrganisationSettings(call, body);
    return {};
  }),
  implement('workspaces.settings.read', async (call) =>
    presentWorkspaceSettings(
      await reachWorkspace(call, call.db, pathParameter(call, 'workspaceId')),
    ),
  ),
  implement('workspaces.settings.update', async (call, { body }) => {
    await changeWorkspaceSettings(call, pathParameter(call, 'workspaceId'), body);
    return {};
  }),
  implement('organisation.defaults.read', async (call) =>
    presentDefaults(call.db, await ownOrganisation(call)),
  ),
  implement('organisation.defaults.update', async (call, { body }) => {
    await changeDefaults(call, body);
    return {};
  }),
  ...exclusionOperations('input', 'skipsInputGuardrails'),
  ...exclusionOperations('output', 'skipsOutputGuardrails'),
];

function exclusionOperations(side: 'input' | 'output', exemption: Exemption): Operation[] {
  return [
    implement(`exclusions.${side}-guardrails.read`, (call, { query }) => {
      requireOwnOrganisation(call.caller, query.organisation_id);
      return presentExclusions(call.db, call.caller.organisationId, exemption);
    }),
    implement(`exclusions.${side}-guardrails.update`, async (call, { body }) => {
      await changeExclusions(call, exemption, body);
      return {};
    }),
  ];
}

function ownOrganisation(call: AdminCall) {
  return readOrganisation(call.db, call.caller.organisationId);
}
