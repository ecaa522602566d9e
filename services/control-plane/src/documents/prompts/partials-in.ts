import { parseTemplate, type Template } from '@sluice/engine';

/** A partial that a template calls: by slug or UUID, alone or with `@` and a version. */
export interface NamedPartial {
  readonly name: string;
  readonly version: string | undefined;
}

/** The partials that a template calls, but those that a variable names. */
export function partialsIn(source: string): readonly NamedPartial[] {
  try {
    return namesIn(parseTemplate(source));
  } catch {
    // What could be rendered once and no longer can calls nobody.
    return [];
  }
}

function namesIn(template: Template): NamedPartial[] {
  return template.flatMap((node) => {
    if (node.kind === 'section') return namesIn(node.children);
    return node.kind === 'partial' && !node.isVariable ? [named(node.name)] : [];
  });
}

function named(reference: string): NamedPartial {
  const at = reference.indexOf('@');
  if (at < 0) return { name: reference, version: undefined };
  return { name: reference.slice(0, at), version: reference.slice(at + 1) };
}
