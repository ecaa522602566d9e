/** Refuses what vendors refuse, so that tests learn of it before callers do. */
export { boundSignature, type MessagesOptions, refuseMessages } from './anthropic.ts';
export { refuseConverse } from './bedrock-converse.ts';
export { refuseCohere } from './cohere.ts';
export { refuseGemini, refuseGooglePath, refuseGoogleQuery } from './gemini.ts';
export { refuseMistral } from './mistral.ts';
export { refuseChat, refuseResponses } from './openai.ts';
export type { Refusal } from './refusal.ts';
