import type { JsonObject, JsonValue } from '@sluice/contracts';
import { JsonError, jsonBounds, readJsonText } from '@sluice/json';
import { configFault } from './config-fault.ts';
import type { HookFeedback } from './hook.ts';

/** What is said of an outcome, `{feedback: {…}}`; undefined = nothing. @throws GatewayError `config.invalid` */
export function readFeedback(value: JsonValue | undefined, path: string): HookFeedback | undefined {
  if (value === undefined || value === null) return undefined;
  const { feedback } = objectOr(value, path);
  if (feedback === undefined || feedback === null) return undefined;
  const said = objectOr(feedback, `${path}.feedback`);
  return {
    value: numberWithin(said.value, -10, 10, 0, `${path}.feedback.value`),
    weight: numberWithin(said.weight, 0, 1, 1, `${path}.feedback.weight`),
    metadata: metadataIn(said.metadata),
  };
}

/** Saved ones are texts, JSON or not. */
function metadataIn(said: JsonValue | undefined): JsonObject {
  if (isJsonObject(said)) return said;
  if (typeof said !== 'string' || said === '') return {};
  try {
    const value: unknown = readJsonText(said, jsonBounds.small);
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  return { metadata: said };
}

/** @throws GatewayError `config.invalid` */
export function numberWithin(
  value: JsonValue | undefined,
  min: number,
  max: number,
  fallback: number,
  path: string,
): number {
  if (value === undefined || value === null) return fallback;
  if (typeof value !== 'number' || value < min || value > max)
    throw configFault(path, `must be a number from ${min} to ${max}`);
  return value;
}

export function objectOr(value: JsonValue | undefined, path: string): JsonObject {
  if (!isJsonObject(value)) throw configFault(path, 'must be an object');
  return value;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
