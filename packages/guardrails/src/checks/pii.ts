import { setImmediate } from 'node:timers/promises';
import type { ParametersOf } from '@sluice/contracts/checks';
import { type Texts, textsOf } from '@sluice/providers';
import { type CheckContext, CheckError, type CheckFunction, type CheckOutcome } from '../check.ts';
import { PiiFinder, sliceLength } from '../pii/find-pii.ts';
import type { Finding } from '../pii/finding.ts';
import { patternFinder, wordFinder } from '../pii/own-finders.ts';
import { isSupportedCountry } from '../pii/phones.ts';
import { findingsATurn, Redactor, type RedactorOptions } from '../pii/redact.ts';
import { replaced } from '../replaced.ts';
import { requiredSubject } from '../text-check.ts';

type Parameters = ParametersOf<'default.pii'>;

/** Looks for what is personal or secret, by itself; fails, or puts identifiers in its place. */
export function pii(parameters: Parameters): CheckFunction {
  const finder = finderOf(parameters);
  const { subjects } = parameters;
  return (context) => {
    const texts = textsOf(context, subjects);
    requiredSubject(texts.joined);
    const { parts } = texts;
    const leftOf = (redacted: Redacted) =>
      texts.together?.(redacted?.map((part, at) => part ?? parts[at] ?? '')) ?? '';
    const outcome = ({ findings, redacted }: Redaction, inLeft: readonly Finding[]) => {
      const across = inLeft.filter((found) => !isKnown(found, findings));
      return outcomeOf(context, texts, { findings, redacted, across }, parameters);
    };
    if (texts.joined.length > sliceLength)
      return lookInTurns(finder, parts, parameters, context).then(async (redaction) => {
        const left = await inTurns(finder, [leftOf(redaction.redacted)]);
        return outcome(redaction, left.flat());
      });
    const findings = parts.map((part) => finder.find(part));
    let redacted: Redacted;
    if (parameters.redact && !findings.every(isEmpty)) {
      const redactor = new Redactor(parts, optionsOf(context, parameters));
      redacted = findings.map((found, at) =>
        isEmpty(found) ? null : redactor.redact(parts[at] ?? '', found),
      );
    }
    const left = leftOf(redacted);
    return outcome({ findings, redacted }, left === '' ? [] : finder.find(left));
  };
}

/** What an answer says is nothing that its caller told. */
function optionsOf({ identifiers, event }: CheckContext, { restore }: Parameters): RedactorOptions {
  return { identifiers, isRestorable: restore && event === 'beforeRequest' };
}

/** One for each part, null where nothing is taken out; undefined where nothing is at all. */
type Redacted = readonly (string | null)[] | undefined;

const isEmpty = (found: readonly Finding[]) => found.length === 0;

async function lookInTurns(
  finder: PiiFinder,
  parts: readonly string[],
  parameters: Parameters,
  context: CheckContext,
): Promise<Redaction> {
  const findings = await inTurns(finder, parts);
  await setImmediate();
  if (!parameters.redact || findings.every(isEmpty)) return { findings, redacted: undefined };
  const options = optionsOf(context, parameters);
  const redactor = await Redactor.madeInTurns(parts, options, () => setImmediate());
  const redacted: (string | null)[] = [];
  let sinceTurn = 0;
  for (const [at, found] of findings.entries()) {
    sinceTurn += found.length;
    if (sinceTurn > findingsATurn) {
      await setImmediate();
      sinceTurn = found.length;
    }
    redacted.push(
      isEmpty(found)
        ? null
        : await redactor.redactInTurns(parts[at] ?? '', found, () => setImmediate()),
    );
  }
  await setImmediate();
  return { findings, redacted };
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

interface Redaction {
  readonly findings: readonly Finding[][];
  readonly redacted: Redacted;
}

/** What is in a part of its own, too; all else stands across two of one message, and cannot be taken out of them. */
function isKnown({ value }: Finding, findings: readonly Finding[][]): boolean {
  return findings.some((found) => found.some((one) => one.value === value));
}

interface Looked extends Redaction {
  readonly across: readonly Finding[];
}

function outcomeOf(
  context: CheckContext,
  texts: Texts,
  { findings, redacted, across }: Looked,
  { redact, not }: Parameters,
): CheckOutcome {
  const counts: Record<string, number> = {};
  for (const found of [...findings, across])
    for (const { type } of found) counts[type] = (counts[type] ?? 0) + 1;
  const isFound = Object.keys(counts).length > 0;
  const isLeft = redact ? across.length > 0 : isFound;
  const verdict = !isLeft !== not;
  const explanation = isFound
    ? `Found ${Object.keys(counts).join(', ')}${redact && !isLeft ? ', and redacted it' : ''}.`
    : 'Nothing personal or secret was found.';
  // What was found is told by its kind alone: results go into replies, records and logs.
  const data = { verdict, not, explanation, detected: counts };
  if (redacted === undefined) return { verdict, data };
  return { verdict, data, ...replaced(context, texts, redacted) };
}
