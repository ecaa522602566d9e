import type { JsonObject, JsonValue } from '@sluice/contracts';
import { judgeInjection } from '@sluice/guardrails';
import { isObject } from '../envelope/read-message.ts';
import { type DefinitionText, definitionTexts } from './definition-texts.ts';
import { hiddenCharacters } from './hidden-characters.ts';
import { isMixedName, skeletonOf } from './look-alike.ts';
import { poisonsIn } from './poisons.ts';

export type FindingKind =
  /** Characters or space that people do not see. */
  | 'hidden_text'
  /** It tells the model what to do beside using this. */
  | 'instructions'
  /** It speaks of a tool of another server. */
  | 'other_tool'
  /** It looks like the name of another. */
  | 'look_alike_name'
  /** A schema that is somewhere else, and can be another tomorrow. */
  | 'remote_reference'
  /** More text than is read. */
  | 'too_large';

export interface Finding {
  readonly kind: FindingKind;
  /** In the definition; empty = as a whole. */
  readonly path: string;
  /** What was found, for whoever decides about it. */
  readonly detail: string;
}

/** What a definition is held against. Made once for all definitions of a list. */
export interface ScanContext {
  /** Servers by the names of their tools, those of the server that is scanned left out. */
  readonly otherTools: ReadonlyMap<string, string>;
  /** Names of tools by their skeletons: of other servers, and of this one. */
  readonly skeletons: ReadonlyMap<string, readonly string[]>;
  readonly ownTools: ReadonlySet<string>;
}

/**
 * @param own names of the tools of the server that is scanned
 * @param others tools of the organisation's other servers, with a name for each server
 */
export function scanContext(
  own: readonly string[],
  others: readonly { readonly name: string; readonly server: string }[],
): ScanContext {
  const ownTools = new Set(own);
  const skeletons = new Map<string, string[]>();
  for (const name of new Set([...own, ...others.map((other) => other.name)])) {
    const skeleton = skeletonOf(name);
    const names = skeletons.get(skeleton);
    if (names === undefined) skeletons.set(skeleton, [name]);
    else if (names.length < alikeMax) names.push(name);
  }
  const otherTools = new Map(
    others.filter(({ name }) => !ownTools.has(name)).map(({ name, server }) => [name, server]),
  );
  return { otherTools, skeletons, ownTools };
}

const alikeMax = 16;
const textLengthMax = 256 * 1024;
const findingsMax = 20;

/**
 * What of a definition somebody should look at before models do. It is no proof, and its silence is none: what was
 * approved is held by its pin.
 * @param type "tool", "prompt", "resource", "resource_template", or "instructions" of a server
 */
export function scanDefinition(
  type: string,
  definition: JsonValue,
  context: ScanContext,
): Finding[] {
  const findings: Finding[] = [];
  const note = (kind: FindingKind, path: string, detail: string) => {
    const isKnown = findings.some((found) => found.kind === kind && found.path === path);
    if (!isKnown && findings.length < findingsMax) findings.push({ kind, path, detail });
  };
  const texts: DefinitionText[] = [];
  let left = textLengthMax;
  for (const entry of definitionTexts(definition)) {
    left -= entry.text.length;
    if (left < 0) {
      note('too_large', '', `more than ${textLengthMax} characters: only these were read`);
      break;
    }
    texts.push(entry);
  }
  for (const { path, text, isName } of texts) {
    const hidden = hiddenCharacters(text);
    if (hidden.length > 0) note('hidden_text', path, hidden.join(', '));
    if (blankRun.test(text)) note('hidden_text', path, 'blank space that moves text out of sight');
    const told = instructionsIn(isName ? spokenName(text) : text);
    if (told !== undefined) note('instructions', path, told);
    if (isName) continue;
    const other = otherToolIn(text, context);
    if (other !== undefined && path !== 'name') note('other_tool', path, other);
  }
  if (!findings.some(({ kind }) => kind === 'instructions')) {
    // A sentence that is cut into pieces is one to whoever reads all of them.
    const shown = texts.filter(
      ({ path, isName }) => !isName && /(?:^|\.)(?:title|description)$/.test(path),
    );
    const joined = instructionsIn(shown.map(({ text }) => text).join(' '));
    if (joined !== undefined) note('instructions', '', joined);
  }
  if (isObject(definition)) {
    if (type === 'tool' || type === 'prompt') scanName(definition, context, note);
    for (const member of ['inputSchema', 'outputSchema'])
      scanReferences(definition[member], member, note);
  }
  return findings;
}

type Note = (kind: FindingKind, path: string, detail: string) => void;

function scanName({ name }: JsonObject, { skeletons }: ScanContext, note: Note): void {
  if (typeof name !== 'string') return;
  if (isMixedName(name)) note('look_alike_name', 'name', 'letters that look like others');
  const alike = skeletons.get(skeletonOf(name))?.find((other) => other !== name);
  if (alike !== undefined) note('look_alike_name', 'name', `looks like ${alike}`);
}

function scanReferences(schema: JsonValue | undefined, path: string, note: Note): void {
  if (Array.isArray(schema))
    for (const [index, item] of schema.entries()) scanReferences(item, `${path}[${index}]`, note);
  if (!isObject(schema)) return;
  for (const [key, value] of Object.entries(schema)) {
    const isReference = key === '$ref' || key === '$dynamicRef';
    if (isReference && typeof value === 'string' && !value.startsWith('#'))
      note('remote_reference', `${path}.${key}`, value.slice(0, 200));
    scanReferences(value as JsonValue, `${path}.${key.slice(0, 64)}`, note);
  }
}

/** Text after this much is not on anybody's screen. */
const blankRun = /[ \t\u00a0\u2000-\u200a\u3000]{80}|(?:\r?\n[ \t]*){25}/;

const scoreMin = 0.45;
const sliceLength = 4000;
const sliceOverlap = 300;

/** What speaks for orders to the model; undefined = too little. */
function instructionsIn(text: string): string | undefined {
  for (let at = 0; at === 0 || at + sliceOverlap < text.length; at += sliceLength - sliceOverlap) {
    const slice = text.slice(at, at + sliceLength);
    if (slice.length < shortestOrder) return undefined;
    const { score, signals } = judgeInjection(slice.replace(succeedsSilently, ' '), 'tool');
    const poisons = poisonsIn(slice);
    if (score >= scoreMin || poisons.length > 0)
      return [...Object.keys(signals), ...poisons].join(', ');
  }
  return undefined;
}

const shortestOrder = 12;

/** Nothing is hidden by it. */
const succeedsSilently =
  /\b(?:(?:succeed|fail|ignor|skip|return|drop|overwrit|discard|continue)\w{0,4} silently|silently (?:succeed|fail|ignor|skip|return|drop|overwrit|discard|continu)\w{0,4})\b/gi;

/** `readSshKeyAndSend`, `read_ssh_key` as they are spoken. */
function spokenName(name: string): string {
  return name.replace(/[_-]+/g, ' ').replace(/([a-z])([A-Z])/g, '$1 $2');
}

const word = /[A-Za-z0-9_-]+|`[^`\s]{2,64}`/g;
const isCoined = /[_-]|[a-z0-9][A-Z]/;
const wordLengthMax = 128;

/** A name with a hump, a dash or in quotes is no word that happens to be one. */
function otherToolIn(text: string, { otherTools, ownTools }: ScanContext): string | undefined {
  if (otherTools.size === 0) return undefined;
  for (const [found] of text.normalize('NFKC').matchAll(word)) {
    const isQuoted = found.startsWith('`');
    if (found.length > wordLengthMax || !(isQuoted || isCoined.test(found))) continue;
    const name = isQuoted ? found.slice(1, -1) : found;
    const server = otherTools.get(name);
    if (server !== undefined && !ownTools.has(name)) return `${name} of ${server}`;
  }
  return undefined;
}
