/** Lists of models whose shape is not OpenAI's. */
export { encodeModels, type ListedModel, modelListDialect, secondsOf } from './list.ts';
export {
  anthropicModels,
  bareModels,
  cohereModels,
  deepgramModels,
  elevenLabsModels,
  pineconeModels,
  stabilityModels,
  workersAiModels,
} from './vendors.ts';
