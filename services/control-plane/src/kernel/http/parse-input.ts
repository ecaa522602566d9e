import {
  contradictions,
  keptFields,
  type UnknownField,
  unknownFields,
} from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import { z } from 'zod';
import { namedMax, nearestAdvice, nearestOf } from '../names/nearest.ts';

/** What is known of an input beside its value. */
export interface InputNotes {
  /** Fields that nobody knows are left out, with a warning. */
  readonly isLenient: boolean;
  /** Known of every operation of this kind. */
  readonly general: readonly string[];
  /** How the resource that is asked for or changed is shown. */
  readonly shown?: z.ZodType | undefined;
  /** For the caller, who is answered. */
  readonly warnings: string[];
}

/**
 * Checks one part of a request. A body that was not sent is a fault like any
 * other; operations that can do without one say so. Without notes the value was
 * checked before, and is one of ours.
 * @throws 400 with the path of every fault.
 */
export function parseInput<S extends z.ZodType>(
  schema: S,
  value: unknown,
  part: 'body' | 'query' | 'path',
  notes?: InputNotes,
): z.output<S> {
  const result = schema.safeParse(value);
  const { refused, leftOut } =
    notes === undefined ? nothingUnknown : judge(schema, value, part, notes);
  const faults = [
    ...(result.error?.issues ?? []).flatMap(meantFaults).map((issue) => ({
      path: faultPath(part, issue.path),
      message: wordsOf(issue, value, part),
    })),
    ...refused,
  ].slice(0, 20);
  if (!result.success || faults.length > 0) throw refusal(part, faults);
  notes?.warnings.push(...leftOut.map(lineOf), ...keptIn(schema, value, part));
  return result.data;
}

/** What of an input does nothing although it is kept: whoever sends it is told. */
function keptIn(schema: z.ZodType, value: unknown, part: string): string[] {
  return keptFields(schema, value).map(({ path, why, known }) => {
    const meant = nearestOf(String(path.at(-1)), known);
    const advice = meant === undefined ? '' : `; did you mean ${meant}?`;
    return lineOf({
      path: faultPath(part, path),
      message: `is kept, and does nothing yet: ${why}${advice}`,
    });
  });
}

/**
 * Of an operation that takes none: parameters, or a body with fields.
 * @throws 400 with the path of every one, unless the caller wants warnings
 */
export function refuseAny(value: unknown, part: 'body' | 'query', notes: InputNotes): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    parseInput(nothingTaken, value, part, notes);
}

const nothingTaken = z.object({});

interface Fault {
  readonly path: string;
  readonly message: string;
}

function refusal(part: string, faults: readonly Fault[]): GatewayError {
  const first = faults[0];
  return new GatewayError('admin.validation', {
    message: `${first?.path ?? part}: ${first?.message ?? 'is not valid'}`,
    field: first?.path ?? part,
    faults: faults.map(lineOf),
  });
}

/** What a schema does not know of a value, and what says two things, by what becomes of it. */
interface Unknown {
  readonly refused: readonly Fault[];
  readonly leftOut: readonly Fault[];
}

const nothingUnknown: Unknown = { refused: [], leftOut: [] };

function judge(schema: z.ZodType, value: unknown, part: string, notes: InputNotes): Unknown {
  const { general, isLenient, shown } = notes;
  const unknown = unknownFields(schema, value).filter(
    ({ path }) => path.length > 1 || !general.includes(String(path[0])),
  );
  const names = new Set(unknown.map(({ path }) => path.join()));
  const said = contradictions(value)
    .filter(({ name, first }) => !names.has(name) && !names.has(first))
    .map(({ name, first }) => ({
      path: faultPath(part, [name]),
      message: `is the same as ${first}, and says something else`,
    }));
  if (unknown.length === 0 && said.length === 0) return nothingUnknown;
  const neverShown = new Set(
    shown === undefined ? [] : unknownFields(shown, value).map(({ path }) => path.join()),
  );
  // What was read may be sent back, but for the resource's own facts: who sends those means to change them.
  const isShown = ({ path }: UnknownField) =>
    part === 'body' && shown !== undefined && path.length > 1 && !neverShown.has(path.join());
  const faultOf = (field: UnknownField): Fault => ({
    path: faultPath(part, field.path),
    message: isShown(field) ? 'is shown only, and was left out' : whatIsKnown(field, part, general),
  });
  return {
    refused: isLenient ? [] : [...unknown.filter((field) => !isShown(field)).map(faultOf), ...said],
    leftOut: isLenient ? [...unknown.map(faultOf), ...said] : unknown.filter(isShown).map(faultOf),
  };
}

function whatIsKnown({ path, known }: UnknownField, part: string, general: readonly string[]) {
  const names = path.length === 1 ? [...new Set([...known, ...general])] : known;
  const kind = part === 'query' ? 'parameter' : 'field';
  return `is no ${kind} here${nearestAdvice(String(path.at(-1)), names)}`;
}

function lineOf({ path, message }: Fault): string {
  return `${path}: ${message}`;
}

type Issue = z.core.$ZodIssue;

/**
 * Of a value that may have one of several forms, the faults of the form that
 * was meant, if its type tells: what is wrong within a list, not that it is no object.
 */
function meantFaults(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const forms = issue.errors.filter(
    (issues) => !issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
  );
  const [meant, ...others] = forms;
  if (meant === undefined || others.length > 0) return [listOfAll(issue, forms) ?? issue];
  return meant
    .flatMap(meantFaults)
    .map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** Where each form is a list of values, all of them as one. */
function listOfAll(issue: Issue, forms: readonly (readonly Issue[])[]): Issue | undefined {
  const values = forms.flatMap(([fault, ...more]) =>
    fault?.code === 'invalid_value' && fault.path.length === 0 && more.length === 0
      ? [fault.values]
      : [],
  );
  if (values.length === 0 || values.length < forms.length) return undefined;
  const { input, path } = issue;
  return { code: 'invalid_value', input, path, values: values.flat(), message: 'Invalid option' };
}

/** Of a value that is none of a list, the list, and which of it may have been meant; of a parameter that came twice, that it did. */
function wordsOf(issue: Issue, input: unknown, part: string): string {
  // Of a name, why it is none.
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
  if (part === 'query' && issue.code === 'invalid_type' && Array.isArray(sentAt(issue, input)))
    return 'must be given once; values of a list have commas between them';
  // A field may have words of its own for what it does not take.
  if (issue.code !== 'invalid_value' || !issue.message.startsWith('Invalid option'))
    return issue.message;
  const values = issue.values.map(String);
  const sent = sentAt(issue, input);
  const nearest = typeof sent === 'string' ? nearestOf(sent, values) : undefined;
  const listed = values.slice(0, namedMax).join(', ') + (values.length > namedMax ? ' …' : '');
  return `must be one of ${listed}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}

/** What stands where the fault is. */
function sentAt({ path }: Issue, input: unknown): unknown {
  return path.reduce<unknown>(
    (inner, step) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, step)
        ? (inner as Record<PropertyKey, unknown>)[step]
        : undefined,
    input,
  );
}

export function faultPath(part: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}.${String(step)}`),
    part,
  );
}
