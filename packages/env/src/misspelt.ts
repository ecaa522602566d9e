/** A variable of the environment that is no setting, and the one that may have been meant. */
export interface Misspelt {
  readonly name: string;
  readonly meant: string;
}

const lettersMax = 2;
/** Of shorter names two letters are no likeness. */
const lengthMin = 6;
/** What Kubernetes tells each container of itself and of the Services beside it: https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables */
const kubernetes = /_SERVICE_(HOST|PORT)(_\w+)?$|_PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?$/;

/**
 * Names of the environment that differ from a setting by one or two letters, or by the order of their words. Values are not looked at.
 * @param settings  of this service
 */
export function misspelt(
  settings: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Misspelt[] {
  const known = new Set(settings);
  const long = settings
    .filter((name) => name.length >= lengthMin)
    .map((name) => ({ name, letters: lettersOf(name) }));
  return Object.keys(environment)
    .filter((name) => /^[A-Z][A-Z0-9_]+$/.test(name) && name.length >= lengthMin)
    .filter((name) => !known.has(name) && !kubernetes.test(name))
    .flatMap((name) => {
      const letters = lettersOf(name);
      const meant = long.find((each) => mayBe(letters, each.letters) && isNear(name, each.name));
      return meant === undefined ? [] : [{ name, meant: meant.name }];
    });
}

/** Which letters occur in it, a bit each. */
function lettersOf(name: string): number {
  let letters = 0;
  for (let at = 0; at < name.length; at += 1) {
    const letter = name.charCodeAt(at) - 65;
    if (letter >= 0 && letter < 26) letters |= 1 << letter;
  }
  return letters;
}

/** To change a letter is one less and one more. Rows of letters are compared of the few that may be near alone: a start has 20,000 pairs. */
function mayBe(letters: number, others: number): boolean {
  let left = letters ^ others;
  for (let count = 0; count < 2 * lettersMax && left !== 0; count += 1) left &= left - 1;
  return left === 0;
}

function isNear(name: string, other: string): boolean {
  return isWithin(name, other) || (name.includes('_') && isWithin(inOrder(name), inOrder(other)));
}

function inOrder(name: string): string {
  return name.split('_').sort().join('_');
}

/** Letters to change, add and leave out (Levenshtein). */
function isWithin(from: string, to: string): boolean {
  if (Math.abs(from.length - to.length) > lettersMax) return false;
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let line = 1; line <= from.length; line += 1) {
    const next = [line];
    for (let at = 1; at <= to.length; at += 1) {
      const same = (row[at - 1] ?? 0) + (from[line - 1] === to[at - 1] ? 0 : 1);
      next.push(Math.min(same, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    if (Math.min(...next) > lettersMax) return false;
    row = next;
  }
  return (row[to.length] ?? 0) <= lettersMax;
}
