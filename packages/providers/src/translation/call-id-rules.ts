import type { Quirks, WireFormat } from '../contract.ts';
import type { WordRule } from '../fitting-words.ts';

function upTo(lengthMax: number): WordRule {
  return { isGood: new RegExp(`^[A-Za-z0-9_-]{1,${lengthMax}}$`), lengthMax };
}

/** "string too long. Expected a string with maximum length 40": https://github.com/vercel/ai/issues/5171 */
export const openAiCallIds: WordRule = upTo(40);

/** "must be a-z, A-Z, 0-9, with a length of 9": https://github.com/vllm-project/vllm/issues/9019 */
export const mistralCallIds: WordRule = { isGood: /^[A-Za-z0-9]{9}$/, lengthMax: 9 };

/** Formats whose every host keeps the same rule. Of the chat format's hosts most take any id; quirks name the others. */
const rules: Partial<Record<WireFormat, WordRule>> = {
  // https://github.com/openclaw/openclaw/pull/875
  'openai-responses': upTo(64),
  // `^[a-zA-Z0-9_-]+$`: https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls
  'anthropic-messages': upTo(64),
  'anthropic-count-tokens': upTo(64),
  // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html
  'bedrock-converse': upTo(64),
};

export function callIdRule(format: WireFormat, quirks: Quirks | undefined): WordRule | undefined {
  return format === 'openai-chat' ? quirks?.callIds : rules[format];
}
