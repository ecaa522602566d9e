/**
 * Spellings of config keys. Documents may be written in snake_case or in
 * camelCase; everything behind this file sees snake_case.
 */

/** Maps and lists whose keys belong to the user, not to us. */
const opaqueKeys = new Set([
  'override_params',
  'default_params',
  'params',
  'parameters',
  'checks',
  'credentials',
  'metadata',
  'vertex_service_account_json',
  'input_guardrails',
  'output_guardrails',
  'input_mutators',
  'output_mutators',
  'default_input_guardrails',
  'default_output_guardrails',
]);

/** Deeper than any key of ours can stand; what lies below is left for validation to refuse. */
const foldDepthMax = 150;

/** camelCase names to snake_case, leaving user-owned maps alone. */
export function foldConfigNames(value: unknown): unknown {
  return fold(value, 0);
}

function fold(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > foldDepthMax) return value;
  if (Array.isArray(value)) return value.map((entry) => fold(entry, depth + 1));
  const folded: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const inner = (value as Record<string, unknown>)[key];
    const name = foldName(key);
    // Assigning to it would replace the prototype instead of adding a key.
    if (name === '__proto__') continue;
    if (name === 'conditions' || name === 'checks') folded[name] = copyEntries(inner);
    else folded[name] = opaqueKeys.has(name) ? inner : fold(inner, depth + 1);
  }
  return folded;
}

/** Queries and parameters are the user's, but the objects that hold them are ours to prune. */
function copyEntries(list: unknown): unknown {
  if (!Array.isArray(list)) return list;
  return list.map((entry) =>
    typeof entry === 'object' && entry !== null && !Array.isArray(entry) ? { ...entry } : entry,
  );
}

const upperCase = /[A-Z]/;

function foldName(key: string): string {
  if (!upperCase.test(key)) return key;
  if (key === 'strictOpenAICompliance') return 'strict_open_ai_compliance';
  if (key === 'softDeny200') return 'soft_deny_200';
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
