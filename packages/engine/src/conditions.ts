import type { JsonObject, JsonValue } from '@sluice/contracts';
import { configFault } from './config-fault.ts';
import { type PastRequest, type UnknownReason, valuesThen } from './past/past-request.ts';
import type { ConditionTrace, RoutingFacts } from './plan.ts';
import { compileSafeRegex } from './regex/safe-regex.ts';
import { RegexFault } from './regex/syntax.ts';
import { newWorkBudget, type WorkBudget } from './regex/work-budget.ts';
import {
  beyondMeasure,
  type FieldValue,
  type ParseField,
  parseRequestField,
  type RequestField,
} from './request-fields.ts';

/**
 * Queries of conditional strategies. They are compiled once to a tree of
 * comparisons; asking and explaining walk the same tree, so that they cannot
 * disagree. A value that the request does not have makes any comparison false,
 * also `$ne` and `$nin`.
 */
export type Query<Facts extends object = RoutingFacts> =
  | { readonly kind: 'all' | 'any'; readonly parts: readonly Query<Facts>[] }
  | Comparison<Facts>;

interface Comparison<Facts extends object> {
  readonly kind: 'comparison';
  readonly field: RequestField<Facts>;
  readonly operator: string;
  readonly expected: JsonValue;
  readonly holds: Holds;
}

type TracedComparison = ConditionTrace['comparisons'][number];

/** What a config may ask of one request, all its conditions together. */
export interface QueryBudget {
  comparisons: number;
  /** Sizes of all regular expressions. */
  regexSteps: number;
  /** They see this much of a value, in UTF-16 code units, and no more than each may. */
  readonly regexTextMax: number;
}

const comparisonsMax = 5000;
const regexStepsMax = 10_000;
const queryDepthMax = 16;
/** Of a value of a request. */
export const comparedTextMax = 4096;

export function newQueryBudget(regexTextMax = comparedTextMax): QueryBudget {
  return { comparisons: comparisonsMax, regexSteps: regexStepsMax, regexTextMax };
}

/** @throws GatewayError `config.invalid` with the path of what cannot be understood */
export function compileQuery(query: JsonObject, path: string, budget: QueryBudget): Query {
  return compileQueryOf(parseRequestField, query, path, budget);
}

/** The same about other facts than a request's, whose fields `parseField` knows. */
export function compileQueryOf<Facts extends object>(
  parseField: ParseField<Facts>,
  query: JsonObject,
  path: string,
  budget: QueryBudget,
  depth = 0,
): Query<Facts> {
  if (depth > queryDepthMax)
    throw configFault(path, `must not be nested deeper than ${queryDepthMax} levels`);
  const parts: Query<Facts>[] = [];
  for (const [key, value] of Object.entries(query)) {
    const at = `${path}.${key}`;
    if (key === '$and' || key === '$or') {
      parts.push({
        kind: key === '$and' ? 'all' : 'any',
        parts: subqueries(value, at).map((part, index) =>
          compileQueryOf(parseField, part, `${at}[${index}]`, budget, depth + 1),
        ),
      });
    } else if (key.startsWith('$')) {
      throw configFault(at, 'must be $and, $or or the name of a field');
    } else {
      for (const comparison of comparisons(parseField(key, at), value, at, budget)) {
        if (--budget.comparisons < 0)
          throw configFault(at, `must not be one of more than ${comparisonsMax} comparisons`);
        parts.push(comparison);
      }
    }
  }
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : { kind: 'all', parts };
}

/** What cannot be found out – it takes too long, or stands too far behind – is not so. */
export function matchesQuery<Facts extends object>(query: Query<Facts>, facts: Facts): boolean {
  if (query.kind === 'comparison') return compare(query, query.field.read(facts), facts) === true;
  if (query.kind === 'all') {
    for (const part of query.parts) if (!matchesQuery(part, facts)) return false;
    return true;
  }
  for (const part of query.parts) if (matchesQuery(part, facts)) return true;
  return false;
}

/**
 * The same where some fields have no value yet: true or false where that holds whatever they will be, else undefined. So is
 * what cannot be found out.
 * @param isOpen of a field by its name
 */
export function weighQuery<Facts extends object>(
  query: Query<Facts>,
  facts: Facts,
  isOpen: (field: string) => boolean,
): boolean | undefined {
  if (query.kind === 'comparison')
    return isOpen(query.field.name) ? undefined : compare(query, query.field.read(facts), facts);
  return weigh(query.parts, query.kind === 'any', (part) => weighQuery(part, facts, isOpen));
}

/** `decides` where one says so, its opposite where all say that, else undefined. */
function weigh<Part>(
  parts: readonly Part[],
  decides: boolean,
  judge: (part: Part) => boolean | undefined,
): boolean | undefined {
  let isUndecided = false;
  for (const part of parts) {
    const result = judge(part);
    if (result === decides) return decides;
    if (result === undefined) isUndecided = true;
  }
  return isUndecided ? undefined : !decides;
}

/**
 * The same of a request of the past, by what is known of it: true or false where that is enough to say so,
 * whatever the rest may have been; else what is missing.
 */
export function judgeQuery(query: Query, past: PastRequest): boolean | UnknownReason {
  if (query.kind === 'comparison') {
    const values = valuesThen(query.field, past);
    if (typeof values === 'string') return values;
    const [first, ...others] = values.map((value) => compare(query, value, past.facts) === true);
    return others.some((result) => result !== first) ? 'metadata_types_not_kept' : first === true;
  }
  const decides = query.kind === 'any';
  let unknown: UnknownReason | undefined;
  for (const part of query.parts) {
    const result = judgeQuery(part, past);
    if (result === decides) return decides;
    if (typeof result === 'string') unknown ??= result;
  }
  return unknown ?? !decides;
}

/** Every comparison of a query, also those that no longer matter. */
export function traceQuery(query: Query, facts: RoutingFacts): TracedComparison[] {
  if (query.kind !== 'comparison') return query.parts.flatMap((part) => traceQuery(part, facts));
  const { field, operator, expected } = query;
  const actual = field.read(facts);
  return [
    {
      field: field.name,
      operator,
      expected: field.isSecret ? masked : expected,
      ...(actual === undefined ? {} : { actual: field.isSecret ? masked : shortened(actual) }),
      matched: compare(query, actual, facts) === true,
    },
  ];
}

const masked = '***';
const shownTextMax = 200;

function shortened(value: FieldValue): FieldValue {
  return typeof value === 'string' && value.length > shownTextMax
    ? `${value.slice(0, shownTextMax)}…`
    : value;
}

/** Undefined = that cannot be found out. */
function compare<Facts extends object>(
  comparison: Comparison<Facts>,
  actual: FieldValue | undefined,
  facts: Facts,
): boolean | undefined {
  if (actual !== undefined) return comparison.holds(actual, facts);
  const values = comparison.field.readAll?.(facts) ?? [];
  if (values === beyondMeasure) return undefined;
  if (values.length === 0) return false;
  // Of a list `$eq` asks whether it has the value, `$ne` whether it has it not.
  const decides = !excluding.has(comparison.operator);
  return weigh(values, decides, (value) => comparison.holds(value, facts));
}

const excluding: ReadonlySet<string> = new Set(['$ne', '$nin']);

/** All patterns of a request's conditions together take no longer than one may. */
const patternBudgets = new WeakMap<object, WorkBudget>();

function patternBudget(facts: object): WorkBudget {
  let budget = patternBudgets.get(facts);
  if (budget === undefined) {
    budget = newWorkBudget();
    patternBudgets.set(facts, budget);
  }
  return budget;
}

function subqueries(value: JsonValue | undefined, path: string): JsonObject[] {
  if (!Array.isArray(value) || value.length === 0)
    throw configFault(path, 'must be an array of queries that is not empty');
  return value.map((part, index) => {
    if (!isObject(part)) throw configFault(`${path}[${index}]`, 'must be a query');
    return part;
  });
}

function comparisons<Facts extends object>(
  field: RequestField<Facts>,
  value: JsonValue | undefined,
  path: string,
  budget: QueryBudget,
): Comparison<Facts>[] {
  if (!isObject(value)) return [comparison(field, '$eq', value ?? null, path, budget)];
  const entries = Object.entries(value);
  if (entries.length === 0) throw configFault(path, 'must name at least one operator');
  return entries.map(([operator, expected]) =>
    comparison(field, operator, expected ?? null, `${path}.${operator}`, budget),
  );
}

function comparison<Facts extends object>(
  field: RequestField<Facts>,
  operator: string,
  expected: JsonValue,
  path: string,
  budget: QueryBudget,
): Comparison<Facts> {
  const compile = Object.hasOwn(operators, operator) ? operators[operator] : undefined;
  if (compile === undefined)
    throw configFault(path, `must be one of the operators ${Object.keys(operators).join(', ')}`);
  return { kind: 'comparison', field, operator, expected, holds: compile(expected, path, budget) };
}

/** Undefined = that cannot be found out. */
type Holds = (actual: FieldValue, facts: object) => boolean | undefined;
type CompileOperator = (expected: JsonValue, path: string, budget: QueryBudget) => Holds;

/** Equality looks at the type too: 1 is not "1". */
const operators: Readonly<Record<string, CompileOperator>> = {
  $eq: (expected, path) => {
    const value = primitive(expected, path);
    return (actual) => actual === value;
  },
  $ne: (expected, path) => {
    const value = primitive(expected, path);
    return (actual) => actual !== value;
  },
  $gt: (expected, path) => numeric(expected, path, (actual, value) => actual > value),
  $gte: (expected, path) => numeric(expected, path, (actual, value) => actual >= value),
  $lt: (expected, path) => numeric(expected, path, (actual, value) => actual < value),
  $lte: (expected, path) => numeric(expected, path, (actual, value) => actual <= value),
  $in: (expected, path) => {
    const values = primitives(expected, path);
    return (actual) => values.has(actual);
  },
  $nin: (expected, path) => {
    const values = primitives(expected, path);
    return (actual) => !values.has(actual);
  },
  $regex: (expected, path, budget) => {
    if (typeof expected !== 'string') throw configFault(path, 'must be a string');
    const compiled = compileSafeRegex(expected);
    if (!compiled.ok) throw configFault(path, compiled.fault);
    // It would do no harm here, but whoever wrote it meant something else, and may use it elsewhere.
    if (compiled.regex.isExponential)
      throw configFault(
        path,
        'must be a regular expression without loops that can read the same text in several ways, such as (a+)+',
      );
    budget.regexSteps -= compiled.regex.size;
    if (budget.regexSteps < 0)
      throw configFault(
        path,
        'must not bring the patterns of the config to more than they may cost',
      );
    const lengthMax = Math.min(budget.regexTextMax, compiled.regex.textMax);
    return (actual, facts) => {
      const text = String(actual);
      try {
        if (compiled.regex.test(text, lengthMax, patternBudget(facts))) return true;
        return text.length > lengthMax ? undefined : false;
      } catch (error) {
        if (error instanceof RegexFault) return undefined;
        throw error;
      }
    };
  },
};

function primitive(expected: JsonValue, path: string): FieldValue {
  if (typeof expected === 'object' && expected !== null)
    throw configFault(path, 'must be a string, a number, a boolean or null');
  return expected;
}

function primitives(expected: JsonValue, path: string): ReadonlySet<FieldValue> {
  if (!Array.isArray(expected)) throw configFault(path, 'must be an array');
  return new Set(expected.map((entry, index) => primitive(entry, `${path}[${index}]`)));
}

/** What is not a number compares as false, on either side. */
function numeric(
  expected: JsonValue,
  path: string,
  holds: (actual: number, value: number) => boolean,
): Holds {
  if (typeof expected !== 'number' && typeof expected !== 'string')
    throw configFault(path, 'must be a number');
  const value = Number.parseFloat(String(expected));
  return (actual) => holds(Number.parseFloat(String(actual)), value);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
