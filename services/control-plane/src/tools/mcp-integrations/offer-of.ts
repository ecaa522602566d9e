import type { McpCapabilityType } from '@sluice/contracts/admin';
import { parseText } from '@sluice/json';

/** What is kept of a definition beside its hash, in characters of JSON. */
export const definitionCharsMax = 64 * 1024;
const nameLengthMax = 1024;

/** The member that a definition is known by: what callers ask for. */
const addressOf: Readonly<Record<McpCapabilityType, string>> = {
  tool: 'name',
  prompt: 'name',
  resource: 'uri',
  resource_template: 'uriTemplate',
};

/** What callers ask for: of a resource its URI. Undefined = nothing that could be kept. */
export function keyOf(type: McpCapabilityType, item: Record<string, unknown>): string | undefined {
  return usableName(item[addressOf[type]]);
}

/** How the admin API calls it. Names are not unique among resources: the second one of a name goes by its address. */
export function offerNameOf(
  item: Record<string, unknown>,
  isTaken: (name: string) => boolean,
): string | undefined {
  return [item.name, item.uri, item.uriTemplate]
    .map(usableName)
    .find((name) => name !== undefined && !isTaken(name));
}

function usableName(text: unknown): string | undefined {
  return typeof text === 'string' && text !== '' && text.length <= nameLengthMax ? text : undefined;
}

/** What the admin API shows of a definition; nothing of one that is beyond measure. */
export function detailOf(item: Record<string, unknown>): Record<string, unknown> {
  return storable({
    title: item.title,
    description: item.description,
    icons: item.icons,
    input_schema: item.inputSchema,
    output_schema: item.outputSchema,
    execution: item.execution,
    annotations: item.annotations,
    arguments: item.arguments,
    uri: item.uri,
    uri_template: item.uriTemplate,
    mime_type: item.mimeType,
    size: item.size,
  });
}

/** As it will be read again: JSON drops what is undefined. What is too large is not kept. */
export function storable(value: Record<string, unknown>): Record<string, unknown> {
  const text = JSON.stringify(value);
  return text.length > definitionCharsMax ? {} : (parseText(text) as Record<string, unknown>);
}
