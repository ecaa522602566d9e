import type { JsonObject } from '@sluice/contracts';
import type { ModelOverrides } from './models/model-overrides.ts';

/**
 * How a provider learns who asks. Those that are only headers are made here
 * (`auth-headers.ts`); `aws`, `google`, `azure` and `oci` need clocks, keys and
 * tokens, and are the gateway's work.
 */
export type AuthRecipe =
  | { type: 'none' }
  /** `scheme` stands before the key, `Bearer` when absent. */
  | { type: 'bearer'; scheme?: string }
  | { type: 'header'; header: string }
  /** Key and the setting with the secret, base64. */
  | { type: 'basic'; secretSetting: string }
  /** Headers from settings, e.g. a pair of key and secret; undefined = not set. */
  | {
      type: 'headers';
      make: (apiKey: string, setting: ReadSetting) => Record<string, string | undefined>;
    }
  /** Signature version 4, or a bearer key where the credential is one. */
  | { type: 'aws'; service: string }
  | { type: 'google' }
  /** `keyHeader` carries the key when there is no Entra token; with `authorization` it is a bearer key. */
  | { type: 'azure'; keyHeader: 'api-key' | 'authorization' | 'x-api-key' }
  | { type: 'oci' };

/** Looks up a setting of the provider by its neutral name, e.g. `aws-region`; undefined when nobody set it. */
export type ReadSetting = (name: string) => string | undefined;

/** What an address may depend on. */
export interface CallFacts {
  /** As the upstream is asked for it, not yet encoded for a path. */
  model: string;
  stream: boolean;
  setting: ReadSetting;
  /** The caller's body, for addresses that carry a part of it; absent where none is at hand. */
  request?: JsonObject;
  /** True = the credential is an admin's: nothing in the body may say whose account it is used for. */
  accountIsSettled?: boolean;
  /** What the operator knows better of models than our table. */
  modelOverrides?: ModelOverrides;
  /** Of a pass-through call: what the caller asked for, e.g. `/files`, without the query. */
  proxyPath?: string;
  /** Ways of serving that the caller asked for ahead of time: `x-service-beta`. */
  betas?: readonly string[];
}
