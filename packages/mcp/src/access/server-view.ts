import type { JsonObject, ToolAccess } from '@sluice/contracts';
import { compileToolRules, type ToolRules } from '@sluice/engine';
import { compileGlob, type Glob } from './glob.ts';
import { regularPattern, uriForms } from './uri-forms.ts';
import { compileUriTemplate, type UriTemplate } from './uri-template.ts';

export const capabilityTypes = ['tool', 'prompt', 'resource', 'resource_template'] as const;
export type CapabilityType = (typeof capabilityTypes)[number];

/** What admins set of one tool, prompt, resource or template, as the bundle tells it. Empty texts say nothing. */
export interface CapabilityRow {
  readonly type: string;
  /** As the upstream knows it: of a resource its URI, of a template its URI template. */
  readonly name: string;
  readonly enabled: boolean;
  /** Of the definition that was approved, by `pinOf`; empty = none was. */
  readonly pin: string;
  /** Of tools and prompts. */
  readonly renamedTo: string;
  readonly description: string;
  /** Sent with each call, whatever the caller sends; callers do not see them. */
  readonly fixedArguments: JsonObject | undefined;
  readonly hiddenArguments: readonly string[];
}

/** What admins set of one server. */
export interface ServerRules {
  readonly enabled: boolean;
  /** Whether callers that `userAccess` does not name may use it. */
  readonly usersAllowed: boolean;
  /** By user id. */
  readonly userAccess: Readonly<Record<string, boolean>>;
  readonly capabilities: readonly CapabilityRow[];
  /** Whether what is in no row may be used. */
  readonly allowsNew: boolean;
  /** "alert", "hide" or "block"; a word that is not known blocks. */
  readonly onDrift: string;
  /** Each must allow. */
  readonly access: readonly ToolAccess[];
  /** What callers hear of what they may not use: that it is disabled, or that there is none. */
  readonly deniedAs: 'disabled' | 'unknown';
}

/** Rules ready to be asked. Made when a bundle arrives. */
export interface ServerView {
  readonly rules: ServerRules;
  readonly rows: Readonly<Record<CapabilityType, ReadonlyMap<string, CapabilityRow>>>;
  /** Upstream names of tools and prompts by what callers call them, where that is something else. */
  readonly renamed: Readonly<Record<CapabilityType, ReadonlyMap<string, string>>>;
  /** Whether the resource of a URI is switched off (false) or on, by all forms of the URIs in rows. */
  readonly resources: ReadonlyMap<string, boolean>;
  readonly templates: readonly TemplateRow[];
  readonly levels: readonly AccessLevel[];
}

export interface TemplateRow {
  readonly row: CapabilityRow;
  readonly template: UriTemplate;
}

export interface AccessLevel {
  readonly allow: NameMatcher | undefined;
  readonly deny: NameMatcher | undefined;
  readonly rules: ToolRules | undefined;
}

/** The pattern that names one of these names; undefined = none does. */
export type NameMatcher = (type: CapabilityType, name: string) => string | undefined;

/** @throws GatewayError `config.invalid` for rules that cannot be understood */
export function compileServer(rules: ServerRules): ServerView {
  const rows = byType(() => new Map<string, CapabilityRow>());
  for (const row of rules.capabilities) if (isType(row.type)) rows[row.type].set(row.name, row);
  const resources = new Map<string, boolean>();
  for (const row of rows.resource.values())
    for (const form of uriForms(row.name))
      resources.set(form, row.enabled && (resources.get(form) ?? true));
  return {
    rules,
    rows,
    renamed: byType((type) => renamesOf([...rows[type].values()])),
    resources,
    templates: [...rows.resource_template.values()].map((row) => ({
      row,
      template: compileUriTemplate(row.name),
    })),
    levels: rules.access.map(({ allow, deny, rules: conditions }, index) => ({
      allow: allow && nameMatcher(allow),
      deny: deny && nameMatcher(deny),
      rules: conditions && compileToolRules(conditions, `access[${index}].rules`),
    })),
  };
}

/** Of two that want one name the first by its own name has it. */
function renamesOf(rows: readonly CapabilityRow[]): Map<string, string> {
  const renamed = new Map<string, string>();
  const sorted = [...rows].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, renamedTo } of sorted)
    if (renamedTo !== '' && renamedTo !== name && !renamed.has(renamedTo))
      renamed.set(renamedTo, name);
  return renamed;
}

/** What callers call it; undefined = they have no name for it, since another has taken it. */
export function exposedName(
  view: ServerView,
  type: CapabilityType,
  upstream: string,
): string | undefined {
  if (type !== 'tool' && type !== 'prompt') return upstream;
  const renamed = view.renamed[type];
  const name = view.rows[type].get(upstream)?.renamedTo || upstream;
  const owner = renamed.get(name);
  return owner === undefined
    ? name === upstream
      ? name
      : undefined
    : owner === upstream
      ? name
      : undefined;
}

/** What the upstream calls it; undefined = callers have nothing of that name. */
export function upstreamName(
  view: ServerView,
  type: CapabilityType,
  exposed: string,
): string | undefined {
  if (type !== 'tool' && type !== 'prompt') return exposed;
  const name = view.renamed[type].get(exposed) ?? exposed;
  return exposedName(view, type, name) === exposed ? name : undefined;
}

function nameMatcher(patterns: readonly { type?: string; name: string }[]): NameMatcher {
  /** Patterns by type, if they have one, and name. */
  const exact = new Map<string, string>();
  const globs: { type: string | undefined; name: string; glob: Glob }[] = [];
  const add = (type: string | undefined, name: string, text: string) => {
    if (wild.test(text)) globs.push({ type, name, glob: compileGlob(text) });
    else exact.set(`${type ?? ''} ${text}`, name);
  };
  for (const { type, name } of patterns) {
    add(type, name, name);
    const regular = regularPattern(name, wild);
    if ((type === undefined || type === 'resource') && regular !== name)
      add('resource', name, regular);
  }
  return (type, name) =>
    exact.get(` ${name}`) ??
    exact.get(`${type} ${name}`) ??
    globs.find((entry) => (entry.type === undefined || entry.type === type) && entry.glob(name))
      ?.name;
}

const wild = /[*?]/;

function byType<T>(make: (type: CapabilityType) => T): Record<CapabilityType, T> {
  return {
    tool: make('tool'),
    prompt: make('prompt'),
    resource: make('resource'),
    resource_template: make('resource_template'),
  };
}

function isType(type: string): type is CapabilityType {
  return (capabilityTypes as readonly string[]).includes(type);
}
