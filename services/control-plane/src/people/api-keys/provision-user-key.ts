import type { Settings } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import type { Change } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';
import { keptMetadata } from './defaults.ts';
import { insertMintedKey } from './insert-minted-key.ts';
import { showApiKey } from './reach.ts';
import { planRotation } from './rotation.ts';
import type { MintKey } from './secrets.ts';
import { countUserKeys, readSettings } from './store.ts';
import { endOfNewKey, requireRoom } from './user-key-rules.ts';

/** Somebody who has just got a place in a workspace. */
export interface Newcomer {
  readonly workspace: {
    readonly id: string;
    readonly organisationId: string;
    readonly isDefault: boolean;
    readonly userApiKeyConfigId: string | null;
  };
  readonly user: { readonly id: string; readonly email: string };
  /** What their key is to do, where somebody said so; a key is then made in any case. */
  readonly scopes?: readonly string[] | undefined;
  readonly now: Date;
}

export interface ProvisionedKey {
  readonly workspace_id: string;
  readonly id: string;
  readonly key: string;
}

/** Gives a newcomer the user key that the invite or the settings want them to have. */
export type ProvisionUserKey = (
  change: Change,
  newcomer: Newcomer,
) => Promise<ProvisionedKey | undefined>;

/** What a key does that nobody chose scopes for: call models and use prompts. */
const usualScopes = ['completions.write', 'prompts.read', 'prompts.list', 'prompts.render'];

export function createProvisionUserKey(mintKey: MintKey): ProvisionUserKey {
  return async (change, newcomer) => {
    const { workspace, user } = newcomer;
    const settings = await readSettings(change.db, workspace.organisationId, workspace.id);
    if (newcomer.scopes === undefined && !createsByItself(settings, workspace)) return undefined;
    const entry = {
      resourceType: 'api_keys',
      action: 'create',
      workspaceId: workspace.id,
    } as const;
    try {
      const made = await makeKey(change.db, mintKey, newcomer, settings);
      const after = await showApiKey(change.db, made.id, newcomer.now);
      change.alsoRecord({ ...entry, resourceId: made.id, after });
      return { workspace_id: workspace.id, ...made };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      // The newcomer cannot help what the rules for keys lack: they get their place without a key.
      const detail = { user_id: user.id, message: error.message };
      change.alsoRecord({ ...entry, responseStatusCode: error.status, detail });
      return undefined;
    }
  };
}

/** Everything that may be refused comes before the first row is written. */
async function makeKey(
  db: Database,
  mintKey: MintKey,
  { workspace, user, scopes, now }: Newcomer,
  settings: Settings,
): Promise<{ id: string; key: string }> {
  const rules = settings.user_keys;
  requireRoom(rules, await countUserKeys(db, workspace.id, user.id, now));
  const rotation = planRotation(undefined, undefined, {
    enforcedDays: rules.user_api_key_rotation_period,
    now,
  });
  return insertMintedKey(db, mintKey, {
    organisationId: workspace.organisationId,
    workspaceId: workspace.id,
    userId: user.id,
    createdByUserId: user.id,
    type: 'workspace-user',
    creationMode: 'auto',
    name: user.email.slice(0, 255),
    scopes: scopes ?? usualScopes,
    metadata: keptMetadata('workspace-user', settings, undefined),
    configId: workspace.userApiKeyConfigId,
    expiresAt: endOfNewKey(undefined, rules, now),
    rotationPolicy: rotation.policy ?? undefined,
    nextRotationAt: rotation.nextAt,
    now,
  });
}

/** The default workspace has a switch of its own. */
function createsByItself(settings: Settings, workspace: Newcomer['workspace']): boolean {
  return workspace.isDefault
    ? settings.joining.default_workspace_user_api_key_auto_create
    : settings.user_keys.user_api_key_auto_create;
}
