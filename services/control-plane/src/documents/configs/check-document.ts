import {
  type ConfigCaps,
  type ConfigNode,
  parseConfigDocument,
  storedConfigCaps,
} from '@sluice/contracts';
import { compileConfig, savedHook } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import { needsCredentials } from '@sluice/guardrails';
import { parseText } from '@sluice/json';
import type { Database } from '../../kernel/database/client.ts';
import { nearestAdvice } from '../../kernel/names/nearest.ts';
import { namedGuardrails } from '../guardrails/named-guardrails.ts';
import { missingNames, type ProviderCatalogue } from './check-names.ts';
import { findActiveDocuments } from './store.ts';

/** Configs that one config may bring in, at any depth. The gateway has the same bound. */
const referencesMax = 200;

/**
 * A document that fits the schema; what it refers to has not been looked at.
 * @throws 400 with the path of every fault
 */
export function parseDocument(document: Record<string, unknown>, caps: ConfigCaps): ConfigNode {
  const result = parseConfigDocument(document, 'refuse', caps, nearestAdvice);
  if (!result.ok) throw invalidConfig(result.field, result.faults);
  return result.config;
}

/**
 * Compiles a config as a gateway will, with the configs of its workspace that
 * it refers to. It takes part under its own slug, so that a circle is found
 * when its last part is saved.
 * @param missing hears of each config and guardrail that is not there, which is a fault without it
 * @throws 400 with the path of the fault
 */
export async function checkRuns(
  db: Database,
  workspaceId: string,
  slug: string,
  node: ConfigNode,
  missing?: (what: string) => void,
): Promise<void> {
  const configs = await findReferences(db, workspaceId, slug, node);
  const findGuardrail = await namedGuardrails(db, workspaceId);
  try {
    compileConfig(node, {
      slug,
      findConfig: (name) => configs.get(name) ?? standIn(missing, `config "${name}"`, {}),
      findGuardrail: (name) =>
        findGuardrail(name) ?? standIn(missing, `guardrail "${name}"`, savedHook(noGuardrail)),
      needsCredentials,
    });
  } catch (error) {
    if (error instanceof GatewayError && saysInvalid.has(error.code))
      throw invalidConfig(error.field ?? 'config', error.faults ?? [error.message]);
    throw error;
  }
}

const noGuardrail = { slug: '', versionId: '', checks: [], actions: {} };

function standIn<T>(missing: ((what: string) => void) | undefined, what: string, empty: T) {
  if (missing === undefined) return undefined;
  missing(what.slice(0, 100));
  return empty;
}

/**
 * Everything that a document names is there, and it runs.
 * @param allowMissing what is not there is no fault, for set-up in odd order
 * @returns a line for each name of nothing
 * @throws 400 with the path of every name of nothing and the nearest of those there are
 */
export async function checkNamesAndRuns(
  db: Database,
  config: { workspaceId: string; slug: string; node: ConfigNode },
  catalogue: ProviderCatalogue,
  allowMissing: boolean,
): Promise<readonly string[]> {
  const { workspaceId, slug, node } = config;
  const absent = new Set<string>();
  const noted = (what: string) => absent.add(`body.config: names the ${what}, which is not there`);
  await checkRuns(db, workspaceId, slug, node, allowMissing ? noted : undefined);
  const missing = await missingNames(db, workspaceId, node, catalogue);
  const [first] = missing;
  if (first !== undefined && !allowMissing)
    throw invalidConfig(
      first.field,
      missing.map(({ field, message }) => `path: ${field}, message: ${message}`),
    );
  return [...missing.map(({ field, message }) => `body.${field}: ${message}`), ...absent];
}

const saysInvalid: ReadonlySet<string> = new Set(['config.invalid', 'guardrail.not_found']);

/** All configs within reach and the one itself, by slug: one query for each step away from the first. */
export async function findReferences(
  db: Database,
  workspaceId: string,
  slug: string,
  node: ConfigNode,
): Promise<ReadonlyMap<string, ConfigNode>> {
  const found = new Map([[slug, node]]);
  const asked = new Set([slug]);
  for (let level = [node]; level.length > 0; ) {
    const wanted = new Set(level.flatMap(referencesOf).filter((name) => !asked.has(name)));
    if (asked.size - 1 + wanted.size > referencesMax)
      throw invalidConfig('config', [
        `path: config, message: must not refer to more than ${referencesMax} configs, at any depth`,
      ]);
    for (const name of wanted) asked.add(name);
    level = [];
    if (wanted.size === 0) break;
    for (const { slug: name, body } of await findActiveDocuments(db, workspaceId, [...wanted])) {
      const parsed = parseConfigDocument(parseText(body), 'ignore', storedConfigCaps);
      if (!parsed.ok) continue;
      found.set(name, parsed.config);
      level.push(parsed.config);
    }
  }
  return found;
}

/** Slugs that stand in a document itself. */
export function referencesOf(root: ConfigNode): string[] {
  const slugs: string[] = [];
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.config !== undefined) slugs.push(node.config);
    for (const target of node.targets ?? []) waiting.push(target);
  }
  return slugs;
}

/** Faults name `config…`; the caller sent it as a field of the body. */
function invalidConfig(field: string, faults: readonly string[]): GatewayError {
  const inBody = faults.map((fault) => fault.replace(/^path: config/, 'path: body.config'));
  return new GatewayError('admin.validation', {
    message: `The config is not valid: ${inBody[0] ?? ''}`,
    field: `body.${field}`,
    faults: inBody,
  });
}
