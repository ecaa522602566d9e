import {
  type CompiledPrompt,
  compilePrompt,
  type FindPartial,
  MissingPartials,
  parseTemplate,
  type SavedPartial,
  TemplateFault,
} from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import { parseText } from '@sluice/json';
import type { config } from '@sluice/proto-stubs';
import type { JsonObject } from '@sluice/providers';
import type { CompiledBundle } from './compiled-bundle.ts';
import { RecentlyUsed } from './recently-used.ts';

/** One version of a saved prompt, as a reference named it. */
export interface FoundPrompt {
  readonly id: string;
  readonly slug: string;
  readonly version: number;
  readonly versionId: string;
  readonly template: CompiledPrompt;
  /** What was saved beside the template: model, parameters, tools. */
  readonly body: JsonObject;
  /** `@slug` of the provider it was saved with. */
  readonly provider: string;
}

interface CompiledVersion {
  readonly template: CompiledPrompt;
  readonly body: JsonObject;
}

const heldMax = 5_000;
const heldCharsMax = 32 * 1024 * 1024;

/**
 * Finds prompts and partials by reference and compiles them on first use. What
 * a version says never changes, so what is kept needs no care.
 */
export class PromptCompiler {
  readonly #prompts = new RecentlyUsed<CompiledVersion>({
    countMax: heldMax,
    weightMax: heldCharsMax,
  });
  readonly #partials = new RecentlyUsed<SavedPartial>({
    countMax: heldMax,
    weightMax: heldCharsMax,
  });

  /**
   * `slug` or id, alone or with `@12`, `@latest` or `@label`.
   * @throws GatewayError `prompt.not_found`
   */
  find(bundle: CompiledBundle, reference: string): FoundPrompt {
    const { name, suffix } = splitReference(reference);
    const prompt = bundle.prompts.get(name) ?? bundle.prompts.get(name.toLowerCase());
    if (prompt === undefined)
      throw notFound(`no prompt "${name.slice(0, 80)}" is in this workspace`);
    const number = versionNumber(prompt, suffix);
    const version =
      number === undefined ? undefined : bundle.promptVersions.get(`${prompt.id}@${number}`);
    if (number === undefined || version === undefined)
      throw notFound(`the prompt "${prompt.slug}" has no version "${suffix?.slice(0, 80)}"`);
    return {
      id: prompt.id,
      slug: prompt.slug,
      version: number,
      versionId: version.id,
      ...this.#compiled(version),
      provider: `@${version.providerSlug}`,
    };
  }

  /** Partials of the same workspace: published, or with `@4` or `@latest`. Labels do not apply. */
  partialsOf(bundle: CompiledBundle): FindPartial {
    return (reference) => {
      const { name, suffix } = splitReference(reference);
      const partial = bundle.partials.get(name);
      if (partial === undefined) return undefined;
      const number = versionNumber({ ...partial, labels: {} }, suffix);
      const version = bundle.partialVersions.get(`${partial.id}@${number}`);
      return version === undefined ? undefined : this.#parsed(version);
    };
  }

  #compiled(version: config.PromptVersion): CompiledVersion {
    const held = this.#prompts.get(version.id);
    if (held !== undefined) return held;
    const compiled = {
      template: compile(version),
      body: parseText(version.bodyJson) as JsonObject,
    };
    this.#prompts.put(version.id, compiled, version.template.length + version.bodyJson.length);
    return compiled;
  }

  #parsed({ id, template: source }: config.PromptPartialVersion): SavedPartial {
    const held = this.#partials.get(id);
    if (held !== undefined) return held;
    const partial = { source, template: parseTemplate(source) };
    this.#partials.put(id, partial, source.length);
    return partial;
  }
}

function compile(version: config.PromptVersion): CompiledPrompt {
  try {
    return compilePrompt({
      template: version.template,
      isRaw: version.isRawTemplate,
      type: version.templateType === '' ? undefined : version.templateType,
    });
  } catch (error) {
    throw promptFault(error);
  }
}

function splitReference(reference: string): { name: string; suffix: string | undefined } {
  const at = reference.indexOf('@');
  return at < 0
    ? { name: reference, suffix: undefined }
    : { name: reference.slice(0, at), suffix: reference.slice(at + 1) };
}

function versionNumber(
  named: Pick<config.Prompt, 'publishedVersion' | 'latestVersion' | 'labels'>,
  suffix: string | undefined,
): number | undefined {
  if (suffix === undefined || suffix === 'default') return named.publishedVersion;
  if (suffix === 'latest') return named.latestVersion;
  if (/^\d{1,10}$/.test(suffix)) return Number(suffix);
  return Object.hasOwn(named.labels, suffix) ? named.labels[suffix] : undefined;
}

function notFound(what: string): GatewayError {
  return new GatewayError('prompt.not_found', {
    field: 'path.promptId',
    message: `Invalid prompt id: ${what}.`,
  });
}

/** What is wrong with a template is for the caller to see. */
export function promptFault(error: unknown): unknown {
  if (!(error instanceof TemplateFault)) return error;
  const isSound = error instanceof MissingPartials;
  return new GatewayError('prompt.invalid', {
    message: `${isSound ? '' : 'Error in parsing prompt template: '}${error.message}.`,
    cause: error,
  });
}
