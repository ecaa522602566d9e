import type { ChatUsage } from './chat-usage.ts';

/** What of a reply is charged by other units than tokens. Absent = none, or nobody counted. */
export interface ReplyUnits {
  searchUnits?: number;
  pages?: number;
  /** The part of the pages that were also annotated, at a price of their own. */
  annotatedPages?: number;
  audioSeconds?: number;
  characters?: number;
  /** Searches of the web that the provider made for the reply. */
  webSearches?: number;
  /** The same by the tool that came before it, which OpenAI charges otherwise. */
  previewSearches?: number;
  /** Searches in files that the provider was given. */
  fileSearches?: number;
  /** Searches of posts at X. */
  xSearches?: number;
  /** Searches in files that came with the request. */
  attachmentSearches?: number;
  mapSearches?: number;
  codeExecutions?: number;
  /** Pictures that a tool of the provider drew within a reply, by whichever model. */
  imageGenerations?: number;
  images?: number;
  /** As the provider names them; which price an image has depends on both. */
  imageQuality?: string;
  imageSize?: string;
  /** Of video that was made; which price a second has depends on its size. */
  videoSeconds?: number;
  /** `1280x720`. */
  videoSize?: string;
  /** What a model was trained on: billed tokens, over all epochs. */
  trainedTokens?: number;
  /** For how long, where training is charged by time. */
  trainingSeconds?: number;
  /** How much of the web was read for the reply, where the fee for a request depends on it. */
  searchContext?: string;
}

/** Kinds that are not named are none. */
export type ChargedTokens = Pick<ChatUsage, 'inputTokens' | 'outputTokens'> & Partial<ChatUsage>;

/** What another model than the one that answered counted for the reply, in one call of the provider's own. */
export interface OtherModel {
  model: string;
  tokens: ChatUsage;
}

/** What beside its tokens decides what a reply costs. Absent = the provider did not say. */
export interface ReplyBill {
  /** As the call was served, not as it was asked for: `standard`, `batch`, `flex`, `priority`, `fast` … */
  servedTier?: string;
  servedRegion?: string;
  units?: ReplyUnits;
  /** Where the provider charges for other counts than those of the reply. */
  chargedTokens?: ChargedTokens;
  /** Each is charged at the price of its model, and not among the counts of the reply. */
  otherModels?: readonly OtherModel[];
  /** What the provider itself says it costs. */
  providerCostNanoUsd?: number;
}
