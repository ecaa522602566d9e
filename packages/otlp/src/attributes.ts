import type { MessageInitShape } from '@bufbuild/protobuf';
import type { AnyValue, KeyValueSchema } from '@sluice/proto-stubs/otlp';

/** Undefined = there is none, and the attribute is left out; so are empty texts. */
export type AttributeValue = string | number | bigint | boolean | readonly string[] | undefined;

type KeyValueInit = MessageInitShape<typeof KeyValueSchema>;

/** Whole numbers are told as such; numbers with a fraction as doubles. */
export function attributesOf(values: Readonly<Record<string, AttributeValue>>): KeyValueInit[] {
  const attributes: KeyValueInit[] = [];
  for (const [key, value] of Object.entries(values))
    if (value !== undefined && value !== '')
      attributes.push({ key, value: { value: told(value) } });
  return attributes;
}

type Told = NonNullable<KeyValueInit['value']>['value'];

function told(value: NonNullable<AttributeValue>): Told {
  switch (typeof value) {
    case 'string':
      return { case: 'stringValue', value };
    case 'boolean':
      return { case: 'boolValue', value };
    case 'bigint':
      return { case: 'intValue', value };
    case 'number':
      return Number.isSafeInteger(value)
        ? { case: 'intValue', value: BigInt(value) }
        : { case: 'doubleValue', value };
    default:
      return {
        case: 'arrayValue',
        value: { values: value.map((text) => ({ value: { case: 'stringValue', value: text } })) },
      };
  }
}

export type PlainValue =
  | string
  | number
  | boolean
  | null
  | PlainValue[]
  | { [key: string]: PlainValue };

/** As JSON has it; integers that a number cannot hold are told as texts, bytes as base64. */
export function plainValueOf(value: AnyValue | undefined): PlainValue {
  const content = value?.value;
  switch (content?.case) {
    case 'stringValue':
    case 'boolValue':
    case 'doubleValue':
      return content.value;
    case 'intValue': {
      const number = Number(content.value);
      return Number.isSafeInteger(number) ? number : String(content.value);
    }
    case 'arrayValue':
      return content.value.values.map(plainValueOf);
    case 'kvlistValue':
      return Object.fromEntries(
        content.value.values.map(({ key, value: inner }) => [key, plainValueOf(inner)]),
      );
    case 'bytesValue':
      return Buffer.from(content.value).toString('base64');
    default:
      return null;
  }
}
