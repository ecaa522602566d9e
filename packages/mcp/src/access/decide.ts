import type { JsonObject } from '@sluice/contracts';
import { askToolRules, type ToolFacts } from '@sluice/engine';
import {
  type AccessLevel,
  type CapabilityRow,
  type CapabilityType,
  exposedName,
  type ServerView,
  type TemplateRow,
} from './server-view.ts';
import { uriForms } from './uri-forms.ts';
import { type MatchBudget, newMatchBudget } from './uri-template.ts';

/** Who asks. */
export type Who = Pick<ToolFacts, 'key' | 'userId' | 'metadata' | 'claims'>;

/** What is asked for. */
export interface Asked {
  readonly type: CapabilityType;
  /** As the upstream knows it (`upstreamName`); undefined = callers have nothing of the name that was asked for. */
  readonly name: string | undefined;
  /** Of a call, `{}` where it has none; undefined = it is to be listed. */
  readonly arguments: JsonObject | undefined;
  /** Of the definition as the upstream has it now, by `pinOf`; undefined = this gateway has not seen it. */
  readonly hash: string | undefined;
  /** The same of a resource template, by its URI template: a resource that nobody lists is what its template says. */
  readonly hashOfTemplate?: ((uriTemplate: string) => string | undefined) | undefined;
}

/** Why something is denied. `docs/mcp.md` explains each. */
export type DenyReason =
  | 'server_disabled'
  | 'user_denied'
  | 'no_such_name'
  | 'capability_disabled'
  | 'template_disabled'
  | 'capability_new'
  | 'name_denied'
  | 'name_not_allowed'
  | 'rule_denied'
  | 'definition_new'
  | 'definition_changed'
  | 'definition_not_seen';

export type Decision =
  | {
      readonly allowed: true;
      readonly name: string;
      readonly row: CapabilityRow | undefined;
      /** The definition is not the approved one, and `on_drift` lets it pass. */
      readonly isDrifted: boolean;
    }
  | {
      readonly allowed: false;
      readonly reason: DenyReason;
      /** The template, pattern or rule that decided, as its admin would look for it. */
      readonly by: string | undefined;
    };

/** Whether this caller may use the server at all; undefined = they may. */
export function denyServer({ rules }: ServerView, { userId }: Who): DenyReason | undefined {
  if (!rules.enabled) return 'server_disabled';
  const isNamed = userId !== undefined && userId !== '' && Object.hasOwn(rules.userAccess, userId);
  const isAllowed = isNamed ? rules.userAccess[userId] === true : rules.usersAllowed;
  return isAllowed ? undefined : 'user_denied';
}

/** Whether this caller may use this: the one decision for lists, calls and what explains them. */
export function decide(view: ServerView, who: Who, asked: Asked): Decision {
  const server = denyServer(view, who);
  if (server !== undefined) return deny(server);
  const { type, name } = asked;
  if (name === undefined || exposedName(view, type, name) === undefined)
    return deny('no_such_name');
  const row = view.rows[type].get(name);
  const isResource = type === 'resource';
  const forms = isResource ? uriForms(name) : [name];
  const templates = isResource ? templatesOf(view, forms) : { off: undefined, on: [] };
  const switched =
    (isResource ? denyResource(view, forms, templates) : denyRow(view, row)) ??
    denyByLevels(view.levels, who, asked, forms, templates.on);
  if (switched !== undefined) return switched;
  const template = row === undefined ? templates.on[0] : undefined;
  // What is listed is a definition of its own; what is asked for may be one that only a template defines.
  if (template === undefined || asked.arguments === undefined)
    return judgeDefinition(view, asked, row, name);
  return judgeByTemplates(view, asked, templates.on, name);
}

/** Whether one of the templates that define it is as it was approved; else what the first is. */
function judgeByTemplates(
  view: ServerView,
  asked: Asked,
  templates: readonly TemplateRow[],
  name: string,
): Decision {
  let denied: Decision | undefined;
  for (const { row } of templates) {
    const hash = asked.hashOfTemplate?.(row.name);
    const judged = judgeDefinition(view, { ...asked, hash }, row, name);
    if (judged.allowed) return judged;
    // One that was not looked at may be what lets it pass.
    if (denied === undefined || judged.reason === 'definition_not_seen')
      denied = { ...judged, by: row.name };
  }
  return denied ?? deny('definition_new');
}

function denyRow({ rules }: ServerView, row: CapabilityRow | undefined): Decision | undefined {
  if (row === undefined) return rules.allowsNew ? undefined : deny('capability_new');
  return row.enabled ? undefined : deny('capability_disabled');
}

interface MatchedTemplates {
  /** One that is switched off, of which the URI may be. */
  readonly off: TemplateRow | undefined;
  /** Those that are on, of which it surely is. */
  readonly on: readonly TemplateRow[];
}

function templatesOf(
  { templates, levels }: ServerView,
  forms: readonly string[],
): MatchedTemplates {
  const budget: MatchBudget = newMatchBudget();
  const isOff = ({ row }: TemplateRow) =>
    !row.enabled ||
    levels.some(({ deny: named }) => named?.('resource_template', row.name) !== undefined);
  return {
    off: templates.find((entry) => isOff(entry) && entry.template.mayMatch(forms, budget)),
    on: templates.filter((entry) => !isOff(entry) && entry.template.surelyMatches(forms, budget)),
  };
}

/** What is switched off by any name denies; what is switched on must be so by all of them. */
function denyResource(
  { resources, rules }: ServerView,
  forms: readonly string[],
  { off, on }: MatchedTemplates,
): Decision | undefined {
  const switches = forms.map((form) => resources.get(form));
  if (switches.includes(false)) return deny('capability_disabled');
  if (off !== undefined) return deny('template_disabled', off.row.name);
  if (rules.allowsNew || on.length > 0 || switches.every((isOn) => isOn === true)) return undefined;
  return deny('capability_new');
}

function denyByLevels(
  levels: readonly AccessLevel[],
  who: Who,
  { type, arguments: args }: Asked,
  forms: readonly string[],
  templates: readonly TemplateRow[],
): Decision | undefined {
  for (const level of levels) {
    for (const form of forms) {
      const denied = level.deny?.(type, form);
      if (denied !== undefined) return deny('name_denied', denied);
    }
    const { allow } = level;
    if (allow !== undefined) {
      const isNamed =
        forms.every((form) => allow(type, form) !== undefined) ||
        templates.some(({ row }) => allow('resource_template', row.name) !== undefined);
      if (!isNamed) return deny('name_not_allowed');
    }
    if (level.rules === undefined) continue;
    for (const name of forms) {
      const facts: ToolFacts = { ...who, capability: { type, name }, arguments: args };
      if (askToolRules(level.rules, facts) === 'deny') return deny('rule_denied');
    }
  }
  return undefined;
}

/** What was approved is held against what the upstream says now. */
function judgeDefinition(
  { rules }: ServerView,
  { arguments: args, hash }: Asked,
  row: CapabilityRow | undefined,
  name: string,
): Decision {
  const pin = row?.pin ?? '';
  const isDrifted = pin !== '' && hash !== undefined && pin !== hash;
  const allowed: Decision = { allowed: true, name, row, isDrifted };
  switch (rules.onDrift) {
    case 'alert':
      return allowed;
    case 'hide':
      return isDrifted && args === undefined ? deny('definition_changed') : allowed;
    default:
      if (pin === '') return deny('definition_new');
      if (hash === undefined) return deny('definition_not_seen');
      return isDrifted ? deny('definition_changed') : allowed;
  }
}

function deny(reason: DenyReason, by?: string): Decision {
  return { allowed: false, reason, by };
}
