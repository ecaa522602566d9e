import type { Author, ResolvedTarget, TargetFacts } from '@sluice/engine';
import type { TlsIdentity } from '@sluice/outbound';
import type { ProviderEntry, ReadSetting } from '@sluice/providers';
import type { SavedProvider } from '../compiled/compiled-bundle.ts';

/** Where one attempt goes: provider, credential and address, as the one rule for credentials settled them. */
export interface Target extends Settled {
  /** What the config says of it: rules of retries, cache, parameters. */
  planned: ResolvedTarget;
  /** JSON path in the config, `config` when there is none. */
  path: string;
  entry: ProviderEntry;
  saved: SavedProvider | undefined;
  /** The model to ask for, without `@slug/`; empty when the request names none. */
  model: string;
  /** The model that serves it, as records, prices and limits name it (`visit/targets/served-model.ts`). */
  servedModel: string;
  /** True when the body's `model` differs from `model` and must be rewritten. */
  rewritesModel: boolean;
  timeoutMs: number | undefined;
  strictOpenAiCompliance: boolean;
}

/** What the one rule for credentials decides (`visit/targets/credential-rule.ts`). */
export interface Settled {
  /** Whose the credential is. */
  credentialBy: Author;
  apiKey: string;
  configurations: Readonly<Record<string, unknown>>;
  /** Of the caller's headers those that may say something to the provider. */
  settingHeaders: SettingHeaders;
  setting: ReadSetting;
  /**
   * The settings of a saved provider as admins wrote them; undefined where a
   * caller has a say in who is asked or as whom. The identity of the machine we
   * run on is lent by these alone.
   */
  savedSetting: ReadSetting | undefined;
  customHeaders: Readonly<Record<string, string>>;
  customHost: CustomHost | undefined;
  /** The request says more to the provider than options: so a host made of settings is the caller's. */
  callerAdds: boolean;
  /** Never shown at a caller's address. */
  tls: TlsIdentity | undefined;
  forwardHeaders: readonly string[] | undefined;
}

export interface CustomHost {
  /** As it was given, not yet checked. */
  url: string;
  /** Where that was, for error messages. */
  field: string;
  /** Who named it, or vouches for it; what is saved is an admin's, headers and inline configs are the caller's. */
  by: Author;
}

export type SettingHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** By what limits know a target. */
export function limitFactsOf({ entry, saved, servedModel }: Target): TargetFacts {
  return {
    provider: entry.id,
    providerSlug: saved?.slug,
    // A counter is kept for each: its name must have a bound.
    model: servedModel === '' ? undefined : servedModel.slice(0, 1024),
  };
}
