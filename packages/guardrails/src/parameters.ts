import { CheckError, type CheckParameters } from './check.ts';

/** Readers of check parameters. All throw a CheckError that names the parameter. */

export function requiredText(parameters: CheckParameters, name: string): string {
  const value = parameters[name];
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(name, 'must be a text that is not empty');
}

export function optionalText(parameters: CheckParameters, name: string, absent: string): string {
  const value = parameters[name];
  if (value === undefined || value === null) return absent;
  if (typeof value === 'string') return value;
  throw invalid(name, 'must be a text');
}

/** True only for `true`: a text such as "false" must not count as one. */
export function flag(parameters: CheckParameters, name: string, absent = false): boolean {
  const value = parameters[name];
  return typeof value === 'boolean' ? value : absent;
}

export function requiredNumber(parameters: CheckParameters, name: string): number {
  const value = parameters[name];
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw invalid(name, 'must be a number');
}

export function optionalInteger(parameters: CheckParameters, name: string, absent: number): number {
  const value = parameters[name];
  if (value === undefined || value === null) return absent;
  if (Number.isInteger(value)) return value as number;
  throw invalid(name, 'must be an integer');
}

export function requiredTexts(parameters: CheckParameters, name: string): readonly string[] {
  const texts = optionalTexts(parameters, name);
  if (texts.length > 0) return texts;
  throw invalid(name, 'must be a list of texts that is not empty');
}

/** An absent list reads as an empty one. */
export function optionalTexts(parameters: CheckParameters, name: string): readonly string[] {
  const value = parameters[name];
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw invalid(name, 'must be a list of texts');
}

export function optionalList(parameters: CheckParameters, name: string): readonly unknown[] {
  const value = parameters[name];
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw invalid(name, 'must be a list');
}

export function requiredRecord(parameters: CheckParameters, name: string): CheckParameters {
  const value = optionalRecord(parameters, name);
  if (value !== undefined) return value;
  throw invalid(name, 'must be an object');
}

export function optionalRecord(
  parameters: CheckParameters,
  name: string,
): CheckParameters | undefined {
  const value = parameters[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'object' && !Array.isArray(value)) return value as CheckParameters;
  throw invalid(name, 'must be an object');
}

/** One of `choices`; `absent` when not given, and without it an error. */
export function choice<Choice extends string>(
  parameters: CheckParameters,
  name: string,
  choices: readonly Choice[],
  absent?: Choice,
): Choice {
  const value = parameters[name] ?? absent;
  const found = choices.find((known) => known === value);
  if (found !== undefined) return found;
  throw invalid(name, `must be one of ${choices.join(', ')}`);
}

function invalid(name: string, what: string): CheckError {
  return new CheckError('InvalidParameters', `parameters.${name} ${what}.`);
}
