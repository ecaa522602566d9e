import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The members by which requests of a client library name what its vendor keeps,
 * read off its published types: `Type.member` for every type that a type of
 * parameters reaches.
 * @param folder  of its `resources`
 * @param isAbout  which of its files count
 */
export function namingMembers(folder: string, isAbout: (file: string) => boolean): string[] {
  const types = new Map<string, string>();
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('.d.ts') && isAbout(file))
      readTypes(readFileSync(join(folder, file), 'utf8'), types);
  const found = new Set<string>();
  for (const name of reachable(types))
    for (const [, member = ''] of (types.get(name) ?? '').matchAll(/^\s+'?(\w+)'?\??: /gm))
      if (isNaming.test(member)) found.add(`${name}.${member}`);
  return [...found].sort();
}

/** Ids of items and calls within one request are left out: they name nothing outside it. */
const isNaming =
  /^(?:(?:\w+_)?(?:file|container|vector_store|thread|assistant|upload|video|voice|skill|character|consent|response|message|batch|agent|vault|environment|environment_template|session|memory_store|credential|tunnel|user_profile)_ids?|container|conversation|consent|video|voice|audio|training_file|validation_file)$/;

/** A type's name with its text, those within namespaces as well; of one name, together. */
function readTypes(text: string, types: Map<string, string>): void {
  const plain = text.replaceAll(/\/\*[\s\S]*?\*\//g, '');
  for (const { 1: indent = '', 2: kind, 3: name = '', index } of plain.matchAll(
    /^( *)(?:export )?(?:declare )?(interface|type) (\w+)/gm,
  )) {
    const rest = plain.slice(index);
    const end = kind === 'type' ? rest.search(/;\n/) : rest.search(new RegExp(`\\n${indent}\\}`));
    types.set(name, `${types.get(name) ?? ''}\n${rest.slice(0, end + 1)}`);
  }
}

function reachable(types: ReadonlyMap<string, string>): Set<string> {
  const seen = new Set<string>();
  const next = [...types.keys()].filter((name) => /Params(?:Base)?$/.test(name));
  for (let name = next.pop(); name !== undefined; name = next.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    for (const [word] of (types.get(name) ?? '').matchAll(/\b[A-Z]\w+/g))
      if (types.has(word)) next.push(word);
  }
  return seen;
}
