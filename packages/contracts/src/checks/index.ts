/**
 * What guardrail checks can be told, declared once for the admin API, which
 * saves them, and the gateway, which runs them. Apart from the admin API because
 * a gateway must not load its schemas.
 */
export { languageOf } from './code-languages.ts';
export type { CheckDeclaration, Judges } from './declaration.ts';
export {
  type CheckDeclarations,
  type CheckId,
  checkDeclarations,
  type ParametersOf,
  type PartnerId,
} from './declarations.ts';
export type { askingChecks } from './families/asking-checks.ts';
export {
  type attackChecks,
  type InjectionSignal,
  injectionSignals,
} from './families/attack-checks.ts';
export type { callChecks } from './families/call-checks.ts';
export { type detectionChecks, piiKinds } from './families/detection-checks.ts';
export type { imageChecks } from './families/image-checks.ts';
export type { partnerChecks } from './families/partner-checks.ts';
export type { schemaChecks } from './families/schema-checks.ts';
export type { textChecks } from './families/text-checks.ts';
export {
  type ToxicCategory,
  toldLanguages,
  toxicCategories,
  type wordingChecks,
} from './families/wording-checks.ts';
export { forwardedHeaderFault } from './forwarded-headers.ts';
export { needsCredentials } from './needs-credentials.ts';
export { areApart } from './parameter-fields.ts';
export { type ReadParameters, readParameters } from './read-parameters.ts';
export { type CheckSubject, checkSubjects } from './subjects.ts';
