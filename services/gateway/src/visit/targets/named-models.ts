import type { JsonObject, JsonValue } from '@sluice/providers';

/** A name that a part of a request gives to a model, and where it stands. */
export interface NamedModel {
  name: string;
  /** As error bodies write it: `body.tools.0.model`, `query.model`, `x-amzn-sagemaker-target-model`. */
  field: string;
}

/**
 * Every name in a body that a vendor may take for a choice of a model: the
 * model itself, lists of fallbacks, models of tools, sessions, graders and
 * batches, in whichever case and spelling. What only is talked about –
 * messages, schemas of tools – is left out.
 */
export function modelsInBody(json: JsonObject, field = 'body'): NamedModel[] {
  const found: NamedModel[] = [];
  walk(json, field, found);
  return found;
}

function walk(value: JsonValue | undefined, field: string, found: NamedModel[]): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) walk(item, `${field}.${index}`, found);
    return;
  }
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (isTalk(key, member)) continue;
    const at = `${field}.${key}`;
    if (choosesModel(key)) collect(member, at, found);
    walk(member, at, found);
  }
}

function collect(value: JsonValue | undefined, field: string, found: NamedModel[]): void {
  if (typeof value === 'string') found.push({ name: value, field });
  else if (Array.isArray(value))
    for (const [index, item] of value.entries())
      if (typeof item === 'string') found.push({ name: item, field: `${field}.${index}` });
}

/** Under these, texts and schemas may use the word without choosing anything. */
const talk = new Set([
  'messages',
  'contents',
  'system',
  'metadata',
  'function',
  'functions',
  'functionDeclarations',
  'function_declarations',
  'input_schema',
  'inputSchema',
  'json_schema',
  'schema',
  'responseSchema',
  'responseJsonSchema',
]);

function isTalk(key: string, value: JsonValue | undefined): boolean {
  if (key === 'input') return typeof value === 'string' || Array.isArray(value);
  if (key === 'parameters') return isSchema(value);
  return talk.has(key);
}

function isSchema(value: JsonValue | undefined): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    typeof value.properties === 'object'
  );
}

/**
 * Whether a member, query parameter or header of this name chooses a model, as
 * the most lenient reader would have it: letters that fold together are one,
 * and separators, brackets and surrounding space do not count.
 */
export function choosesModel(name: string): boolean {
  if (name.length > nameLengthMax) return false;
  return choice.test(foldedName(name));
}

const nameLengthMax = 128;
const choice =
  /(?:models?|modelids?|modelnames?|deployments?|deploymentids?|deploymentnames?|endpointids?)$|^engines?$/;

/** `Model`, `MODEL ` and `modeL` are one name for readers that do not look at case. */
export function foldedName(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\[[^\]]*\]$/, '')
    .replace(/[^a-z0-9]/g, '');
}

/**
 * The text at one of these places; `*` in a place stands for each item of a
 * list, all of which must have it. Undefined when none of the places has one.
 */
export function memberAt(json: JsonObject, places: readonly string[]): string | undefined {
  for (const place of places) {
    const text = textAt(json, place.split('.'));
    if (text !== undefined) return text;
  }
  return undefined;
}

function textAt(value: JsonValue | undefined, path: readonly string[]): string | undefined {
  const [first, ...rest] = path;
  if (first === undefined) return typeof value === 'string' && value !== '' ? value : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (first !== '*')
    return Array.isArray(value) || !Object.hasOwn(value, first)
      ? undefined
      : textAt(value[first], rest);
  if (!Array.isArray(value)) return undefined;
  const texts = value.map((item) => textAt(item, rest));
  return texts.includes(undefined) ? undefined : texts[0];
}
