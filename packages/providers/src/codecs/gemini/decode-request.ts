import type {
  ChatRequest,
  ChatTool,
  JsonObject,
  JsonValue,
  ResponseFormat,
  ToolChoice,
} from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import {
  arrayOf,
  booleanOf,
  compact,
  numberOf,
  objectOf,
  stringOf,
} from '../../json/json-access.ts';
import { decodeContents } from './decode-contents.ts';
import { decodeThinking } from './thinking.ts';
import { formatName } from './wire.ts';

const knownMembers = new Set(
  'model stream contents systemInstruction tools toolConfig generationConfig serviceTier'.split(
    ' ',
  ),
);

const knownConfig = new Set(
  `temperature topP topK maxOutputTokens stopSequences candidateCount seed presencePenalty
  frequencyPenalty responseLogprobs logprobs responseMimeType responseJsonSchema
  thinkingConfig`.split(/\s+/),
);

/** Wire → model. Model and streaming are told by the address, so the body need not name them. */
export function decodeRequest(body: JsonObject): { request: ChatRequest; dropped: string[] } {
  const contents = arrayOf(body.contents);
  if (contents === undefined) throw invalidField('contents', 'must be a list');
  const config = objectOf(body.generationConfig) ?? {};
  const fields = unknownFields(body, knownMembers);
  const format = responseFormat(config);
  const configFields = unknownFields(config, knownConfig);
  if (format === undefined && config.responseMimeType !== undefined)
    configFields.responseMimeType = config.responseMimeType;
  if (Object.keys(configFields).length > 0) fields.generationConfig = configFields;
  const choice = decodeToolConfig(objectOf(body.toolConfig));
  if (choice.rest !== undefined) fields.toolConfig = choice.rest;
  const rest = {
    includeUsage: true,
    tools: decodeTools(arrayOf(body.tools)),
    toolChoice: choice.toolChoice,
    outputTokensMax: numberOf(config.maxOutputTokens),
    temperature: numberOf(config.temperature),
    topP: numberOf(config.topP),
    topK: numberOf(config.topK),
    frequencyPenalty: numberOf(config.frequencyPenalty),
    presencePenalty: numberOf(config.presencePenalty),
    logprobs: booleanOf(config.responseLogprobs),
    topLogprobs: numberOf(config.logprobs),
    choices: numberOf(config.candidateCount),
    seed: numberOf(config.seed),
    stop: arrayOf(config.stopSequences)?.filter((entry) => typeof entry === 'string'),
    serviceTier: body.serviceTier === 'standard' ? 'default' : stringOf(body.serviceTier),
    responseFormat: format,
    reasoning: decodeThinking(objectOf(config.thinkingConfig)),
  };
  const request: ChatRequest = {
    model: stringOf(body.model) ?? '',
    messages: decodeContents(body.systemInstruction, contents),
    stream: body.stream === true,
    extensions: { format: formatName, fields },
    ...compact(rest),
  };
  return { request, dropped: [] };
}

function unknownFields(value: JsonObject, known: ReadonlySet<string>): JsonObject {
  const fields: JsonObject = {};
  for (const key in value) {
    const field = value[key];
    if (!known.has(key) && field !== null && field !== undefined) fields[key] = field;
  }
  return fields;
}

function responseFormat(config: JsonObject): ResponseFormat | undefined {
  const schema = objectOf(config.responseJsonSchema);
  if (schema !== undefined) return { type: 'json-schema', schema };
  // A schema in the older dialect travels whole, among the extensions.
  if (config.responseSchema !== undefined) return undefined;
  if (config.responseMimeType === 'application/json') return { type: 'json' };
  return config.responseMimeType === 'text/plain' ? { type: 'text' } : undefined;
}

function decodeTools(tools: JsonValue[] | undefined): ChatTool[] | undefined {
  return tools?.flatMap((value, index) => {
    const path = `tools[${index}]`;
    const tool = objectOf(value);
    if (tool === undefined) throw invalidField(path, 'must be an object');
    const { functionDeclarations, ...rest } = tool;
    const decoded: ChatTool[] = (arrayOf(functionDeclarations) ?? []).map((declaration, place) =>
      decodeFunction(declaration, `${path}.functionDeclarations[${place}]`),
    );
    if (Object.keys(rest).length > 0)
      decoded.push({ type: 'provider', format: formatName, value: rest, path });
    return decoded;
  });
}

const functionFields = new Set(['name', 'description', 'parametersJsonSchema', 'parameters']);

function decodeFunction(value: JsonValue, path: string): ChatTool {
  const declaration = objectOf(value);
  const name = stringOf(declaration?.name);
  if (declaration === undefined || name === undefined)
    throw invalidField(`${path}.name`, 'must be a string');
  const extensions = unknownFields(declaration, functionFields);
  const older = objectOf(declaration.parameters);
  return compact<ChatTool>({
    type: 'function',
    name,
    path,
    description: stringOf(declaration.description),
    parameters:
      objectOf(declaration.parametersJsonSchema) ??
      (older === undefined ? undefined : (jsonSchema(older) as JsonObject)),
    extensions: Object.keys(extensions).length === 0 ? undefined : extensions,
  });
}

/** The older dialect of schemas writes types in capitals and knows `nullable`. */
function jsonSchema(value: JsonValue): JsonValue {
  const schema = objectOf(value);
  if (schema === undefined) return value;
  const result: JsonObject = {};
  for (const key in schema) {
    const field = schema[key] as JsonValue;
    if (key === 'nullable') continue;
    if (key === 'type' && typeof field === 'string') {
      const type = field.toLowerCase();
      result.type = schema.nullable === true ? [type, 'null'] : type;
    } else if (key === 'properties' || key === 'defs') {
      const properties: JsonObject = {};
      for (const [name, property] of Object.entries(objectOf(field) ?? {}))
        properties[name] = jsonSchema(property);
      result[key] = properties;
    } else if (key === 'items') result.items = jsonSchema(field);
    else if (key === 'anyOf') result.anyOf = (arrayOf(field) ?? []).map(jsonSchema);
    else result[key] = field;
  }
  return result;
}

/** What a choice of tools cannot say stays in the format's own words. */
function decodeToolConfig(config: JsonObject | undefined): {
  toolChoice?: ToolChoice;
  rest?: JsonObject;
} {
  if (config === undefined) return {};
  const calling = objectOf(config.functionCallingConfig);
  const toolChoice = decodeChoice(calling);
  const { functionCallingConfig, ...others } = config;
  const rest =
    toolChoice === undefined && functionCallingConfig !== undefined
      ? { ...others, functionCallingConfig }
      : others;
  return compact({ toolChoice, rest: Object.keys(rest).length === 0 ? undefined : rest });
}

function decodeChoice(calling: JsonObject | undefined): ToolChoice | undefined {
  const names = arrayOf(calling?.allowedFunctionNames) ?? [];
  const [only] = names;
  switch (calling?.mode) {
    case 'AUTO':
      return names.length === 0 ? { type: 'auto' } : undefined;
    case 'NONE':
      return { type: 'none' };
    case 'ANY':
      if (names.length === 1 && typeof only === 'string') return { type: 'tool', name: only };
      return names.length === 0 ? { type: 'required' } : undefined;
    default:
      return undefined;
  }
}
