import type { CallerFormat, JsonObject, JsonValue } from '@sluice/contracts';
import type { ChatFormat, WireFormat } from '../contract.ts';
import { arrayOf, objectOf } from '../json/json-access.ts';

/** Encoders name what they leave out in the words of chat completions; here is what other callers call the same. */
interface Words {
  /** Of those that mean it, the first that the caller wrote is the one. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** What follows `tools[0]`. */
  readonly inTools: Readonly<Record<string, string>>;
  /** What follows the path of a message or an item: kinds of parts, and what they have. */
  readonly inMessages: Readonly<Record<string, string>>;
}

const words: Readonly<Record<Extract<CallerFormat, ChatFormat>, Words>> = {
  'openai-chat': {
    fields: {
      max_tokens: ['max_tokens', 'max_completion_tokens'],
      stop: ['stop'],
      tools: ['tools', 'functions'],
      tool_choice: ['tool_choice', 'function_call'],
      reasoning_effort: ['reasoning_effort', 'thinking'],
      'response_format.json_schema': ['response_format.json_schema', 'response_format'],
      'response_format.json_schema.schema': [
        'response_format.json_schema.schema',
        'response_format.schema',
      ],
    },
    inTools: {},
    inMessages: {
      image: 'image_url',
      audio: 'input_audio',
      tool_call: 'tool_calls',
      tool_result: 'content',
    },
  },
  'openai-completions': {
    fields: { stop: ['stop'], top_logprobs: ['logprobs'] },
    inTools: {},
    inMessages: {},
  },
  'openai-responses': {
    fields: {
      max_tokens: ['max_output_tokens'],
      logprobs: ['top_logprobs', 'include'],
      reasoning_effort: ['reasoning.effort', 'thinking', 'reasoning'],
      thinking: ['thinking', 'reasoning'],
      'thinking.display': ['thinking.display', 'reasoning.summary', 'reasoning.generate_summary'],
      response_format: ['text.format'],
      'response_format.json_schema': ['text.format'],
      verbosity: ['text.verbosity'],
    },
    inTools: { function: '' },
    inMessages: {
      image: 'input_image',
      'image_url.detail': 'input_image.detail',
      file: 'input_file',
      'file.filename': 'input_file.filename',
      audio: 'input_audio',
      tool_call: 'function_call',
      tool_result: 'output',
      thinking: 'reasoning',
      'thinking.signature': 'reasoning.encrypted_content',
      redacted_thinking: 'reasoning.encrypted_content',
      thought_signature: 'reasoning.encrypted_content',
    },
  },
  'anthropic-messages': {
    fields: {
      stop: ['stop_sequences'],
      parallel_tool_calls: ['tool_choice.disable_parallel_tool_use'],
      user: ['metadata.user_id'],
      reasoning_effort: ['output_config.effort', 'thinking'],
      response_format: ['output_config.format'],
      'response_format.json_schema': ['output_config.format'],
    },
    inTools: { function: '', 'function.parameters': 'input_schema' },
    inMessages: {
      file: 'document',
      'file.filename': 'document.title',
      tool_call: 'tool_use',
      thought_signature: 'thinking.signature',
    },
  },
};

/** `named`, as encoders name what they leave out, in the words that the caller's body has for it; each once. */
export function inCallersWords(
  format: WireFormat,
  body: JsonObject,
  named: readonly string[],
): string[] {
  const own = format in words ? words[format as keyof typeof words] : undefined;
  if (own === undefined) return [...new Set(named)];
  const wanted = named.filter((name) => !isOurs(body, name));
  return [...new Set(wanted.map((name) => callersWord(own, body, name)))];
}

/** Who asks with `functions` wrote nothing of how many calls there may be: one is all that the answer has room for. */
function isOurs(body: JsonObject, name: string): boolean {
  const isGiven = (key: string) => (body[key] ?? null) !== null;
  return name === 'parallel_tool_calls' && isGiven('functions') && !isGiven(name);
}

const ofTool = /^(.*(?:tools|functions|definition)(?:\[\d+\])?)\.(function\b.*)$/;
const ofMessage = /^((?:messages|input)(?:\[\d+\])?|system|instructions|prompt)\.(.+)$/;

function callersWord(own: Words, body: JsonObject, name: string): string {
  const [, tool, inTool] = ofTool.exec(name) ?? [];
  if (tool !== undefined && inTool !== undefined) {
    // What was there before tools has no object within.
    const inside = tool.startsWith('functions') ? { function: '' } : own.inTools;
    return joined(tool, replaced(inside, inTool));
  }
  const [, message, inMessage] = ofMessage.exec(name) ?? [];
  return message === undefined || inMessage === undefined
    ? fieldWord(own, body, name)
    : partWord(own, message, inMessage);
}

function partWord({ inMessages }: Words, message: string, inside: string): string {
  const result = 'tool_result.';
  if (!inside.startsWith(result)) return joined(message, replaced(inMessages, inside));
  const path = joined(message, replaced(inMessages, 'tool_result'));
  return joined(path, replaced(inMessages, inside.slice(result.length)));
}

function fieldWord({ fields }: Words, body: JsonObject, name: string): string {
  const known = longestOf(fields, name);
  const written =
    known && fields[known]?.find((candidate) => valueAt(body, candidate) !== undefined);
  if (known === undefined || written === undefined) return name;
  const rest = name.slice(known.length);
  // One stop sequence may stand there without a list.
  return rest.startsWith('[') && arrayOf(valueAt(body, written)) === undefined
    ? written
    : written + rest;
}

function replaced(table: Readonly<Record<string, string>>, name: string): string {
  const known = longestOf(table, name);
  return known === undefined ? name : `${table[known]}${name.slice(known.length)}`;
}

function joined(path: string, rest: string): string {
  return rest === '' || rest.startsWith('.') ? path + rest : `${path}.${rest}`;
}

/** The longest key that the path begins with. */
function longestOf(table: Readonly<Record<string, unknown>>, path: string): string | undefined {
  let longest: string | undefined;
  for (const key in table)
    if (path.startsWith(key) && /^(?:[.[]|$)/.test(path.slice(key.length)))
      if (key.length > (longest?.length ?? -1)) longest = key;
  return longest;
}

function valueAt(body: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = body;
  for (const key of path.split('.')) value = objectOf(value)?.[key] ?? undefined;
  return value;
}
