import type { JsonValue } from '@sluice/contracts';
import { isObject } from '../envelope/read-message.ts';
import { McpFault, rpcCodes } from '../fault.ts';
import {
  decodeHeaderValue,
  encodeHeaderValue,
  type HeaderMap,
  headerValue,
} from './header-value.ts';

/** An argument that a modern caller repeats in `Mcp-Param-{name}`, since the tool's schema marks it with `x-mcp-header`. */
export interface ParamHeader {
  readonly name: string;
  /** Names of properties, from the arguments down. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

/** `fault` = the marks break the rules, and the tool must not be listed. */
export type ParamHeaders =
  | { readonly headers: readonly ParamHeader[]; readonly fault?: undefined }
  | { readonly fault: string; readonly headers?: undefined };

const annotation = 'x-mcp-header';
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;
const headersMax = 64;

/** Where a mark must not stand: what is there need not be in the arguments. */
const elsewhere = [
  'items',
  'prefixItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'propertyNames',
  'oneOf',
  'anyOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
];
/** The same, of objects whose members are schemas by name. */
const elsewhereNamed = ['patternProperties', 'dependentSchemas', '$defs', 'definitions'];

/** Reads the marks of a tool's input schema (2026-07-28, Streamable HTTP, custom headers). Depth is bounded where it was parsed. */
export function readParamHeaders(inputSchema: JsonValue | undefined): ParamHeaders {
  const headers: ParamHeader[] = [];
  const names = new Set<string>();

  const visit = (
    schema: JsonValue | undefined,
    path: string[],
    isReachable: boolean,
  ): string | undefined => {
    if (!isObject(schema)) return undefined;
    if (Object.hasOwn(schema, annotation)) {
      const at = path.length === 0 ? 'the schema itself' : path.join('.');
      const name = schema[annotation];
      const { type } = schema;
      if (!isReachable || path.length === 0) return `${at} must not have ${annotation}`;
      if (typeof name !== 'string' || !token.test(name))
        return `${annotation} of ${at} is no name of a header`;
      if (type !== 'string' && type !== 'integer' && type !== 'boolean')
        return `${annotation} of ${at} marks what is no string, integer or boolean`;
      if (names.has(name.toLowerCase())) return `${annotation} ${name} is there twice`;
      if (headers.length === headersMax)
        return `more than ${headersMax} properties have ${annotation}`;
      names.add(name.toLowerCase());
      headers.push({ name, path, type });
    }
    for (const [key, child] of entriesOf(schema.properties)) {
      const fault = visit(child, [...path, key], isReachable);
      if (fault !== undefined) return fault;
    }
    for (const key of elsewhere) {
      const value = Object.hasOwn(schema, key) ? schema[key] : undefined;
      for (const child of Array.isArray(value) ? value : [value]) {
        const fault = visit(child, [...path, `<${key}>`], false);
        if (fault !== undefined) return fault;
      }
    }
    for (const key of elsewhereNamed)
      for (const [, child] of entriesOf(Object.hasOwn(schema, key) ? schema[key] : undefined)) {
        const fault = visit(child, [...path, `<${key}>`], false);
        if (fault !== undefined) return fault;
      }
    return undefined;
  };

  const fault = visit(inputSchema, [], true);
  return fault === undefined ? { headers } : { fault };
}

/**
 * Holds `Mcp-Param-*` against the arguments. Those of names that the schema does not mark are nobody's business.
 * @throws McpFault −32020
 */
export function checkParamHeaders(
  marks: readonly ParamHeader[],
  args: JsonValue | undefined,
  headers: HeaderMap,
  idText?: string,
): void {
  for (const { name, path, type } of marks) {
    const inBody = valueAt(args, path);
    const text = textOf(inBody);
    if (text === undefined) continue;
    const value = headerValue(headers, `mcp-param-${name.toLowerCase()}`);
    const decoded = value === undefined ? undefined : decodeHeaderValue(value);
    const isSame =
      type === 'integer' &&
      typeof inBody === 'number' &&
      decoded !== undefined &&
      decimal.test(decoded)
        ? Number(decoded) === inBody
        : decoded === text;
    if (isSame) continue;
    const what =
      value === undefined
        ? 'is missing'
        : decoded === undefined
          ? 'has base64 that is none'
          : 'says something else';
    throw new McpFault({
      status: 400,
      code: rpcCodes.headerMismatch,
      message: `Headers and body disagree: Mcp-Param-${name} ${what}; it must repeat params.arguments.${path.join('.')}.`,
      data: { mismatch: { header: `Mcp-Param-${name}` } },
      idText,
    });
  }
}

/** `mcp-param-*` as they are sent with these arguments. */
export function paramHeadersFor(
  marks: readonly ParamHeader[],
  args: JsonValue | undefined,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { name, path } of marks) {
    const text = textOf(valueAt(args, path));
    if (text !== undefined && text.length <= valueLengthMax)
      headers[`mcp-param-${name.toLowerCase()}`] = encodeHeaderValue(text);
  }
  return headers;
}

const decimal = /^-?\d{1,400}(?:\.\d{1,400})?$/;
/** Servers take some ten kilobytes of headers. */
const valueLengthMax = 4096;

function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && (!Number.isInteger(value) || Number.isSafeInteger(value))
    ? String(value)
    : undefined;
}

function valueAt(root: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const step of path)
    value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return value;
}

function entriesOf(value: JsonValue | undefined): [string, JsonValue][] {
  return isObject(value) ? (Object.entries(value) as [string, JsonValue][]) : [];
}
