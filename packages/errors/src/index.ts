/** The error registry, the one error class, and the bodies callers see. Start at `codes.ts`. */
export {
  anthropicTypeOf,
  anthropicTypeOfStatus,
  statusOfAnthropicType,
} from './anthropic-types.ts';
export { awsExceptionOf } from './aws-exceptions.ts';
export {
  adminErrorBody,
  denialBody,
  errorBodies,
  gatewayErrorBody,
  shapeHeaders,
} from './bodies.ts';
export { type ErrorCode, type ErrorSpec, errorCodes, errorSpec } from './codes.ts';
export { type FailureCause, failureCauses } from './failure-cause.ts';
export { fromUnknown, GatewayError, type GatewayErrorOptions } from './gateway-error.ts';
export { googleErrorInfo, googleStatusOf } from './google-errors.ts';
export { invalidField } from './invalid-field.ts';
