import type { BodyOf, QueryOf } from '@sluice/contracts/admin';
import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
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

export const organisationOperations = {
  ...implementAll('organisation', {
    read: async (call) => {
      const organisation = await ownOrganisation(call);
      return presentOrganisation(organisation, await countContents(call.db, organisation.id));
    },
    update: (call, { body }) => renameOrganisation(call, body.name),
  }),
  ...implementAll('organisation.settings', {
    read: async (call) => presentOrganisationSettings((await ownOrganisation(call)).settings),
    update: (call, { body }) => changeOrganisationSettings(call, body),
  }),
  ...implementAll('workspaces.settings', {
    read: async (call) =>
      presentWorkspaceSettings(
        await reachWorkspace(call, call.db, pathParameter(call, 'workspaceId')),
      ),
    update: (call, { body }) =>
      changeWorkspaceSettings(call, pathParameter(call, 'workspaceId'), body),
  }),
  ...implementAll('organisation.defaults', {
    read: async (call) => presentDefaults(call.db, await ownOrganisation(call)),
    update: (call, { body }) => changeDefaults(call, body),
  }),
  ...implementAll('exclusions.input-guardrails', exclusionHandlers('skipsInputGuardrails')),
  ...implementAll('exclusions.output-guardrails', exclusionHandlers('skipsOutputGuardrails')),
};

/** Both sides are asked for and answered in the same words. */
function exclusionHandlers(exemption: Exemption) {
  return {
    read: (
      call: AdminRequest,
      { query }: { query: QueryOf<'exclusions.input-guardrails.read'> },
    ) => {
      requireOwnOrganisation(call.caller, query.organisation_id);
      return presentExclusions(call.db, call.caller.organisationId, exemption);
    },
    update: (
      call: AdminRequest,
      { body }: { body: BodyOf<'exclusions.input-guardrails.update'> },
    ) => changeExclusions(call, exemption, body),
  };
}

function ownOrganisation(call: AdminRequest) {
  return readOrganisation(call.db, call.caller.organisationId);
}
