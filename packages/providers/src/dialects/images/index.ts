/** Images: OpenAI's request in each vendor's words, and their images in OpenAI's list. */
export { falImages } from './fal.ts';
export { fireworksImages } from './fireworks.ts';
export { hyperbolicImages } from './hyperbolic.ts';
export { allImages, encodeImages, type ImageItem, imageItem } from './reply.ts';
export { nearestRatio, openAiOnly, promptOf, sizeOf } from './request.ts';
export { segmindImages } from './segmind.ts';
export { siliconflowImages } from './siliconflow.ts';
export { stabilityImages } from './stability.ts';
export { togetherImages } from './together.ts';
