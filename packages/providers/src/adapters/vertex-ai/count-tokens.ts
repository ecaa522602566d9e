import { publisherPath, vertexModel } from '../../addresses/vertex-ai.ts';
import type { BodyDialect, EndpointChoice, EndpointEntry } from '../../contract.ts';
import { countedRequest, decodeCount } from '../google/count-tokens.ts';
import { claudeCountTokens } from './claude.ts';

/** Like the Gemini API's, without the request around the contents. */
const countGemini: BodyDialect = {
  encode(body, context) {
    const { request, dropped } = countedRequest(body, context);
    return { body: request, dropped };
  },
  decode: decodeCount,
};

const geminiCountTokens: EndpointEntry = {
  format: 'vertex-ai/count-tokens',
  path: (facts) => publisherPath(facts, 'countTokens'),
  dialect: countGemini,
};

export const messagesCountTokens: EndpointChoice = {
  choose({ model }) {
    const { publisher } = vertexModel(model);
    if (publisher === 'anthropic') return claudeCountTokens;
    return publisher === 'google' ? geminiCountTokens : undefined;
  },
  all: [claudeCountTokens, geminiCountTokens],
};
