import type { AuthRecipe, ReadSetting } from '@sluice/providers';
import type { Dispatcher } from 'undici';

/** Makes signatures and fetches tokens, for the recipes that need more than a header. */
export interface CallAuthoriser {
  /** Whether this recipe is its work; the others are headers already. */
  isMadeForEachCall(recipe: AuthRecipe): boolean;
  /** @throws GatewayError `provider.authorisation_failed`, `provider.setting_missing`, `provider.setting_invalid` */
  authorise(request: UnauthorisedRequest): Promise<AuthorisedRequest>;
  /**
   * The same as far as nobody has to be asked: what is missing among the settings is told, what a token endpoint would
   * say is not.
   * @throws GatewayError as `authorise`
   */
  foresee(request: UnauthorisedRequest): Promise<void>;
}

/** A request that is ready but for the proof of who asks. */
export interface UnauthorisedRequest {
  recipe: AuthRecipe;
  apiKey: string;
  setting: ReadSetting;
  /**
   * The settings as admins saved them, without what callers and configs say.
   * Undefined when the provider or its address is the caller's own: the
   * identity of this machine is not lent to those.
   */
  savedSetting: ReadSetting | undefined;
  /** The workspace's, the key's, and the request's, in the order in which they win; AWS takes them as session tags. */
  metadata: readonly Readonly<Record<string, string>>[];
  /** The workspace: on its account what is asked for it is looked up and connected to. */
  owner: string;
  origin: string;
  /** With the query. */
  path: string;
  method: string;
  headers: Readonly<Record<string, string | string[]>>;
  body: Dispatcher.DispatchOptions['body'];
  signal: AbortSignal;
}

export interface AuthorisedRequest {
  /** Another partition of a cloud has other addresses than the catalogue says. */
  origin: string;
  headers: Record<string, string | string[]>;
  body: Dispatcher.DispatchOptions['body'];
}
