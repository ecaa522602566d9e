/** OCR: the unified shape is Mistral's own. */
export { azureOcr } from './azure.ts';
export { readOcr } from './facts.ts';
