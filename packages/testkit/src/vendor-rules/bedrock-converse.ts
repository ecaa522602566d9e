import { refuseMessages } from './anthropic.ts';
import { faultOfCachePoints } from './cache-mark-rules.ts';
import { type Json, type JsonRecord, listOf, type Refusal, recordOf } from './refusal.ts';

const schemaVendors =
  /(?:^|\.)(?:anthropic|qwen|deepseek|openai|google|mistral|minimax|moonshot|nvidia)\./;

/** Converse as AWS takes it: its own shape first, then the rules of the model behind it. */
export function refuseConverse(model: string, body: unknown): Refusal | undefined {
  const request = recordOf(body);
  const message = faultOf(model, request);
  if (message !== undefined) return { status: 400, body: { message } };
  if (!model.includes('anthropic.')) return undefined;
  const refusal = refuseMessages(asMessages(request, model), { host: 'bedrock', model });
  if (refusal === undefined) return undefined;
  const { error } = recordOf(refusal.body);
  return {
    status: 400,
    body: { message: `The model returned the following errors: ${recordOf(error).message}` },
  };
}

function faultOf(model: string, body: JsonRecord): string | undefined {
  const turns = listOf(body.messages).map(recordOf);
  for (const [index, turn] of turns.entries()) {
    if (turn.role !== 'user' && turn.role !== 'assistant')
      return `messages.${index}.role: must be user or assistant`;
    if (turns[index - 1]?.role === turn.role)
      return 'A conversation must alternate between user and assistant roles.';
    if (listOf(turn.content).length === 0) return `messages.${index}.content: must not be empty`;
  }
  const inference = recordOf(body.inferenceConfig);
  for (const name of ['temperature', 'topP']) {
    const value = inference[name];
    if (value === undefined || (Number(value) >= 0 && Number(value) <= 1)) continue;
    const bound = Number(value) > 1 ? 'less than or equal to 1' : 'greater than or equal to 0';
    return `Value '${value}' at 'inferenceConfig.${name}' failed to satisfy constraint: Member must have value ${bound}`;
  }
  const fault = faultOfCachePoints(model, body);
  if (fault !== undefined) return fault;
  const usesTools = turns.some(({ content }) =>
    listOf(content).some(
      (block) => 'toolUse' in recordOf(block) || 'toolResult' in recordOf(block),
    ),
  );
  const tools = listOf(recordOf(body.toolConfig).tools);
  if (usesTools && tools.length === 0)
    return 'The toolConfig field must be defined when using toolUse and toolResult content blocks.';
  if (schemaVendors.test(model)) return undefined;
  if (body.outputConfig !== undefined) return `The model ${model} does not support outputConfig.`;
  const isStrict = tools.some((tool) => recordOf(recordOf(tool).toolSpec).strict !== undefined);
  return isStrict ? `The model ${model} does not support strict tools.` : undefined;
}

/** What Claude behind Converse is asked. */
function asMessages(body: JsonRecord, model: string): JsonRecord {
  const { maxTokens, temperature, topP, stopSequences } = recordOf(body.inferenceConfig);
  const { anthropic_beta: _, ...further } = recordOf(body.additionalModelRequestFields);
  const tools = listOf(recordOf(body.toolConfig).tools).flatMap((value) => {
    const spec = recordOf(value).toolSpec;
    if (spec === undefined) return [];
    const { name = '', inputSchema, strict = false } = recordOf(spec);
    return [{ name, input_schema: recordOf(inputSchema).json ?? null, strict } as JsonRecord];
  });
  const textFormat = recordOf(recordOf(body.outputConfig).textFormat);
  const schema = recordOf(recordOf(textFormat.structure).jsonSchema).schema;
  const outputConfig: JsonRecord = {
    ...recordOf(further.output_config),
    ...(schema === undefined ? {} : { format: { schema: JSON.parse(String(schema)) as Json } }),
  };
  const choice = recordOf(recordOf(body.toolConfig).toolChoice);
  const type = choice.any !== undefined ? 'any' : choice.tool !== undefined ? 'tool' : 'auto';
  const messages: JsonRecord = {
    anthropic_version: 'bedrock-2023-05-31',
    max_tokens: maxTokens ?? (/claude-(3|2|instant)/.test(model) ? 4096 : 32_000),
    messages: listOf(body.messages).map((turn) => ({
      role: recordOf(turn).role ?? null,
      content: listOf(recordOf(turn).content).flatMap(asBlock),
    })),
    ...further,
    ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
    ...(tools.length > 0 && { tools, tool_choice: { type } }),
  };
  for (const [key, value] of Object.entries({
    temperature,
    top_p: topP,
    stop_sequences: stopSequences,
  }))
    if (value !== undefined) messages[key] = value;
  return messages;
}

function asBlock(value: Json): JsonRecord[] {
  const block = recordOf(value);
  if (typeof block.text === 'string') return [{ type: 'text', text: block.text }];
  if (block.toolUse !== undefined)
    return [{ type: 'tool_use', id: recordOf(block.toolUse).toolUseId ?? null }];
  if (block.toolResult !== undefined)
    return [{ type: 'tool_result', tool_use_id: recordOf(block.toolResult).toolUseId ?? null }];
  const { reasoningText, redactedContent } = recordOf(block.reasoningContent);
  if (reasoningText !== undefined)
    return [{ type: 'thinking', signature: recordOf(reasoningText).signature ?? '' }];
  return redactedContent === undefined
    ? []
    : [{ type: 'redacted_thinking', data: redactedContent }];
}
