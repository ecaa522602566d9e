import { setImmediate } from 'node:timers/promises';
import type { ParametersOf } from '@sluice/contracts/checks';
import { type Texts, textsOf } from '@sluice/providers';
import { type CheckContext, CheckError, type CheckFunction, type CheckOutcome } from '../check.ts';
import { PiiFinder, sliceLength } from '../pii/find-pii.ts';
import type { Finding } from '../pii/finding.ts';
import { patternFinder, wordFinder } from '../pii/own-finders.ts';
import { isSupportedCountry } from '../pii/phones.ts';
import { Redactor } from '../pii/redact.ts';
import { replaced } from '../replaced.ts';
import { requiredSubject } from '../text-check.ts';

type Parameters = ParametersOf<'default.pii'>;

/** Looks for what is personal or secret, by itself; fails, or puts identifiers in its place. */
export function pii(parameters: Parameters): CheckFunction {
  const finder = finderOf(parameters);
  const { subjects } = parameters;
  return (context) => {
    if (parameters.redact && context.endpoint === 'embed')
      throw new CheckError('NothingToCheck', 'Inputs of embeddings are not redacted.');
    const texts = textsOf(context, subjects);
    requiredSubject(texts.joined);
    const judge = (findings: readonly Finding[][]) =>
      outcomeOf(context, texts, findings, parameters);
    if (texts.joined.length <= sliceLength)
      return judge(texts.parts.map((part) => finder.find(part)));
    return inTurns(finder, texts.parts).then(judge);
  };
}

async function inTurns(finder: PiiFinder, parts: readonly string[]): Promise<Finding[][]> {
  const findings: Finding[][] = [];
  let sinceTurn = 0;
  for (const part of parts) {
    sinceTurn += part.length;
    if (sinceTurn > sliceLength) {
      await setImmediate();
      sinceTurn = part.length;
    }
    findings.push(await finder.findInTurns(part, () => setImmediate()));
  }
  return findings;
}

function finderOf({ categories, regions, patterns, lists, allow }: Parameters): PiiFinder {
  for (const region of regions)
    if (!isSupportedCountry(region))
      throw new CheckError(
        'InvalidParameters',
        `parameters.regions: ${region} is no country.`,
        'regions',
      );
  return new PiiFinder({
    categories,
    regions,
    own: [
      ...patterns.map(({ name, rule }, at) => patternFinder(name, rule, `patterns.${at}.rule`)),
      ...lists.map(({ name, words: listed }) => wordFinder(name, listed)),
    ],
    allowed: new Set(allow.map((value) => value.toLowerCase())),
  });
}

function outcomeOf(
  context: CheckContext,
  texts: Texts,
  findings: readonly Finding[][],
  { redact, not }: Parameters,
): CheckOutcome {
  const counts: Record<string, number> = {};
  for (const { type } of findings.flat()) counts[type] = (counts[type] ?? 0) + 1;
  const isFound = Object.keys(counts).length > 0;
  const verdict = (!isFound || redact) !== not;
  const explanation = isFound
    ? `Found ${Object.keys(counts).join(', ')}${redact ? ', and redacted it' : ''}.`
    : 'Nothing personal or secret was found.';
  // What was found is told by its kind alone: results go into replies, records and logs.
  const data = { verdict, not, explanation, detected: counts };
  if (!isFound || !redact) return { verdict, data };
  const redactor = new Redactor(texts.parts);
  const parts = texts.parts.map((part, at) => {
    const found = findings[at] ?? [];
    return found.length === 0 ? null : redactor.redact(part, found);
  });
  return { verdict, data, ...replaced(context, texts, parts) };
}
