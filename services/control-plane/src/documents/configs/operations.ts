import { type ConfigCaps, type ConfigNode, idleSettings } from '@sluice/contracts';
import { idleParameters, strangeParameters } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import { parseText } from '@sluice/json';
import type { HostRules } from '@sluice/outbound';
import { actorOf } from '../../kernel/access/caller.ts';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import { guardKeptSecrets } from '../../kernel/credentials/guard-kept-secrets.ts';
import {
  fieldOf,
  maskDocument,
  type Path,
  restoreSecrets,
} from '../../kernel/credentials/secret-fields.ts';
import { isAsItIs } from '../../kernel/database/as-it-is.ts';
import type { Database } from '../../kernel/database/client.ts';
import { warnOfAddresses } from '../../kernel/http/check-address.ts';
import type { Input } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { generateSlug } from '../../kernel/names/generate-slug.ts';
import { newId } from '../../kernel/names/ids.ts';
import {
  namedWorkspace,
  requireWorkspace,
  targetWorkspace,
} from '../../kernel/tenancy/target-workspace.ts';
import { checkNamesAndRuns, parseDocument, referencesOf } from './check-document.ts';
import type { ProviderCatalogue } from './check-names.ts';
import { configsNaming } from './named-by.ts';
import { presentConfigDetail } from './present.ts';
import {
  appendVersion,
  type ConfigRow,
  clearDefault,
  countUses,
  currentVersion,
  findConfig,
  findConfigsOfOrganisation,
  insertConfig,
  removeConfig,
} from './store.ts';
import { documentColumns, openDocument } from './stored-document.ts';

export interface ConfigParts {
  vault: CredentialVault;
  /** What a document may have when it is saved. */
  caps: ConfigCaps;
  catalogue: ProviderCatalogue;
  hostRules: HostRules;
}

/** The config a path names. An organisation key may leave out the workspace while the slug is unambiguous. */
export async function reachConfig(
  call: AdminRequest,
  db: Database,
  reference: string,
): Promise<ConfigRow> {
  const workspace = await targetWorkspace(db, call.caller, namedWorkspace(call.body, call.query));
  if (workspace !== undefined) {
    const config = await findConfig(db, workspace.id, reference);
    if (config === null) throw new GatewayError('admin.not_found');
    return config;
  }
  const [config, another] = await findConfigsOfOrganisation(
    db,
    call.caller.organisationId,
    reference,
  );
  if (config === undefined) throw new GatewayError('admin.not_found');
  if (another !== undefined)
    throw invalidField(
      'query.workspace_id',
      'is required: several workspaces have a config with this slug',
    );
  return config;
}

export function createConfig(
  call: AdminRequest,
  { query, body }: Input<'configs.create'>,
  { vault, caps, catalogue, hostRules }: ConfigParts,
): Promise<{ id: string; slug: string; versionId: string }> {
  const node = parseDocument(body.config, caps);
  const document = unmask(body.config, undefined);
  warnOfAddresses(call.notes, body.config, 'body.config', hostRules, requestParams);
  warnOfIdle(call.notes, node);
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const workspace = await requireWorkspace(
      db,
      call.caller,
      namedWorkspace(call.body, call.query),
    );
    const slug = body.slug ?? generateSlug('config', body.name);
    const named = { workspaceId: workspace.id, slug, node };
    call.notes.warnings.push(
      ...(await checkNamesAndRuns(db, named, catalogue, query.allow_missing)),
    );
    const isDefault = body.isDefault ?? body.is_default ?? false;
    if (isDefault) await clearDefault(db, workspace.id);
    const versionId = newId();
    const { config, version } = await insertConfig(
      db,
      {
        organisationId: workspace.organisationId,
        workspaceId: workspace.id,
        slug,
        isDefault,
      },
      {
        id: versionId,
        name: body.name,
        status: 'active',
        ...documentColumns(vault, versionId, document),
        actor: actorOf(call.caller),
        now: call.now,
      },
    );
    touchWorkspace(workspace.id);
    describe({
      resourceId: config.id,
      workspaceId: workspace.id,
      after: presentConfigDetail(config, version),
    });
    return { id: config.id, slug: config.slug, versionId };
  });
}

/** Tells the caller what of the document does nothing where it stands. */
function warnOfIdle({ warnings }: AdminRequest['notes'], node: ConfigNode): void {
  const idle = idleSettings(node, (id, parameters) => [
    ...strangeParameters(id, parameters),
    ...idleParameters(id, parameters),
  ]);
  warnings.push(...idle.map(({ path, why }) => `body.${path}: does nothing: ${why}`));
}

/** What stands in these is sent to providers, and nobody here calls it. */
const requestParams = ['default_params', 'override_params'];

/** Every change is a version, and what changes nothing is none; what the body leaves out is taken from the one before. */
export function changeConfig(
  call: AdminRequest,
  reference: string,
  { query, body }: Input<'configs.update'>,
  { vault, caps, catalogue, hostRules }: ConfigParts,
): Promise<string> {
  const node = body.config === undefined ? undefined : parseDocument(body.config, caps);
  warnOfAddresses(call.notes, body.config, 'body.config', hostRules, requestParams);
  if (node !== undefined) warnOfIdle(call.notes, node);
  return call.change(async ({ db, describe, touchWorkspace, unchanged }) => {
    const config = await reachConfig(call, db, reference);
    const current = await currentVersion(db, config);
    const stored = parseText(openDocument(vault, current)) as Record<string, unknown>;
    const document = body.config === undefined ? stored : unmask(body.config, stored);
    guardDocument(stored, document, body.config);
    const status = body.status ?? config.status;
    if (status === 'archived' && config.status !== 'archived') await refuseWhileUsed(db, config);
    // One that comes back may refer to what is gone meanwhile.
    const comesBack = status === 'active' && config.status !== 'active';
    const changed = node ?? (comesBack ? parseDocument(stored, caps) : undefined);
    if (changed !== undefined) {
      const named = { workspaceId: config.workspaceId, slug: config.slug, node: changed };
      call.notes.warnings.push(
        ...(await checkNamesAndRuns(db, named, catalogue, query.allow_missing)),
      );
    }
    const isDefault = body.isDefault ?? body.is_default ?? config.isDefault;
    const name = body.name ?? config.name;
    // Of a document the order counts as well: it is the order in which parameters are sent.
    const isSame = JSON.stringify(document) === JSON.stringify(stored);
    if (isSame && isAsItIs(config, { name, status, isDefault })) {
      unchanged();
      return current.id;
    }
    if (isDefault && !config.isDefault) await clearDefault(db, config.workspaceId);
    const versionId = newId();
    const after = await appendVersion(db, config, isDefault, {
      id: versionId,
      name,
      status,
      ...documentColumns(vault, versionId, document),
      actor: actorOf(call.caller),
      now: call.now,
    });
    touchWorkspace(config.workspaceId);
    describe({
      resourceId: config.id,
      workspaceId: config.workspaceId,
      before: presentConfigDetail(config, current),
      after: presentConfigDetail(after.config, after.version),
    });
    return versionId;
  });
}

export function deleteConfig(call: AdminRequest, reference: string): Promise<void> {
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const config = await reachConfig(call, db, reference);
    await refuseWhileUsed(db, config);
    const before = presentConfigDetail(config, await currentVersion(db, config));
    await removeConfig(db, config.id);
    touchWorkspace(config.workspaceId);
    describe({ resourceId: config.id, workspaceId: config.workspaceId, before });
  });
}

/** Who sends back what they were shown means the credentials that were masked. */
function unmask(
  sent: Record<string, unknown>,
  stored: Record<string, unknown> | undefined,
): Record<string, unknown> {
  return restoreSecrets(sent, stored, 'body.config') as Record<string, unknown>;
}

/** Credentials in a document stay beside the hosts and providers they were written for. */
function guardDocument(stored: object, document: object, sent: object | undefined): void {
  if (sent === undefined) return;
  const [before, after] = [stored, document].map((each) => ({
    document: each,
    shown: maskDocument(each),
    fieldOf: (path: Path) => fieldOf('body.config', path),
  }));
  if (before !== undefined && after !== undefined) guardKeptSecrets([before], [after], sent);
}

/** Whoever names a config would silently lose what it says, so it stays while somebody does. */
async function refuseWhileUsed(db: Database, config: ConfigRow): Promise<void> {
  const uses = await countUses(db, config.id);
  if (uses.workspaces > 0)
    throw new GatewayError('admin.refused', {
      message: 'The config is the default of its workspace’s user keys.',
    });
  if (uses.keys > 0)
    throw new GatewayError('admin.refused', {
      message: `The config is the default of ${uses.keys} API key(s).`,
    });
  const referring = await referringConfigs(db, config);
  if (referring.length > 0)
    throw new GatewayError('admin.refused', {
      message: `Other configs refer to this one: ${referring.join(', ')}.`,
    });
}

function referringConfigs(db: Database, { workspaceId, slug }: ConfigRow): Promise<string[]> {
  const fits = (document: ConfigNode) => referencesOf(document).includes(slug);
  return configsNaming(db, workspaceId, [JSON.stringify(slug)], fits);
}
