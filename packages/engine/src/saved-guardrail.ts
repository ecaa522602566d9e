import type { JsonObject } from '@sluice/contracts';
import type { Hook } from './hook.ts';
import { isJsonObject } from './hook-feedback.ts';
import { hookSettings, unsaid } from './hook-settings.ts';
import { readStreaming } from './hook-streaming.ts';

/** One version of a guardrail as an administrator saved it: checks and actions, secrets in clear. */
export interface SavedGuardrail {
  readonly slug: string;
  readonly versionId: string;
  readonly checks: readonly JsonObject[];
  readonly actions: JsonObject;
}

/** A saved guardrail as a hook. What it says was looked at when it was saved. */
export function savedHook({ slug, versionId, checks, actions }: SavedGuardrail): Hook {
  return {
    id: slug,
    type: 'guardrail',
    ...unsaid,
    ...hookSettings(actions, slug),
    streaming: readStreaming(actions, slug),
    checks: checks.map(({ id, parameters, is_enabled: isEnabled }) => ({
      id: String(id),
      parameters: (parameters ?? {}) as JsonObject,
      isEnabled: isEnabled !== false,
      deniesSoftly: isJsonObject(parameters) && parameters.soft_deny_200 === true,
    })),
    by: 'admin',
    isEnforced: false,
    versionId,
  };
}

/** What a name of a saved guardrail consists of: `pg-name`, its id, or one of its versions, `pg-name@3`. */
export function splitGuardrailReference(reference: string): {
  name: string;
  version: number | undefined;
} {
  const match = /^(.+)@(\d{1,9})$/.exec(reference);
  const name = (match?.[1] ?? reference).replace(/^guard_/, 'pg-');
  return { name, version: match === null ? undefined : Number(match[2]) };
}
