import type { JsonValue } from '../../contract.ts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';

/** How values are laid out: https://avro.apache.org/docs/1.12.0/specification/#schema-declaration */
export type AvroType =
  | { readonly kind: 'null' | 'boolean' | 'int' | 'float' | 'double' | 'bytes' | 'string' }
  | { readonly kind: 'record'; readonly fields: readonly AvroField[] }
  | { readonly kind: 'enum'; readonly symbols: readonly string[] }
  | { readonly kind: 'array' | 'map'; readonly of: AvroType }
  | { readonly kind: 'union'; readonly branches: readonly AvroType[] }
  | { readonly kind: 'fixed'; readonly size: number };

export interface AvroField {
  readonly name: string;
  readonly type: AvroType;
}

const typesMax = 2000;
const depthMax = 32;
const fixedBytesMax = 1024 * 1024;

/** @throws Error saying what of it cannot be read: it is the vendor's */
export function readAvroSchema(schema: JsonValue): AvroType {
  const named = new Map<string, AvroType>();
  let count = 0;

  function read(given: JsonValue | undefined, depth: number, space: string): AvroType {
    if (++count > typesMax || depth > depthMax) throw new Error('a schema that is too large');
    if (Array.isArray(given))
      return { kind: 'union', branches: given.map((branch) => read(branch, depth + 1, space)) };
    if (typeof given === 'string') return named.get(fullName(given, space)) ?? primitive(given);
    const asked = objectOf(given);
    const type = stringOf(asked?.type);
    if (asked === undefined || type === undefined) return read(asked?.type, depth + 1, space);
    switch (type) {
      case 'record':
      case 'error':
        return record(asked, depth, space);
      case 'enum': {
        const symbols = (arrayOf(asked.symbols) ?? []).map((symbol) => stringOf(symbol) ?? '');
        return keep(asked, space, { kind: 'enum', symbols });
      }
      case 'fixed': {
        const size = Number(asked.size);
        if (!Number.isInteger(size) || size < 0 || size > fixedBytesMax)
          throw new Error('a fixed type of no size');
        return keep(asked, space, { kind: 'fixed', size });
      }
      case 'array':
        return { kind: 'array', of: read(asked.items, depth + 1, space) };
      case 'map':
        return { kind: 'map', of: read(asked.values, depth + 1, space) };
      default:
        return read(type, depth + 1, space);
    }
  }

  function record(asked: Record<string, JsonValue>, depth: number, space: string): AvroType {
    const fields: AvroField[] = [];
    const inner = spaceOf(asked, space);
    // Before its fields are read, which may be of the same type.
    const type = keep(asked, space, { kind: 'record', fields });
    for (const each of arrayOf(asked.fields) ?? []) {
      const field = objectOf(each);
      const name = stringOf(field?.name);
      if (name === undefined) throw new Error('a field without a name');
      fields.push({ name, type: read(field?.type, depth + 1, inner) });
    }
    return type;
  }

  function keep(asked: Record<string, JsonValue>, space: string, type: AvroType): AvroType {
    const name = stringOf(asked.name) ?? '';
    named.set(fullName(name, stringOf(asked.namespace) ?? space), type);
    return type;
  }

  return read(schema, 0, '');
}

function primitive(name: string): AvroType {
  switch (name) {
    case 'null':
    case 'boolean':
    case 'float':
    case 'double':
    case 'bytes':
    case 'string':
      return { kind: name };
    case 'int':
    case 'long':
      return { kind: 'int' };
    default:
      throw new Error(`a type that is not known: ${name.slice(0, 60)}`);
  }
}

function fullName(name: string, space: string): string {
  return name.includes('.') || space === '' ? name : `${space}.${name}`;
}

/** What names within a record begin with, unless they say it themselves. */
function spaceOf(asked: Record<string, JsonValue>, space: string): string {
  const name = stringOf(asked.name) ?? '';
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(0, dot) : (stringOf(asked.namespace) ?? space);
}
