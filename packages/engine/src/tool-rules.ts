import type { JsonObject, ToolAccessRule } from '@sluice/contracts';
import { compileQueryOf, newQueryBudget, type Query, weighQuery } from './conditions.ts';
import { configFault } from './config-fault.ts';
import { ownValue, ownValues, type ParseField } from './request-fields.ts';

/** What access rules of MCP servers may look at. */
export interface ToolFacts {
  readonly capability: {
    /** "tool", "prompt", "resource" or "resource_template". */
    readonly type: string;
    /** As the upstream knows it; of a resource its URI. */
    readonly name: string;
  };
  /** Undefined = the caller has no key. */
  readonly key: { readonly id: string; readonly slug: string; readonly name: string } | undefined;
  readonly userId: string | undefined;
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
  /** Of the caller's token; undefined = it has none. */
  readonly claims: Readonly<JsonObject> | undefined;
  /** Of a call; undefined = it is about a list, where nobody knows them. */
  readonly arguments: Readonly<JsonObject> | undefined;
}

/** Access rules ready to be asked, in their order. */
export interface ToolRules {
  readonly rules: readonly {
    readonly effect: 'allow' | 'deny';
    readonly query: Query<ToolFacts>;
    /** It looks at arguments, which nobody knows of a list. */
    readonly isAboutCalls: boolean;
  }[];
}

/**
 * @param path of the rules, for messages
 * @throws GatewayError `config.invalid` with the path of what cannot be understood
 */
export function compileToolRules(rules: readonly ToolAccessRule[], path: string): ToolRules {
  // What a caller writes must not hide behind what it begins with.
  const budget = newQueryBudget(Number.POSITIVE_INFINITY);
  return {
    rules: rules.map(({ effect, query }, index) => {
      let isAboutCalls = false;
      const parse: ParseField<ToolFacts> = (name, at) => {
        isAboutCalls ||= isArgument(name);
        return parseToolField(name, at);
      };
      const compiled = compileQueryOf(
        parse,
        query as JsonObject,
        `${path}[${index}].query`,
        budget,
      );
      return { effect, query: compiled, isAboutCalls };
    }),
  };
}

/**
 * What the first rule says that matches; undefined = none does. One of which that cannot be found out – a list beyond measure,
 * a text that its pattern takes too long on – denies, and does not allow. A list shows what some arguments would be let pass
 * with: there a rule about them that may match allows, and does not deny.
 */
export function askToolRules({ rules }: ToolRules, facts: ToolFacts): 'allow' | 'deny' | undefined {
  const isCall = facts.arguments !== undefined;
  for (const { effect, query, isAboutCalls } of rules) {
    const isOpen = !isCall && isAboutCalls;
    const matches = weighQuery(query, facts, isOpen ? isArgument : isNever);
    if (matches === true || (matches === undefined && effect === (isOpen ? 'allow' : 'deny')))
      return effect;
  }
  return undefined;
}

const isNever = () => false;

function isArgument(field: string): boolean {
  return field.startsWith('arguments.');
}

const parseToolField: ParseField<ToolFacts> = (name, path) => {
  const dot = name.indexOf('.');
  const source = name.slice(0, Math.max(dot, 0));
  const key = name.slice(dot + 1);
  const field = (read: (facts: ToolFacts) => ReturnType<typeof ownValue>) => ({
    name,
    isSecret: false,
    read,
  });
  const listField = (holderIn: (facts: ToolFacts) => Readonly<JsonObject> | undefined) => ({
    ...field((facts) => {
      const holder = holderIn(facts);
      return holder && ownValue(holder, key);
    }),
    readAll(facts: ToolFacts) {
      const holder = holderIn(facts);
      return holder && ownValues(holder, key);
    },
  });
  if (dot >= 0 && key !== '' && !key.includes('.'))
    switch (source) {
      case 'metadata':
        return field(({ metadata }) => ownValue(metadata, key));
      case 'claims':
        return listField(({ claims }) => claims);
      case 'arguments':
        return listField((facts) => facts.arguments);
      case 'capability':
        if (key === 'type' || key === 'name') return field(({ capability }) => capability[key]);
        break;
      case 'key':
        if (key === 'id' || key === 'slug' || key === 'name')
          return field((facts) => facts.key?.[key]);
        break;
      case 'user':
        if (key === 'id') return field(({ userId }) => userId);
    }
  throw configFault(
    path,
    'must be capability.name, capability.type, key.id, key.slug, key.name or user.id, or begin with arguments., metadata. or claims.',
  );
};
