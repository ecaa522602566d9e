import { type ConfigCaps, type ConfigNode, parseConfigDocument } from '@sluice/contracts';
import { type CompiledConfig, compileConfig, type Hook } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import { jsonBounds, readJsonText } from '@sluice/json';
import type { JsonValue } from '@sluice/providers';
import { deeperThan } from '../http/json-body.ts';
import type { CompiledBundle } from './compiled-bundle.ts';
import { RecentlyUsed } from './recently-used.ts';
import { findGuardrail, SavedGuardrails } from './saved-guardrails.ts';

export interface ConfigCompilerOptions {
  caps: ConfigCaps;
  /** Ids of the checks that hooks may name. */
  knownChecks: ReadonlySet<string>;
}

/** A compiled document, or why it cannot be run: that is remembered too. */
interface Compiled {
  readonly outcome: CompiledConfig | GatewayError;
  readonly text: string;
  /** About what it takes in memory, in bytes. */
  readonly weight: number;
  /** Saved configs it refers to, at any depth, and the version each had; undefined = there was none. */
  readonly references: ReadonlyMap<string, string | undefined>;
  /** The same of saved guardrails. */
  readonly guardrails: ReadonlyMap<string, string | undefined>;
  /** Of the bundle in which the references were last found to be these. */
  bundleHash: string;
}

/** Validation is recursive; deeper documents would take its stack. */
const depthMax = 200;
/** Saved configs that one config may bring in. */
const referencesMax = 200;
const savedMax = 10_000;
const inlineMax = 2_000;
const savedBytesMax = 64 * 1024 * 1024;
const inlineBytesMax = 16 * 1024 * 1024;
/** Of one compiled target, beside the text it was made from. */
const targetBytes = 1024;
const inlineCharsMax = 64 * 1024;

/**
 * Compiles config documents on first use and keeps those in use. One for the
 * gateway: what is kept is capped over all workspaces. Nothing is shared
 * between workspaces but documents that are the same and refer to the same
 * versions.
 */
export class ConfigCompiler {
  readonly #options: ConfigCompilerOptions;
  readonly #guardrails = new SavedGuardrails();
  readonly #saved = new RecentlyUsed<Compiled>({ countMax: savedMax, weightMax: savedBytesMax });
  readonly #inline = new RecentlyUsed<Compiled>({ countMax: inlineMax, weightMax: inlineBytesMax });

  constructor(options: ConfigCompilerOptions) {
    this.#options = options;
  }

  /**
   * The document of a saved config of this bundle.
   * @throws GatewayError `config.invalid` when it cannot be run
   */
  saved(
    bundle: CompiledBundle,
    saved: { versionId: string; slug: string; bodyJson: string },
  ): CompiledConfig {
    const { caps } = this.#options;
    const text = saved.bodyJson;
    const held = this.#saved.get(saved.versionId);
    if (held !== undefined && held.text === text && isCurrent(held, bundle)) return runnable(held);
    const compiled = this.#compile(bundle, text, saved.slug, () => ({
      config: savedDocument(saved.slug, text, caps),
    }));
    this.#saved.put(saved.versionId, compiled, compiled.weight);
    return runnable(compiled);
  }

  /**
   * A document that came with a request.
   * @throws GatewayError `config.invalid` when it cannot be run
   */
  inline(bundle: CompiledBundle, text: string): CompiledConfig {
    const held = this.#inline.get(text);
    if (held !== undefined && isCurrent(held, bundle)) return runnable(held);
    const compiled = this.#compile(bundle, text, undefined, () =>
      inlineDocument(text, this.#options.caps),
    );
    if (text.length <= inlineCharsMax) this.#inline.put(text, compiled, compiled.weight);
    return runnable(compiled);
  }

  #compile(
    bundle: CompiledBundle,
    text: string,
    slug: string | undefined,
    parse: () => { config: ConfigNode; ignored?: readonly string[] },
  ): Compiled {
    const references = new References(bundle, this.#options.caps, this.#guardrails);
    let outcome: CompiledConfig | GatewayError;
    try {
      const { config, ignored } = parse();
      outcome = compileConfig(config, {
        ...this.#options,
        slug,
        ignored,
        findConfig: references.find,
        findGuardrail: references.findGuardrail,
      });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      outcome = error;
    }
    const targets = outcome instanceof GatewayError ? 0 : outcome.targets.length;
    return {
      outcome,
      text,
      weight: text.length + references.chars + targets * targetBytes,
      references: references.versions,
      guardrails: references.guardrails,
      bundleHash: bundle.source.hash,
    };
  }
}

function runnable({ outcome }: Compiled): CompiledConfig {
  if (outcome instanceof GatewayError) throw outcome;
  return outcome;
}

/** Whether what the document refers to is the same in this bundle. */
function isCurrent(compiled: Compiled, bundle: CompiledBundle): boolean {
  const { references, guardrails } = compiled;
  if (references.size + guardrails.size === 0 || compiled.bundleHash === bundle.source.hash)
    return true;
  for (const [slug, versionId] of references)
    if (bundle.configs.get(slug)?.versionId !== versionId) return false;
  for (const [name, versionId] of guardrails)
    if (findGuardrail(bundle, name)?.version.id !== versionId) return false;
  compiled.bundleHash = bundle.source.hash;
  return true;
}

/** The saved configs that one document refers to, looked up in its own workspace and nowhere else. */
class References {
  readonly versions = new Map<string, string | undefined>();
  readonly guardrails = new Map<string, string | undefined>();
  readonly #nodes = new Map<string, ConfigNode>();
  readonly #bundle: CompiledBundle;
  readonly #caps: ConfigCaps;
  readonly #saved: SavedGuardrails;
  chars = 0;

  constructor(bundle: CompiledBundle, caps: ConfigCaps, saved: SavedGuardrails) {
    this.#bundle = bundle;
    this.#caps = caps;
    this.#saved = saved;
  }

  readonly findGuardrail = (reference: string): Hook | undefined => {
    const found = findGuardrail(this.#bundle, reference);
    this.guardrails.set(reference, found?.version.id);
    if (this.guardrails.size > referencesMax)
      throw invalid(`The config refers to more than ${referencesMax} guardrails.`);
    if (found === undefined) return undefined;
    this.chars += found.version.checksJson.length;
    return this.#saved.hook(found);
  };

  readonly find = (slug: string): ConfigNode | undefined => {
    const known = this.#nodes.get(slug);
    if (known !== undefined) return known;
    const saved = this.#bundle.configs.get(slug);
    this.versions.set(slug, saved?.versionId);
    if (this.versions.size > referencesMax)
      throw invalid(`The config refers to more than ${referencesMax} saved configs.`);
    // By slug only, as it was checked when it was saved.
    if (saved === undefined || saved.slug !== slug) return undefined;
    const node = savedDocument(slug, saved.bodyJson, this.#caps);
    this.#nodes.set(slug, node);
    this.chars += saved.bodyJson.length;
    return node;
  };
}

function savedDocument(slug: string, text: string, caps: ConfigCaps): ConfigNode {
  const parsed = parseConfigDocument(parseJson(text), 'ignore', caps);
  if (parsed.ok) return parsed.config;
  throw invalid(`The saved config "${slug}" is not valid: ${parsed.faults[0] ?? ''}`, {
    faults: parsed.faults,
  });
}

function inlineDocument(
  text: string,
  caps: ConfigCaps,
): { config: ConfigNode; ignored: readonly string[] } {
  const document = parseJson(text);
  if (document === undefined) throw invalid('x-service-config is not valid JSON.');
  if (deeperThan(document as JsonValue, depthMax))
    throw invalid(`The config is nested deeper than ${depthMax} levels.`);
  const parsed = parseConfigDocument(document, 'ignore', caps);
  if (parsed.ok) {
    if (parsed.config.strict_params === true) refuseIgnored(parsed.ignored);
    return parsed;
  }
  throw invalid(`The config is not valid: ${parsed.faults[0] ?? ''}`, {
    field: parsed.field,
    faults: parsed.faults,
  });
}

/**
 * Where anybody wants a refusal in place of a request that lacks something.
 * @param ignored  paths of keys that nobody knows
 * @throws GatewayError `config.invalid` that names them all
 */
export function refuseIgnored(ignored: readonly string[]): void {
  const [field] = ignored;
  if (field === undefined) return;
  const faults = ignored.map((path) => `path: ${path}, message: is no field here`);
  throw invalid(`The config is not valid: ${faults[0] ?? ''}`, { field, faults });
}

function invalid(
  message: string,
  options: { field?: string; faults?: readonly string[] } = {},
): GatewayError {
  return new GatewayError('config.invalid', { field: 'x-service-config', message, ...options });
}

/** Undefined: not JSON, or more than a config can be. */
function parseJson(text: string): unknown {
  try {
    return readJsonText(text, jsonBounds.small);
  } catch {
    return undefined;
  }
}
