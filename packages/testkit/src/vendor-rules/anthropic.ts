/**
 * Anthropic's messages as the vendor takes them: a request that breaks a rule of
 * its model is answered as the vendor answers it. The clouds that serve the same
 * models differ in little, which `host` says.
 */
import { createHash } from 'node:crypto';
import { faultOfCacheControl } from './cache-mark-rules.ts';
import { type ClaudeRules, rulesOfClaude } from './claude-models.ts';
import { refuseSchema } from './closed-schema-rules.ts';
import { type JsonRecord, listOf, type Refusal, recordOf } from './refusal.ts';

export interface MessagesOptions {
  host?: 'anthropic' | 'azure' | 'bedrock' | 'vertex';
  /** Where the address names it. */
  model?: string;
  /** `anthropic-version`; 2023-06-01 when absent. Clouds read it in the body. */
  version?: string;
}

const known = new Set(
  `model messages system max_tokens stream temperature top_p top_k stop_sequences tools tool_choice
  thinking output_config metadata service_tier cache_control context_management container mcp_servers
  inference_geo diagnostics fallbacks speed anthropic_version anthropic_beta thread`.split(/\s+/),
);

/** Undefined: the vendor would serve it. */
export function refuseMessages(body: unknown, options: MessagesOptions = {}): Refusal | undefined {
  const request = recordOf(body);
  // Each thread has been forgotten, as any may be at any time.
  if (recordOf(request.thread).type === 'continue') return forgottenThread;
  const message = faultOf(request, options);
  if (message === undefined) return undefined;
  const error = { type: 'invalid_request_error', message };
  return { status: 400, body: { type: 'error', error, request_id: 'req_test' } };
}

const forgottenThread: Refusal = {
  status: 404,
  body: {
    type: 'error',
    error: {
      type: 'not_found_error',
      message: 'No thread was found.',
      details: { error_code: 'thread_not_found' },
    },
    request_id: 'req_test',
  },
};

function faultOf(
  body: JsonRecord,
  { host = 'anthropic', model, version = '' }: MessagesOptions,
): string | undefined {
  const isCloud = host === 'bedrock' || host === 'vertex';
  const asked = isCloud ? String(body.anthropic_version ?? '') : version;
  if (/^\d/.test(asked) && asked >= '2026-10-21') {
    const fault = faultOfNewVersion(body);
    if (fault !== undefined) return fault;
  } else if (isCloud && asked !== '' && !asked.startsWith(`${host}-`))
    return `Invalid API version: ${asked}`;
  for (const key in body) if (!known.has(key)) return `${key}: Extra inputs are not permitted`;
  if (isCloud && body.anthropic_version === undefined) return 'anthropic_version: Field required';
  if (isCloud && body.model !== undefined) return 'model: Extra inputs are not permitted';
  const name = String(model ?? body.model);
  const rules = rulesOfClaude(name);
  if (rules === undefined) return `model: ${name}`;
  // Claude 4.7 and later: https://platform.claude.com/docs/en/api/versioning
  if (host === 'bedrock' && rules.takesSampling && /^\d/.test(asked))
    return `Invalid API version: ${asked}`;
  const facts: Facts = { body, rules, host };
  return (
    faultOfLimit(facts) ??
    faultOfThinking(facts) ??
    faultOfSampling(facts) ??
    faultOfTools(facts) ??
    faultOfOutput(facts) ??
    faultOfCacheControl(body) ??
    faultOfTurns(facts) ??
    faultOfThoughts(body)
  );
}

/** https://platform.claude.com/docs/en/api/migration-2026-10-21 */
function faultOfNewVersion({ messages, ...body }: JsonRecord): string | undefined {
  for (const key of ['temperature', 'top_p', 'top_k'])
    if (body[key] !== undefined) return `${key}: Extra inputs are not permitted`;
  for (const turn of listOf(messages).map(recordOf))
    for (const block of listOf(turn.content).map(recordOf)) {
      if (turn.role === 'assistant' && block.type === 'document')
        return 'messages: document blocks are not permitted in assistant messages';
      if (turn.role === 'user' && block.type === 'text' && block.citations !== undefined)
        return 'messages: citations: Extra inputs are not permitted';
    }
  return undefined;
}

interface Facts {
  body: JsonRecord;
  rules: ClaudeRules;
  host: string;
}

function faultOfLimit({ body, rules }: Facts): string | undefined {
  const limit = body.max_tokens;
  if (typeof limit !== 'number') return 'max_tokens: Field required';
  return limit > rules.outputTokensMax
    ? `max_tokens: ${limit} > ${rules.outputTokensMax}, which is the maximum allowed number of output tokens`
    : undefined;
}

function typeOf(body: JsonRecord): string | undefined {
  return body.thinking === undefined ? undefined : String(recordOf(body.thinking).type);
}

function faultOfThinking({ body, rules }: Facts): string | undefined {
  const thinking = recordOf(body.thinking);
  const type = typeOf(body);
  if (type !== undefined && !rules.thinking.includes(type))
    return `"thinking.type.${type}" is not supported for this model.`;
  const budget = thinking.budget_tokens;
  if (type === 'enabled') {
    if (typeof budget !== 'number') return 'thinking.enabled.budget_tokens: Field required';
    if (budget < 1024)
      return 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024';
    if (budget >= Number(body.max_tokens))
      return '`max_tokens` must be greater than `thinking.budget_tokens`.';
  } else if (budget !== undefined)
    return `thinking.${type}.budget_tokens: Extra inputs are not permitted`;
  const isShowable = type === 'enabled' || type === 'adaptive';
  if (thinking.display !== undefined && !isShowable)
    return `thinking.${type}.display: Extra inputs are not permitted`;
  const effort = recordOf(body.output_config).effort;
  if (effort === undefined) return undefined;
  if (rules.efforts.length === 0) return 'This model does not support the effort parameter.';
  if (!rules.efforts.includes(String(effort)))
    return `output_config.effort: '${effort}' is not supported by this model.`;
  const isOff = type === 'disabled' || type === 'between_tools';
  return isOff && rules.offUpToHigh && ['xhigh', 'max'].includes(String(effort))
    ? `thinking.type.${type} is not supported at effort '${effort}'.`
    : undefined;
}

function isThinking({ body, rules }: Facts): boolean {
  const type = typeOf(body);
  return type === undefined ? rules.thinksByItself : type === 'enabled' || type === 'adaptive';
}

function faultOfSampling(facts: Facts): string | undefined {
  const { body, rules } = facts;
  const { temperature, top_p, top_k } = body;
  if (!rules.takesSampling) {
    if (temperature !== undefined && temperature !== 1)
      return '`temperature` may only be set to its default value on this model.';
    if (top_p !== undefined && Number(top_p) < 0.99)
      return '`top_p` may only be set to its default value on this model.';
    return top_k === undefined ? undefined : '`top_k` is not supported on this model.';
  }
  if (temperature !== undefined && (Number(temperature) < 0 || Number(temperature) > 1))
    return 'temperature: range: 0..1';
  if (temperature !== undefined && top_p !== undefined && !rules.takesBothOfSampling)
    return '`temperature` and `top_p` cannot both be specified for this model.';
  if (!isThinking(facts)) return undefined;
  if (temperature !== undefined && temperature !== 1)
    return '`temperature` may only be set to 1 when thinking is enabled.';
  if (top_p !== undefined && Number(top_p) < 0.95)
    return '`top_p` must be greater than or equal to 0.95 when thinking is enabled.';
  return top_k === undefined ? undefined : '`top_k` must be unset when thinking is enabled.';
}

function faultOfTools(facts: Facts): string | undefined {
  const { body, rules, host } = facts;
  const choice = String(recordOf(body.tool_choice).type);
  if (body.tool_choice !== undefined && listOf(body.tools).length === 0)
    return 'tool_choice may only be specified while providing tools.';
  if (choice === 'any' || choice === 'tool') {
    if (!rules.takesForcedTools)
      return `tool_choice.type: '${choice}' is not supported by this model.`;
    if (
      typeOf(body) === 'enabled' ||
      (host === 'bedrock' && rules.thinksByItself && isThinking(facts))
    )
      return 'Thinking may not be enabled when tool_choice forces tool use.';
  }
  const tools = listOf(body.tools).map(recordOf);
  if (tools.length > 0 && tools.every((tool) => tool.defer_loading === true))
    return 'All tools have defer_loading set. At least one tool must be non-deferred.';
  let strict = 0;
  for (const [index, tool] of tools.entries()) {
    const callers = listOf(tool.allowed_callers);
    if (callers.some((caller) => !/^(?:direct|code_execution_20\d{6})$/.test(String(caller))))
      return `tools.${index}.custom.allowed_callers: Input should be 'direct' or a version of code execution`;
    if (tool.strict !== true) continue;
    if (!rules.takesSchemas) return `tools.${index}.custom.strict: Extra inputs are not permitted`;
    if (++strict > 20) return 'Too many strict tools.';
    const fault = refuseSchema(tool.input_schema ?? null, `tools.${index}.custom.input_schema`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOfOutput({ body, rules }: Facts): string | undefined {
  const format = recordOf(body.output_config).format;
  if (format === undefined) return undefined;
  if (!rules.takesSchemas) return 'output_config.format: not supported by this model.';
  return refuseSchema(recordOf(format).schema ?? null, 'output_config.format.schema');
}

function blocksOf(turn: JsonRecord): JsonRecord[] {
  return typeof turn.content === 'string'
    ? [{ type: 'text', text: turn.content }]
    : listOf(turn.content).map(recordOf);
}

function faultOfTurns(facts: Facts): string | undefined {
  const { body, rules, host } = facts;
  const turns = listOf(body.messages).map(recordOf);
  for (const [index, turn] of turns.entries()) {
    const at = `messages.${index}`;
    const blocks = blocksOf(turn);
    if (turn.role === 'system') {
      const takes = rules.takesSystemTurns && host === 'anthropic';
      if (!takes) return "role 'system' is not supported on this model";
      const after = turns[index + 1]?.role ?? 'assistant';
      if (turns[index - 1]?.role !== 'user' || after !== 'assistant')
        return `${at}: a system message must follow a user message and come before an assistant message`;
      if (blocks.some((block) => block.type !== 'text'))
        return `${at}: system messages hold text only`;
    }
    for (const block of blocks)
      if (block.type === 'text' && String(block.text).trim() === '')
        return `${at}: text content blocks must be non-empty`;
    const fault = faultOfCalls(turns, index);
    if (fault !== undefined) return fault;
  }
  const last = turns.at(-1);
  if (last?.role === 'assistant') {
    if (!rules.takesPrefill || isThinking(facts))
      return 'This model does not support assistant message prefill. The conversation must end with a user message.';
  }
  return typeOf(body) === 'enabled' ? faultOfOpenTurn(turns) : undefined;
}

/** Calls have their results at the head of the next turn, and nothing else has results. */
function faultOfCalls(turns: JsonRecord[], index: number): string | undefined {
  const turn = turns[index] ?? {};
  const calls = blocksOf(turn).filter((block) => block.type === 'tool_use');
  const next = turns[index + 1];
  if (calls.length === 0 || turn.role !== 'assistant' || next === undefined) return undefined;
  const head = blocksOf(next).slice(0, calls.length);
  const ids = new Set(head.map((block) => block.tool_use_id));
  return calls.every((call) => ids.has(call.id ?? null))
    ? undefined
    : `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after`;
}

function faultOfOpenTurn(turns: JsonRecord[]): string | undefined {
  let first: number | undefined;
  for (let index = turns.length - 1; index >= 0; index--) {
    const turn = turns[index] ?? {};
    if (turn.role === 'assistant') first = index;
    else if (!blocksOf(turn).some((block) => block.type === 'tool_result')) break;
  }
  if (first === undefined) return undefined;
  const type = String(blocksOf(turns[first] ?? {})[0]?.type);
  return type === 'thinking' || type === 'redacted_thinking'
    ? undefined
    : `messages.${first}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${type}\`.`;
}

/** Signatures that the vendor cannot have written, or that belong to another conversation. */
function faultOfThoughts(body: JsonRecord): string | undefined {
  for (const [index, value] of listOf(body.messages).entries())
    for (const [place, block] of blocksOf(recordOf(value)).entries()) {
      if (block.type !== 'thinking' && block.type !== 'redacted_thinking') continue;
      const signature = String(block.signature ?? block.data ?? '');
      const at = `messages.${index}.content.${place}`;
      if (signature === '' || /^(openai|sluice|gemini):/.test(signature))
        return `${at}: Invalid \`signature\` in \`thinking\` block`;
      if (signature.startsWith(boundPrefix) && signature !== boundSignature(body, index))
        return `${at}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation.`;
    }
  return undefined;
}

const boundPrefix = 'bound-';

/**
 * A signature that is good only as long as nothing changes before it: what a
 * model that preserves thinking writes in its answer to this request.
 */
export function boundSignature(
  request: unknown,
  messages = listOf(recordOf(request).messages).length,
): string {
  const body = recordOf(request);
  const before = [
    body.system ?? null,
    body.tools ?? null,
    listOf(body.messages).slice(0, messages),
  ];
  const text = JSON.stringify(before, (key, value) =>
    key === 'cache_control' ? undefined : value,
  );
  return boundPrefix + createHash('sha256').update(text).digest('hex');
}
