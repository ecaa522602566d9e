import { parseTemplate, type Template, type TemplateNode } from './parse-template.ts';
import { MissingPartials, TemplateFault } from './template-fault.ts';

/** Text that templates include. */
export interface SavedPartial {
  readonly source: string;
  readonly template: Template;
}

/** The saved partial that a template calls by this name, perhaps with `@` and a version. */
export type FindPartial = (reference: string) => SavedPartial | undefined;

export interface RenderOptions {
  readonly findPartial: FindPartial;
  /** What becomes of values outside `{{{…}}}`. */
  readonly escape: (text: string) => string;
  /** Of one rendering, over all its templates. */
  readonly budget: RenderBudget;
}

const partialsDepthMax = 10;

/**
 * What renderings for one request may cost together: templates are short, and
 * what lists in lists make of them need not be. Missing partials are gathered
 * here, so that all are told at once.
 */
export class RenderBudget {
  readonly missingPartials = new Set<string>();
  readonly missingVariables = new Set<string>();
  #chars = 8 * 1024 * 1024;
  /** Some 60 ms at the most. */
  #steps = 300_000;

  spend(chars: number): void {
    this.#chars -= chars;
    this.#steps -= 1;
    if (this.#chars < 0 || this.#steps < 0)
      throw new TemplateFault('the rendered prompt is too large');
  }

  /** @throws MissingPartials naming each */
  check(): void {
    if (this.missingVariables.size > 0)
      throw new MissingPartials(
        `Missing variable partials: ${[...this.missingVariables].join(', ')}`,
      );
    if (this.missingPartials.size > 0)
      throw new MissingPartials(`Missing prompt partials: ${[...this.missingPartials].join(', ')}`);
  }
}

/** Renders once: what values say is never read as a template. */
export function renderTemplate(
  template: Template,
  variables: Readonly<Record<string, unknown>>,
  options: RenderOptions,
): string {
  const rendering = new Rendering(options);
  rendering.nodes(template, [variables]);
  return rendering.text();
}

class Rendering {
  readonly #options: RenderOptions;
  readonly #parts: string[] = [];
  /** Partials that are being rendered, the outermost first. */
  readonly #inside: string[] = [];

  constructor(options: RenderOptions) {
    this.#options = options;
  }

  text(): string {
    return this.#parts.join('');
  }

  nodes(nodes: Template, scopes: readonly unknown[]): void {
    for (const node of nodes) this.#node(node, scopes);
  }

  #node(node: TemplateNode, scopes: readonly unknown[]): void {
    if (node.kind === 'text') this.#write(node.text);
    else if (node.kind === 'section') this.#section(node, scopes);
    else if (node.kind === 'partial') this.#partial(node, scopes);
    else {
      const text = textOf(lookUp(scopes, node.name));
      this.#write(node.escaped ? this.#options.escape(text) : text);
    }
  }

  #section(node: TemplateNode & { kind: 'section' }, scopes: readonly unknown[]): void {
    const value = lookUp(scopes, node.name);
    const isEmpty = !value || (Array.isArray(value) && value.length === 0);
    this.#options.budget.spend(0);
    if (node.inverted) {
      if (isEmpty) this.nodes(node.children, scopes);
    } else if (Array.isArray(value)) {
      for (const item of value) this.nodes(node.children, [...scopes, item]);
    } else if (!isEmpty) this.nodes(node.children, value === true ? scopes : [...scopes, value]);
  }

  #partial(node: TemplateNode & { kind: 'partial' }, scopes: readonly unknown[]): void {
    const { budget, findPartial } = this.#options;
    budget.spend(0);
    const called = node.isVariable ? lookUp(scopes, node.name) : node.name;
    if (called === undefined || called === null) {
      budget.missingVariables.add(node.name);
      return;
    }
    const reference = textOf(called);
    const found = findPartial(reference);
    if (found === undefined && !node.isVariable) {
      budget.missingPartials.add(reference);
      return;
    }
    if (found !== undefined && this.#inside.includes(reference))
      throw new TemplateFault(`the partial "${reference}" includes itself`);
    if (this.#inside.length === partialsDepthMax)
      throw new TemplateFault(`partials are nested deeper than ${partialsDepthMax}`);
    this.#inside.push(found === undefined ? '' : reference);
    this.nodes(templateOf(found ?? reference, node.indent), scopes);
    this.#inside.pop();
  }

  #write(text: string): void {
    this.#options.budget.spend(text.length);
    this.#parts.push(text);
  }
}

/** The innermost value of this name; `a.b` is looked for inside what `a` is. Only what was sent is found. */
function lookUp(scopes: readonly unknown[], name: string): unknown {
  if (name === '.') return scopes.at(-1);
  const [first = '', ...rest] = name.split('.');
  for (let index = scopes.length - 1; index >= 0; index -= 1) {
    const scope = scopes[index];
    if (!isContainer(scope)) continue;
    if (Object.hasOwn(scope, name)) return scope[name];
    if (!Object.hasOwn(scope, first)) continue;
    let value: unknown = scope[first];
    for (const step of rest)
      value = isContainer(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    return value;
  }
  return undefined;
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** All lines of a partial that has a line to itself stand as far in as its tag did. */
function templateOf(partial: SavedPartial | string, indent: string): Template {
  if (typeof partial !== 'string' && indent === '') return partial.template;
  const source = typeof partial === 'string' ? partial : partial.source;
  return parseTemplate(indent === '' ? source : source.replace(/^(?=.)/gm, indent));
}
