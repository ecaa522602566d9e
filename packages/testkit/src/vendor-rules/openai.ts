/**
 * OpenAI's two formats as the vendor takes them: a request that breaks a rule
 * of its endpoint or model is answered as the vendor answers it.
 */
import { type OpenAiRules, rulesOfOpenAi } from './openai-models.ts';
import { type JsonRecord, listOf, type Refusal, recordOf } from './refusal.ts';

const knownInChat = new Set(
  `model messages stream stream_options tools tool_choice parallel_tool_calls max_completion_tokens
  max_tokens temperature top_p frequency_penalty presence_penalty logit_bias logprobs top_logprobs n
  seed stop user safety_identifier service_tier response_format reasoning_effort verbosity store
  metadata modalities audio prediction web_search_options prompt_cache_key prompt_cache_retention
  prompt_cache_options moderation functions function_call`.split(/\s+/),
);

const knownInResponses = new Set(
  `model input instructions stream stream_options tools tool_choice parallel_tool_calls
  max_output_tokens max_tool_calls temperature top_p top_logprobs user safety_identifier service_tier
  text reasoning include store truncation background previous_response_id conversation prompt metadata
  prompt_cache_key prompt_cache_retention prompt_cache_options moderation context_management client_metadata`.split(
    /\s+/,
  ),
);

interface Fault {
  message: string;
  param: string;
  code?: string;
  status?: number;
}

/** Undefined: the vendor would serve it. */
export function refuseChat(body: unknown): Refusal | undefined {
  return refusal(faultOfChat(recordOf(body)));
}

/** Undefined: the vendor would serve it. */
export function refuseResponses(body: unknown): Refusal | undefined {
  return refusal(faultOfResponses(recordOf(body)));
}

function refusal(fault: Fault | undefined): Refusal | undefined {
  if (fault === undefined) return undefined;
  const { message, param, code = null, status = 400 } = fault;
  return { status, body: { error: { message, type: 'invalid_request_error', param, code } } };
}

function faultOfChat(body: JsonRecord): Fault | undefined {
  const model = String(body.model);
  const rules = rulesOfOpenAi(model);
  if (rules === undefined) return noModel(model);
  if (!rules.chat)
    return {
      message: 'This model is only supported in v1/responses and not in v1/chat/completions.',
      param: 'model',
      status: 404,
    };
  const effort = typeof body.reasoning_effort === 'string' ? body.reasoning_effort : undefined;
  return (
    unknownField(body, knownInChat) ??
    faultOfEffort(effort, rules.effortsInChat ?? rules.efforts, 'reasoning_effort') ??
    faultOfChatTools(body, rules, effort) ??
    faultOfSampling(body, rules, effort, [
      'temperature',
      'top_p',
      'frequency_penalty',
      'presence_penalty',
      'logit_bias',
      'logprobs',
      'top_logprobs',
      'stop',
    ]) ??
    (body.max_tokens !== undefined && rules.efforts.length > 0
      ? unsupported('max_tokens', " Use 'max_completion_tokens' instead.")
      : undefined) ??
    tooLong(body.user, 'user', 64) ??
    faultOfTurns(listOf(body.messages)) ??
    faultOfBreakpoints(body, rules, 'messages') ??
    faultOfBreakpoints(body, rules, 'tools')
  );
}

function noModel(model: string): Fault {
  const message = `The model \`${model}\` does not exist or you do not have access to it.`;
  return { message, param: 'model', code: 'model_not_found', status: 404 };
}

function unknownField(body: JsonRecord, known: ReadonlySet<string>): Fault | undefined {
  for (const key in body)
    if (!known.has(key))
      return { message: `Unknown parameter: '${key}'.`, param: key, code: 'unknown_parameter' };
  return undefined;
}

function unsupported(param: string, more = ''): Fault {
  const message = `Unsupported parameter: '${param}' is not supported with this model.${more}`;
  return { message, param, code: 'unsupported_parameter' };
}

function faultOfEffort(
  effort: string | undefined,
  efforts: readonly string[],
  param: string,
): Fault | undefined {
  if (effort === undefined) return undefined;
  if (efforts.length === 0) return unsupported(param);
  if (efforts.includes(effort)) return undefined;
  const words = efforts.map((word) => `'${word}'`).join(', ');
  const message = `Unsupported value: '${effort}' is not supported with this model. Supported values are: ${words}.`;
  return { message, param, code: 'unsupported_value' };
}

function faultOfChatTools(
  body: JsonRecord,
  rules: OpenAiRules,
  effort: string | undefined,
): Fault | undefined {
  const tools = listOf(body.tools);
  if (tools.length === 0) {
    for (const param of ['tool_choice', 'parallel_tool_calls'])
      if (body[param] !== undefined)
        return { message: `'${param}' is only allowed when 'tools' are specified.`, param };
    return undefined;
  }
  for (const [index, value] of tools.entries()) {
    const tool = recordOf(value);
    const at = `tools[${index}]`;
    if (tool.type !== 'function' && tool.type !== 'custom')
      return {
        message: `Invalid value: '${tool.type}'. Supported values are: 'function' and 'custom'.`,
        param: `${at}.type`,
        code: 'invalid_value',
      };
    const own = recordOf(tool[tool.type]);
    const fault =
      faultOfName(own.name, `${at}.${tool.type}.name`) ??
      (tool.type === 'custom' ? faultOfFormat(own, `${at}.custom.format`, 'chat') : undefined);
    if (fault !== undefined) return fault;
  }
  const choice = faultOfNamedChoice(body);
  if (choice !== undefined) return choice;
  const reasons = (effort ?? rules.effortDefault) !== 'none';
  if (rules.allToolsWantResponses === true || (rules.toolsWantResponses && reasons))
    return {
      message: `Function tools with reasoning_effort are not supported for ${body.model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
      param: 'reasoning_effort',
    };
  return undefined;
}

/** A grammar is an object of its own in chat completions, and lies beside the type in responses. */
function faultOfFormat(tool: JsonRecord, param: string, endpoint: 'chat' | 'responses') {
  if (tool.format === undefined) return undefined;
  const { type, ...rest } = recordOf(tool.format);
  if (type === 'text') return undefined;
  if (type !== 'grammar')
    return {
      message: `Invalid value: '${type}'. Supported values are: 'text' and 'grammar'.`,
      param: `${param}.type`,
      code: 'invalid_value',
    };
  const at = endpoint === 'chat' ? `${param}.grammar` : param;
  const grammar = endpoint === 'chat' ? recordOf(rest.grammar) : rest;
  const missing = ['syntax', 'definition'].find((key) => typeof grammar[key] !== 'string');
  if (missing !== undefined)
    return {
      message: `Missing required parameter: '${at}.${missing}'.`,
      param: `${at}.${missing}`,
      code: 'missing_required_parameter',
    };
  if (grammar.syntax === 'lark' || grammar.syntax === 'regex') return undefined;
  return {
    message: `Invalid value: '${grammar.syntax}'. Supported values are: 'lark' and 'regex'.`,
    param: `${at}.syntax`,
    code: 'invalid_value',
  };
}

/** A tool that is demanded is among the tools, and of the kind that it is said to be. */
function faultOfNamedChoice({ tool_choice, tools }: JsonRecord): Fault | undefined {
  const choice = recordOf(tool_choice);
  if (choice.type !== 'function' && choice.type !== 'custom') return undefined;
  const { name } = recordOf(choice[choice.type]);
  const param = `tool_choice.${choice.type}.name`;
  if (name === undefined)
    return {
      message: `Missing required parameter: '${param}'.`,
      param,
      code: 'missing_required_parameter',
    };
  const isThere = listOf(tools).some((value) => {
    const tool = recordOf(value);
    return tool.type === choice.type && recordOf(tool[choice.type as string]).name === name;
  });
  if (isThere) return undefined;
  return { message: `Tool choice '${name}' not found in 'tools' parameter.`, param: 'tool_choice' };
}

function faultOfName(name: unknown, param: string): Fault | undefined {
  if (typeof name === 'string' && /^[a-zA-Z0-9_-]+$/.test(name)) return tooLong(name, param, 64);
  const message = `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
  return { message, param, code: 'invalid_value' };
}

function tooLong(value: unknown, param: string, max: number): Fault | undefined {
  if (typeof value !== 'string' || value.length <= max) return undefined;
  const message = `Invalid '${param}': string too long. Expected a string with maximum length ${max}, but got a string with length ${value.length} instead.`;
  return { message, param, code: 'string_above_max_length' };
}

function faultOfSampling(
  body: JsonRecord,
  { sampling, effortDefault }: OpenAiRules,
  effort: string | undefined,
  fields: readonly string[],
): Fault | undefined {
  const isOff = (effort ?? effortDefault) === 'none';
  if (sampling === 'always' || (sampling === 'unless-reasoning' && isOff)) return undefined;
  const refused = fields.find((field) => body[field] !== undefined);
  return refused === undefined ? undefined : unsupported(refused);
}

/** Results follow the calls they answer, all of them, before anybody else speaks. */
function faultOfTurns(messages: unknown[]): Fault | undefined {
  let open = new Set<unknown>();
  for (const [index, value] of messages.entries()) {
    const message = recordOf(value);
    const param = `messages[${index}]`;
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id))
        return {
          message: `Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.`,
          param: `${param}.role`,
        };
      const fault = tooLong(message.tool_call_id, `${param}.tool_call_id`, 40);
      if (fault !== undefined) return fault;
      continue;
    }
    if (open.size > 0)
      return {
        message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`,
        param: `${param}.role`,
      };
    const calls = listOf(message.tool_calls).map(recordOf);
    open = new Set(calls.map((call) => call.id));
    const fault = faultOfCalls(calls, param) ?? faultOfContent(listOf(message.content), param);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOfCalls(calls: JsonRecord[], param: string): Fault | undefined {
  for (const [index, call] of calls.entries()) {
    const at = `${param}.tool_calls[${index}]`;
    if (call.id === '') return { message: `Invalid '${at}.id': empty string.`, param: `${at}.id` };
    const fault =
      tooLong(call.id, `${at}.id`, 40) ??
      (call.type === 'function'
        ? faultOfName(recordOf(call.function).name, `${at}.function.name`)
        : undefined);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOfContent(content: unknown[], param: string): Fault | undefined {
  for (const [index, value] of content.entries()) {
    const part = recordOf(value);
    const at = `${param}.content[${index}]`;
    if (part.type !== 'file') continue;
    const file = recordOf(part.file);
    if (file.file_url !== undefined)
      return {
        message: `Unknown parameter: '${at}.file.file_url'.`,
        param: `${at}.file.file_url`,
        code: 'unknown_parameter',
      };
    if (file.file_data !== undefined && file.filename === undefined)
      return {
        message: `Missing required parameter: '${at}.file.filename'.`,
        param: `${at}.file.filename`,
        code: 'missing_required_parameter',
      };
  }
  return undefined;
}

function faultOfResponses(body: JsonRecord): Fault | undefined {
  const model = String(body.model);
  const rules = rulesOfOpenAi(model);
  if (rules === undefined) return noModel(model);
  const reasoning = recordOf(body.reasoning);
  const effort = typeof reasoning.effort === 'string' ? reasoning.effort : undefined;
  return (
    unknownField(body, knownInResponses) ??
    faultOfEffort(effort, rules.efforts, 'reasoning.effort') ??
    faultOfReasoning(body, rules, reasoning) ??
    faultOfSampling(body, rules, effort, ['temperature', 'top_p', 'top_logprobs']) ??
    faultOfLimit(body) ??
    tooLong(body.user, 'user', 64) ??
    faultOfResponsesTools(body) ??
    faultOfItems(listOf(body.input)) ??
    faultOfBreakpoints(body, rules, 'input') ??
    faultOfBreakpoints(body, rules, 'tools')
  );
}

/** Other vendors' marks are unknown; its own stand on parts, and newer models alone know them. */
function faultOfBreakpoints(
  body: JsonRecord,
  { takesBreakpoints = false }: OpenAiRules,
  key: 'messages' | 'input' | 'tools',
): Fault | undefined {
  for (const [index, value] of listOf(body[key]).entries()) {
    const holder = recordOf(value);
    const parts = [...listOf(holder.content), ...listOf(holder.output)].map(recordOf);
    const isMarked = holder.cache_control ?? parts.find((part) => part.cache_control);
    if (isMarked !== undefined)
      return {
        message: `Unknown parameter: '${key}[${index}].cache_control'.`,
        param: `${key}[${index}].cache_control`,
        code: 'unknown_parameter',
      };
    const point = parts.find((part) => part.prompt_cache_breakpoint)?.prompt_cache_breakpoint;
    if (point === undefined) continue;
    if (!takesBreakpoints) return unsupported('prompt_cache_breakpoint');
    if (recordOf(point).mode !== 'explicit')
      return { message: "Invalid value. Supported values are: 'explicit'.", param: 'mode' };
    if (!['30m', '12h', undefined].includes(recordOf(point).ttl as string | undefined))
      return { message: "Invalid value. Supported values are: '30m' and '12h'.", param: 'ttl' };
  }
  return undefined;
}

function faultOfReasoning(
  body: JsonRecord,
  { efforts }: OpenAiRules,
  reasoning: JsonRecord,
): Fault | undefined {
  if (efforts.length > 0) return undefined;
  if (reasoning.summary !== undefined) return unsupported('reasoning.summary');
  if (listOf(body.include).includes('reasoning.encrypted_content'))
    return { message: 'Encrypted content is not supported with this model.', param: 'include' };
  if (listOf(body.input).some((item) => recordOf(item).type === 'reasoning'))
    return {
      message:
        'Reasoning input items can only be provided to a reasoning or computer use model. Remove reasoning items from your input and try again.',
      param: 'input',
    };
  return undefined;
}

function faultOfLimit({ max_output_tokens: limit }: JsonRecord): Fault | undefined {
  if (typeof limit !== 'number' || limit >= 16) return undefined;
  const param = 'max_output_tokens';
  const message = `Invalid '${param}': integer below minimum value. Expected a value >= 16, but got ${limit} instead.`;
  return { message, param, code: 'integer_below_min_value' };
}

const toolTypes = new Set(
  `function custom web_search web_search_preview file_search code_interpreter image_generation mcp
  local_shell shell apply_patch computer computer_use_preview namespace tool_search`.split(/\s+/),
);

function faultOfResponsesTools(body: JsonRecord): Fault | undefined {
  for (const [index, value] of listOf(body.tools).entries()) {
    const tool = recordOf(value);
    const at = `tools[${index}]`;
    if (!toolTypes.has(String(tool.type)))
      return { message: `Invalid value: '${tool.type}'.`, param: `${at}.type` };
    if (tool.type !== 'function' && tool.type !== 'custom') continue;
    const fault =
      faultOfName(tool.name, `${at}.name`) ??
      (tool.type === 'custom' ? faultOfFormat(tool, `${at}.format`, 'responses') : undefined);
    if (fault !== undefined) return fault;
  }
  const hasChoice = body.tool_choice !== undefined && listOf(body.tools).length === 0;
  if (!hasChoice || body.tool_choice === 'auto' || body.tool_choice === 'none') return undefined;
  const message = "Tool choice must be 'auto' or 'none' when no tools are given.";
  return { message, param: 'tool_choice' };
}

/** Results name calls that stand before them. */
function faultOfItems(items: unknown[]): Fault | undefined {
  const calls = new Map<unknown, string>();
  for (const [index, value] of items.entries()) {
    const item = recordOf(value);
    const param = `input[${index}]`;
    const type = String(item.type ?? 'message');
    const isResult = type.endsWith('_call_output');
    if (!isResult && !type.endsWith('_call')) continue;
    const id = item.call_id;
    if (id === '') return { message: `Invalid '${param}.call_id': empty string.`, param };
    const fault = tooLong(id, `${param}.call_id`, 64);
    if (fault !== undefined) return fault;
    if (!isResult) calls.set(id, type);
    else if (calls.get(id) !== type.slice(0, -'_output'.length))
      return {
        message: `No tool call found for ${type.replaceAll('_', ' ')} with call_id ${id}.`,
        param: 'input',
      };
  }
  return undefined;
}
