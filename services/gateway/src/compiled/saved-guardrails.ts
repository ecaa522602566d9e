import { type Hook, savedHook, splitGuardrailReference } from '@sluice/engine';
import { jsonBounds, readJsonText } from '@sluice/json';
import type { config } from '@sluice/proto-stubs';
import type { JsonObject } from '@sluice/providers';
import { RecentlyUsed } from './recently-used.ts';
import type { BundleTables } from './tables.ts';

/** One version of a saved guardrail, as it came. */
export interface GuardrailSource {
  readonly slug: string;
  readonly version: config.GuardrailVersion;
}

/** The version that a name means in this workspace; undefined = there is none. */
export function findGuardrail(
  { guardrails, guardrailVersions }: Pick<BundleTables, 'guardrails' | 'guardrailVersions'>,
  reference: string,
): GuardrailSource | undefined {
  const { name, version: number } = splitGuardrailReference(reference);
  const guardrail = guardrails.get(name);
  if (guardrail === undefined) return undefined;
  const version = guardrailVersions.get(`${guardrail.id}@${number ?? guardrail.version}`);
  return version === undefined ? undefined : { slug: guardrail.slug, version };
}

/** @throws Error when it cannot be read, which the control plane wrote */
export function readGuardrail({ slug, version }: GuardrailSource): Hook {
  return savedHook({
    slug,
    versionId: version.id,
    checks: readJsonText(version.checksJson, jsonBounds.request) as JsonObject[],
    actions: readJsonText(version.actionsJson, jsonBounds.request) as JsonObject,
  });
}

/** Hooks of saved guardrails, made once for each version that is in use: versions never change. */
export class SavedGuardrails {
  readonly #hooks = new RecentlyUsed<Hook>({ countMax: 10_000, weightMax: 64 * 1024 * 1024 });

  hook(source: GuardrailSource): Hook {
    const { id, checksJson } = source.version;
    const held = this.#hooks.get(id);
    if (held !== undefined) return held;
    const hook = readGuardrail(source);
    this.#hooks.put(id, hook, checksJson.length);
    return hook;
  }
}
