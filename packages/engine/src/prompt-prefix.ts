import { billingLine, type JsonObject, type JsonValue } from '@sluice/contracts';
import { hash64Hex } from './hash.ts';

/** The name by which a config asks for it, where it may name fields of a request. */
export const promptPrefixField = 'prompt.prefix';

/** Of each text; what is longer is told apart by its length. */
const textMax = 4096;
/** Of each string in what is no text: an address, the beginning of a picture. */
const otherMax = 256;
const depthMax = 4;
/** Texts, names and the like. */
const piecesMax = 1000;

/**
 * What all requests of one conversation begin with, as a hash: the names of its
 * tools, the system prompt, and all up to the first words of the user. Undefined
 * where the request holds no conversation, or leaves its beginning to the
 * provider's memory. Marks of caches are no part of it, since they move on with
 * each turn. Bounded, whatever the request holds.
 */
export function promptPrefix(params: Readonly<JsonObject>): string | undefined {
  if (params.previous_response_id != null || params.conversation != null) return undefined;
  const turns = params.messages ?? params.input;
  if (typeof turns !== 'string' && !Array.isArray(turns)) return undefined;
  const out: string[] = [];
  for (const tool of listOf(params.tools)) {
    if (isFull(out)) break;
    out.push(nameOf(tool));
  }
  addContent(params.system, out);
  addContent(params.instructions, out);
  if (typeof turns === 'string') addText(turns, out);
  else
    for (const turn of turns) {
      const { role, content } = recordOf(turn);
      out.push(`${typeof role === 'string' ? role : ''}:`);
      addContent(content, out);
      if (role === 'user' || isFull(out)) break;
    }
  return hash64Hex(out.join('\n'));
}

function nameOf(tool: JsonValue): string {
  const { name, type, function: fn } = recordOf(tool);
  return String(name ?? recordOf(fn).name ?? type ?? '');
}

/** A text and a list that holds just this text are the same: clients make a list of it to set a mark. */
function addContent(content: JsonValue | undefined, out: string[]): void {
  if (typeof content === 'string') addText(content, out);
  for (const part of listOf(content)) {
    if (isFull(out)) return;
    const { text } = recordOf(part);
    if (typeof text === 'string') addText(text, out);
    else addOther(part, out, 0);
  }
}

function addText(text: string, out: string[]): void {
  // Another with each request of the one client that sends it.
  const said = text.startsWith('x-') ? text.replace(billingLine, '') : text;
  if (said !== '') out.push(`${said.length} ${said.slice(0, textMax)}`);
}

function addOther(value: JsonValue | undefined, out: string[], depth: number): void {
  if (typeof value === 'string') out.push(`${value.length} ${value.slice(0, otherMax)}`);
  else if (typeof value === 'object' && value !== null && depth < depthMax)
    for (const key in value) {
      if (isFull(out)) return;
      if (!marks.has(key)) addOther((value as JsonObject)[key], out, depth + 1);
    }
}

const marks: ReadonlySet<string> = new Set(['cache_control', 'prompt_cache_breakpoint']);

function isFull(out: readonly string[]): boolean {
  return out.length >= piecesMax;
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function recordOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
