/** How well detectors find what stands in labelled lines: for `npm run guardrails:measure` and tests. */
export { measurePii, type PiiMeasure, type Quality } from './measure.ts';
export { type CheckMeasure, measureChecks } from './measure-checks.ts';
