import type { JwtSettings } from '@sluice/contracts/admin';
import { createTokenAuthority, type TokenAuthority } from '@sluice/jwt';
import type { GuardedFetch } from '@sluice/outbound';
import type { config } from '@sluice/proto-stubs';

/** An organisation made ready for the tokens of its identity provider. */
export interface HeldOrganisation {
  readonly source: config.Organisation;
  readonly settings: JwtSettings | undefined;
  /** Undefined = it takes no tokens. */
  readonly authority: TokenAuthority | undefined;
  readonly workspaces: ReadonlyMap<string, config.WorkspaceName>;
}

export interface HoldOptions {
  fetch: GuardedFetch;
  /** Told when keys were fetched that are worth keeping. */
  onKeyDocument: () => void;
}

/**
 * `before` is what was held of the same organisation: keys that its issuer gave
 * stay in use while the settings do, and until fresh ones are had from the same address.
 */
export function holdOrganisation(
  source: config.Organisation,
  before: HeldOrganisation | undefined,
  options: HoldOptions,
  keyDocument?: string,
): HeldOrganisation {
  const isSame = before?.source.jwtSettingsJson === source.jwtSettingsJson;
  const settings = isSame ? before.settings : readSettings(source);
  return {
    source,
    settings,
    authority: isSame ? before.authority : authorityOf(settings, before, options, keyDocument),
    workspaces: new Map(
      source.workspaces.flatMap((workspace) => [
        [workspace.id, workspace],
        [workspace.slug, workspace],
      ]),
    ),
  };
}

/** The workspace that a token means: by slug or UUID, else the default one. */
export function workspaceOf(
  { source, workspaces }: HeldOrganisation,
  reference: string | undefined,
): config.WorkspaceName | undefined {
  if (reference === undefined) return workspaces.get(source.defaultWorkspaceId);
  return workspaces.get(reference) ?? workspaces.get(reference.toLowerCase());
}

function readSettings({ jwtSettingsJson }: config.Organisation): JwtSettings | undefined {
  return jwtSettingsJson === '' ? undefined : (JSON.parse(jwtSettingsJson) as JwtSettings);
}

function authorityOf(
  settings: JwtSettings | undefined,
  before: HeldOrganisation | undefined,
  { fetch, onKeyDocument }: HoldOptions,
  keyDocument: string | undefined,
): TokenAuthority | undefined {
  if (settings === undefined) return undefined;
  const isSameIssuer = before?.settings?.jwks_url === settings.jwks_url;
  return createTokenAuthority({
    settings,
    fetch,
    keyDocument: isSameIssuer ? before?.authority?.keyDocument : keyDocument,
    onKeyDocument,
  });
}
