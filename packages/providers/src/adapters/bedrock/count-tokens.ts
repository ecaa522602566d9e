import type { JsonObject } from '@sluice/contracts';
import { modelSegment } from '../../address.ts';
import { anthropicMessages } from '../../codecs/anthropic-messages/index.ts';
import { bedrockConverse } from '../../codecs/bedrock-converse/index.ts';
import { modelBehind, readModel } from '../../codecs/bedrock-converse/models.ts';
import { inCallersWords } from '../../codecs/callers-words.ts';
import type { BodyDialect, CallContext, EndpointEntry } from '../../contract.ts';
import { numberOf, parseObject } from '../../json/json-access.ts';
import { claudeBody } from './claude.ts';

/** Asked for whatever the caller set, since the bodies that are counted must name a limit. */
const outputTokensNamed = 1;

/** What Converse's counting takes of a Converse request. */
const counted = ['messages', 'system', 'toolConfig', 'additionalModelRequestFields'] as const;

const dialect: BodyDialect = {
  encode(body, context) {
    const whole = { ...body, max_tokens: numberOf(body.max_tokens) ?? outputTokensNamed };
    return modelBehind(context.model, context.modelOverrides).vendor === 'anthropic'
      ? {
          body: { input: { invokeModel: { body: base64(claudeBody(whole, context)) } } },
          dropped: [],
        }
      : converseInput(whole, context);
  },
  decode(bytes) {
    const count = numberOf(parseObject(bytes.toString('utf8'))?.inputTokens);
    if (count === undefined) return undefined;
    return { body: Buffer.from(JSON.stringify({ input_tokens: count })), facts: {} };
  },
};

function base64(body: JsonObject): string {
  return Buffer.from(JSON.stringify(body)).toString('base64');
}

function converseInput(body: JsonObject, context: CallContext) {
  const { request, dropped } = anthropicMessages.decodeRequest(body);
  const encoded = bedrockConverse.encodeRequest(request, context);
  const converse: JsonObject = {};
  for (const key of counted) {
    const value = encoded.body[key];
    if (value !== undefined) converse[key] = value;
  }
  return {
    body: { input: { converse } },
    dropped: [...dropped, ...inCallersWords('anthropic-messages', body, encoded.dropped)],
  };
}

/**
 * Counts for the model itself: profiles of regions are not known here.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CountTokens.html
 */
export const countTokens: EndpointEntry = {
  format: 'bedrock/count-tokens',
  path: ({ model }) => {
    const { id, name } = readModel(model);
    return `/model/${modelSegment(name === '' ? id : name)}/count-tokens`;
  },
  dialect,
};
