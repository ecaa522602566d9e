import type { z } from 'zod';
import { type ConfigNode, configNode } from './config.ts';
import { type ConfigCaps, type ConfigFault, configCaps, fanOutFault } from './config-caps.ts';
import { configFaults } from './config-checks.ts';
import { foldConfigNames } from './config-names.ts';

export type ConfigParseResult =
  /** `ignored`: paths of the keys that were left out, at most 20. */
  | { ok: true; config: ConfigNode; ignored: readonly string[] }
  | { ok: false; faults: readonly string[]; field: string };

/** More faults than this help nobody. */
const faultsMax = 20;

/** How a fault says what is known in place of an unknown key. */
type KeyAdvice = (key: string, known: readonly string[]) => string;

const listKnown: KeyAdvice = (_, known) => `; there are ${known.join(', ')}`;

/**
 * Checks a document. Unknown keys are faults when `unknownKeys` is 'refuse'
 * (saving) and are left out, and named, when it is 'ignore' (inline, so that a
 * document written for a newer release still works). What conditions, patterns
 * and references mean is checked when the document is compiled.
 */
export function parseConfigDocument(
  value: unknown,
  unknownKeys: 'refuse' | 'ignore',
  caps: ConfigCaps = configCaps,
  advice: KeyAdvice = listKnown,
): ConfigParseResult {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refused([{ field: 'config', message: 'must be a JSON object' }]);
  if ('options' in value)
    return refused([
      { field: 'config.options', message: 'is the old format; use targets and strategy' },
    ]);
  const tooLarge = fanOutFault(value, caps);
  if (tooLarge !== undefined) return refused([tooLarge]);
  const folded = foldConfigNames(value);
  let parsed = configNode.safeParse(folded);
  let ignored: readonly string[] = [];
  if (!parsed.success && unknownKeys === 'ignore') {
    ignored = parsed.error.issues.slice(0, faultsMax).flatMap(unknownPaths).slice(0, faultsMax);
    // Folding copied what it went through, so nothing of the caller's is changed here.
    for (const issue of parsed.error.issues)
      if (issue.code === 'unrecognized_keys') removeKeys(folded, issue.path, issue.keys);
    parsed = configNode.safeParse(folded);
  }
  if (!parsed.success)
    return refused(
      parsed.error.issues
        .slice(0, faultsMax)
        .flatMap((issue) => faultsOf(issue, advice))
        .slice(0, faultsMax),
    );
  const faults = configFaults(parsed.data, unknownKeys === 'refuse', faultsMax);
  return faults.length === 0 ? { ok: true, config: parsed.data, ignored } : refused(faults);
}

function unknownPaths(issue: z.core.$ZodIssue): string[] {
  if (issue.code !== 'unrecognized_keys') return [];
  return issue.keys.slice(0, faultsMax).map((key) => configPath([...issue.path, key.slice(0, 80)]));
}

function faultsOf(issue: z.core.$ZodIssue, advice: KeyAdvice): ConfigFault[] {
  if (issue.code !== 'unrecognized_keys')
    return [{ field: configPath(issue.path), message: issue.message }];
  const known = keysAt(issue.path);
  return unknownPaths(issue).map((field, index) => ({
    field,
    message: `is no field here${advice(issue.keys[index] ?? '', known)}`,
  }));
}

/** As much of a schema as is looked at; Zod publishes it for libraries (`_zod.def`). */
interface Form {
  readonly _zod: {
    readonly def: {
      readonly shape?: Readonly<Record<string, Form>>;
      readonly element?: Form;
      readonly innerType?: Form;
    };
  };
}

/** The keys that an object of a document may have, where there is one. */
function keysAt(path: readonly PropertyKey[]): string[] {
  let form: Form | undefined = configNode as unknown as Form;
  for (const part of path) {
    const { shape, element }: Form['_zod']['def'] = bare(form)?._zod.def ?? {};
    form = typeof part === 'number' ? element : shape?.[String(part)];
  }
  return Object.keys(bare(form)?._zod.def.shape ?? {});
}

function bare(form: Form | undefined): Form | undefined {
  return form?._zod.def.innerType === undefined ? form : bare(form._zod.def.innerType);
}

function refused(faults: readonly ConfigFault[]): ConfigParseResult {
  return {
    ok: false,
    field: faults[0]?.field ?? 'config',
    faults: faults.map(({ field, message }) => `path: ${field}, message: ${message}`),
  };
}

/** `config.targets[0].retry.attempts`, the form used in errors and in the option-index header. */
export function configPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : `${text}.${String(part)}`),
    'config',
  );
}

function removeKeys(root: unknown, path: readonly PropertyKey[], keys: readonly string[]): void {
  let holder: unknown = root;
  for (const part of path) holder = (holder as Record<PropertyKey, unknown> | undefined)?.[part];
  if (typeof holder !== 'object' || holder === null) return;
  for (const key of keys) delete (holder as Record<string, unknown>)[key];
}
