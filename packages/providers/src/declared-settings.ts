import type { ProviderEntry } from './contract.ts';
import { isPlain, type SettingKind, type SettingName, settingKinds } from './setting-kinds.ts';

/** One thing that a caller's header may say to a provider. */
export interface DeclaredSetting {
  name: SettingName;
  kind: SettingKind;
  /** With the service's prefix, lower case. */
  header: string;
  /** The name alone is heard, too: the vendor's own clients send it so. */
  isBare: boolean;
}

/** All that callers' headers may say to this provider. Made once for each entry. */
export function declaredSettings(provider: ProviderEntry): readonly DeclaredSetting[] {
  return facets(provider).declared;
}

/** Headers, lower case, in which this provider looks for who asks. */
export function proofHeaders(provider: ProviderEntry): ReadonlySet<string> {
  return facets(provider).proofHeaders;
}

/**
 * Further headers, lower case, that say whose account is meant: an organisation,
 * a role, a deployment. Beside a stored credential none of them may be the caller's.
 */
export function accountHeaders(provider: ProviderEntry): ReadonlySet<string> {
  return facets(provider).accountHeaders;
}

interface Facets {
  declared: readonly DeclaredSetting[];
  proofHeaders: ReadonlySet<string>;
  accountHeaders: ReadonlySet<string>;
}

const known = new WeakMap<ProviderEntry, Facets>();

function facets(provider: ProviderEntry): Facets {
  let found = known.get(provider);
  if (found === undefined) {
    const declared = declare(provider);
    found = {
      declared,
      proofHeaders: proofHeadersOf(provider),
      accountHeaders: accountHeadersOf(provider, declared),
    };
    known.set(provider, found);
  }
  return found;
}

function declare({ settings = [], bareSettings = [], callerHeaders = [] }: ProviderEntry) {
  const bare = new Set([...bareSettings, ...callerHeaders]);
  return [...new Set([...settings, ...callerHeaders])].map(
    (name): DeclaredSetting => ({
      name,
      kind: settingKinds[name],
      header: `x-service-${name}`,
      isBare: bare.has(name),
    }),
  );
}

const usualProofs = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'];

function proofHeadersOf({ auth, endpoints }: ProviderEntry): ReadonlySet<string> {
  const recipes = Object.values(endpoints).flatMap((offered) =>
    ('choose' in offered ? offered.all : [offered]).map((entry) => entry.auth),
  );
  return new Set([
    ...usualProofs,
    ...[auth, ...recipes].flatMap((recipe) => (recipe?.type === 'header' ? recipe.header : [])),
  ]);
}

function accountHeadersOf(
  provider: ProviderEntry,
  declared: readonly DeclaredSetting[],
): ReadonlySet<string> {
  const names = new Set<string>(provider.accountHeaders);
  // Also under names that are ours alone: who sends them means the setting.
  for (const { name, kind } of declared) if (!isPlain(kind)) names.add(name);
  for (const [header, name] of Object.entries(provider.settingHeaders ?? {}))
    if (!isPlain(settingKinds[name])) names.add(header);
  return names;
}
