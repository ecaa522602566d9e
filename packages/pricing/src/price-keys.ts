import type { TokenKind } from './token-prices.ts';
import type { CountedUnit } from './unit-counts.ts';

/** The open format's names of tokens. Several may mean one kind: the first that is listed counts. */
export const tokenKeys: Readonly<Record<TokenKind, readonly string[]>> = {
  input: ['request_token', 'request_text_token'],
  output: ['response_token', 'response_text_token'],
  cacheRead: ['cache_read_input_token', 'cache_read_text_input_token', 'cached_text_input_token'],
  cacheWrite: ['cache_write_input_token', 'cache_write_text_input_token'],
  cacheWrite1h: [],
  cacheReadAudio: ['cache_read_audio_input_token'],
  cacheReadImage: ['cache_read_image_input_token', 'cached_image_input_token'],
  inputAudio: ['request_audio_token'],
  inputImage: ['request_image_token'],
  inputVideo: [],
  outputAudio: ['response_audio_token'],
  outputImage: ['response_image_token'],
  outputVideo: [],
  reasoning: ['reasoning_token'],
  citation: [],
};

/** Names among `additional_units` that are tokens all the same. */
export const tokenUnits: Readonly<Partial<Record<TokenKind, string>>> = {
  cacheWrite1h: 'cache_write_1h',
  outputImage: 'image_token',
  inputVideo: 'input_video_token',
  outputVideo: 'output_video_token',
  citation: 'citation_token',
};

/** Names among `additional_units` of what is charged by its number: the first that is listed counts. */
export const unitKeys: Readonly<Record<CountedUnit, readonly string[]>> = {
  searchUnits: ['search_unit', 'rerank_search'],
  pages: ['page'],
  annotatedPages: ['annotated_page'],
  audioSeconds: ['audio_second'],
  characters: ['character'],
  webSearches: ['web_search', 'search'],
  previewSearches: ['web_search_preview'],
  fileSearches: ['file_search'],
  xSearches: ['x_search'],
  attachmentSearches: ['attachment_search'],
  mapSearches: ['maps'],
  codeExecutions: ['code_execution'],
  imageGenerations: ['image_generation'],
  trainedTokens: ['training_token'],
  trainingSeconds: ['training_second'],
};

/** Seconds of video: of whatever size, and of one. */
export const videoUnit = 'video_seconds';
export const sizedVideoUnit = /^video_duration_seconds_(\d{1,5})_(\d{1,5})$/;

/** The name of a second of video of a size, `1280x720`, or of whatever size. */
export function videoUnitOf(size: string | undefined): string {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size ?? '') ?? [];
  return width === undefined ? videoUnit : `video_duration_seconds_${width}_${height}`;
}

/** For the request as such. */
export const requestUnit = 'request';

/** Fees for the request by how much of the web is read for it. */
export const searchContextUnit = /^web_search_(low|medium|high)_context$/;
