/** What is said again and again by something that fails again and again. */
export interface Seldom {
  /** Says it, unless the same was said less than `everyMs` ago; `repeats` of those that were not are told with the next. */
  say(key: string, say: (repeats: number) => void): void;
  /** It works again: the same is news when it fails the next time. */
  forget(): void;
}

/** Of so many different things each is told apart; what comes on top counts as one. */
const keysMax = 64;

/** @param now ms, of any clock that only goes forward */
export function createSeldom(everyMs: number, now: () => number = () => performance.now()): Seldom {
  const said = new Map<string, { at: number; repeats: number }>();
  return {
    say(name, say) {
      const key = said.has(name) || said.size < keysMax ? name : '';
      const before = said.get(key);
      if (before !== undefined && now() - before.at < everyMs) {
        before.repeats += 1;
        return;
      }
      said.set(key, { at: now(), repeats: 0 });
      say(before?.repeats ?? 0);
    },
    forget: () => said.clear(),
  };
}
