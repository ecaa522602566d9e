import { GatewayError } from '@sluice/errors';
import type { AuthRecipe, ReadSetting } from '@sluice/providers';
import type { Dispatcher } from 'undici';

/** A request that is ready but for the proof of who asks. */
export interface UnauthorisedRequest {
  recipe: AuthRecipe;
  apiKey: string;
  setting: ReadSetting;
  /** Of the caller's request; some clouds take it as session tags. */
  metadata: Readonly<Record<string, string>>;
  origin: string;
  /** With the query. */
  path: string;
  method: string;
  headers: Readonly<Record<string, string | string[]>>;
  body: Dispatcher.DispatchOptions['body'];
  signal: AbortSignal;
}

export interface AuthorisedRequest {
  headers: Record<string, string | string[]>;
  body: Dispatcher.DispatchOptions['body'];
}

/** Makes signatures and fetches tokens, for the recipes that need more than a header. */
export interface Authoriser {
  /** @throws GatewayError `provider.authorisation_failed`, `provider.setting_missing` */
  authorise(request: UnauthorisedRequest): Promise<AuthorisedRequest>;
}

const ofEachCall: ReadonlySet<AuthRecipe['type']> = new Set(['aws', 'google', 'azure', 'oci']);

/** Whether this recipe is an authoriser's work; the others are headers already. */
export function isMadeForEachCall({ type }: AuthRecipe): boolean {
  return ofEachCall.has(type);
}

export const createAuthoriser = (): Authoriser => ({
  authorise({ recipe }) {
    return Promise.reject(
      new GatewayError('provider.authorisation_failed', {
        message: `This release cannot authorise with ${recipe.type}.`,
      }),
    );
  },
});
