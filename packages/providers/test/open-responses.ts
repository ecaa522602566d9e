/**
 * What the published compliance suite of Open Responses checks of a response
 * and of the events of a stream, as faults with their paths.
 * https://www.openresponses.org/compliance, November 2026
 */
import type { JsonObject } from '@sluice/contracts';

type Check = (value: unknown, path: string) => string[];

const of =
  (name: string, isGood: (value: unknown) => boolean): Check =>
  (value, path) =>
    isGood(value) ? [] : [`${path}: ${JSON.stringify(value)} is not ${name}`];
const text = of('a string', (value) => typeof value === 'string');
const number = of('a number', (value) => typeof value === 'number');
const integer = of('an integer', Number.isInteger);
const boolean = of('a boolean', (value) => typeof value === 'boolean');
const anything: Check = () => [];
const word = (...words: string[]): Check =>
  of(words.join(' or '), (value) => words.includes(value as string));
const nullable =
  (check: Check): Check =>
  (value, path) =>
    value === null ? [] : check(value, path);
const optional =
  (check: Check): Check =>
  (value, path) =>
    value === undefined ? [] : check(value, path);
const list =
  (check: Check): Check =>
  (value, path) =>
    Array.isArray(value)
      ? value.flatMap((entry, index) => check(entry, `${path}[${index}]`))
      : [`${path}: not a list`];
const object =
  (fields: Record<string, Check>): Check =>
  (value, path) => {
    if (typeof value !== 'object' || value === null) return [`${path}: not an object`];
    return Object.entries(fields).flatMap(([name, check]) =>
      check((value as JsonObject)[name], `${path}.${name}`),
    );
  };
/** By the `type` of an object, which has to be one of these. */
const typed =
  (kinds: Record<string, Record<string, Check>>): Check =>
  (value, path) => {
    const type = (value as JsonObject | undefined)?.type;
    const fields = typeof type === 'string' ? kinds[type] : undefined;
    return fields === undefined ? [`${path}: no ${type} is known`] : object(fields)(value, path);
  };

const likely = { token: text, logprob: number, bytes: list(integer) };
const logprobs = list(object({ ...likely, top_logprobs: list(object(likely)) }));
const annotation = typed({
  url_citation: { url: text, title: text, start_index: integer, end_index: integer },
});
const outputText = { text, annotations: list(annotation), logprobs };
const part = typed({ output_text: outputText, refusal: { refusal: text } });
const summary = list(typed({ summary_text: { text } }));
const status = word('in_progress', 'completed', 'incomplete');
const item = typed({
  message: { id: text, status, role: word('assistant'), content: list(part) },
  function_call: { id: text, call_id: text, name: text, arguments: text, status },
  reasoning: { id: text, summary, encrypted_content: optional(text) },
});
const tool = typed({
  function: {
    name: text,
    description: nullable(text),
    parameters: nullable(object({})),
    strict: nullable(boolean),
  },
});
const usage = object({
  input_tokens: integer,
  output_tokens: integer,
  total_tokens: integer,
  input_tokens_details: object({ cached_tokens: integer }),
  output_tokens_details: object({ reasoning_tokens: integer }),
});

const response = object({
  id: text,
  object: word('response'),
  created_at: integer,
  completed_at: nullable(integer),
  status: text,
  incomplete_details: nullable(object({ reason: text })),
  model: text,
  previous_response_id: nullable(text),
  instructions: nullable(text),
  output: list(item),
  error: nullable(object({ code: text, message: text })),
  tools: list(tool),
  tool_choice: word('none', 'auto', 'required'),
  truncation: word('auto', 'disabled'),
  parallel_tool_calls: boolean,
  text: object({ format: object({ type: text }) }),
  top_p: number,
  presence_penalty: number,
  frequency_penalty: number,
  top_logprobs: integer,
  temperature: number,
  reasoning: nullable(object({ effort: nullable(text), summary: nullable(text) })),
  user: nullable(text),
  usage: nullable(usage),
  max_output_tokens: nullable(integer),
  max_tool_calls: nullable(integer),
  store: boolean,
  background: boolean,
  service_tier: text,
  metadata: anything,
  safety_identifier: nullable(text),
  prompt_cache_key: nullable(text),
});

const counted = { sequence_number: integer };
const ofItem = { ...counted, item_id: text, output_index: integer };
const ofPart = { ...ofItem, content_index: integer };
const ofSummary = { ...ofItem, summary_index: integer };
const whole = { ...counted, response };
const event = typed({
  'response.created': whole,
  'response.in_progress': whole,
  'response.completed': whole,
  'response.failed': whole,
  'response.incomplete': whole,
  'response.output_item.added': { ...counted, output_index: integer, item },
  'response.output_item.done': { ...counted, output_index: integer, item },
  'response.content_part.added': { ...ofPart, part },
  'response.content_part.done': { ...ofPart, part },
  'response.output_text.delta': { ...ofPart, delta: text, logprobs },
  'response.output_text.done': { ...ofPart, text, logprobs },
  'response.output_text.annotation.added': { ...ofPart, annotation_index: integer, annotation },
  'response.refusal.delta': { ...ofPart, delta: text },
  'response.refusal.done': { ...ofPart, refusal: text },
  'response.function_call_arguments.delta': { ...ofItem, delta: text },
  'response.function_call_arguments.done': { ...ofItem, arguments: text },
  'response.reasoning_summary_part.added': {
    ...ofSummary,
    part: typed({ summary_text: { text } }),
  },
  'response.reasoning_summary_part.done': { ...ofSummary, part: typed({ summary_text: { text } }) },
  'response.reasoning_summary_text.delta': { ...ofSummary, delta: text },
  'response.reasoning_summary_text.done': { ...ofSummary, text },
  error: { ...counted, error: object({ type: text, message: text }) },
});

export function faultsOfResponse(value: unknown): string[] {
  return response(value, 'response');
}

export function faultsOfEvent(value: JsonObject): string[] {
  return event(value, String(value.type));
}
