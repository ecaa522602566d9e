let given = 0;

/**
 * `tuner-7`: for what is saved by a name of which an installation has one. A test that is tried again finds what its
 * go before has saved, and what was removed may keep its name.
 */
export function freshName(name: string): string {
  given += 1;
  return `${name}-${given}`;
}
