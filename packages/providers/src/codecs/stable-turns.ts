/**
 * Which messages end a turn of the user that the next request will begin with,
 * by their roles: the last, and the one before the last answer, which the request
 * before this one ended with. None where there was no answer yet: what is asked
 * once is not asked again.
 */
export function stableTurns(roles: readonly unknown[]): readonly number[] {
  const ends: number[] = [];
  let isWithin = false;
  for (let index = roles.length - 1; index >= 0 && ends.length < 2; index--) {
    const role = roles[index];
    if (role === 'assistant') isWithin = false;
    else if (!isWithin && (role === 'user' || role === 'tool')) {
      isWithin = true;
      ends.push(index);
    }
  }
  return ends.length < 2 ? [] : ends;
}
