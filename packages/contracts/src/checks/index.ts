/**
 * What guardrail checks can be told, declared once for the admin API, which
 * saves them, and the gateway, which runs them. Apart from the admin API because
 * a gateway must not load its schemas.
 */
export { languageOf } from './code-languages.ts';
export {
  type CheckDeclaration,
  type CheckId,
  checkDeclarations,
  type ParametersOf,
} from './declarations.ts';
export { areApart } from './parameter-fields.ts';
export { type ReadParameters, readParameters } from './read-parameters.ts';
