/** A setting that a document may hold where nothing looks at it. */
export interface IdleSetting {
  /** From `config` on. */
  readonly path: string;
  readonly why: string;
}

/**
 * What of a guardrail's actions, or of a hook, does nothing beside the rest: nobody waits for what runs asynchronously, so
 * it denies nothing, and an answer of which nothing is held needs no bounds for that.
 * @param said in either spelling
 * @param isAll whether that is all that is said: a hook may name a saved guardrail, which says the rest
 */
export function idleActions(
  said: Readonly<Record<string, unknown>>,
  isAll: boolean,
): readonly IdleSetting[] {
  const idle: IdleSetting[] = [];
  const tell = (name: string, why: string) => {
    const key = [name, camelCase(name)].find((each) => said[each] != null);
    if (key !== undefined && said[key] !== false) idle.push({ path: key, why });
  };
  const mode = said.stream_mode ?? said.streamMode ?? 'end';
  if (said.async === true) {
    for (const name of ['deny', 'soft_deny_200'])
      tell(name, 'nobody waits for what is async, so it denies nothing');
    if (mode !== 'end') tell('stream_mode', 'nothing is held for what is async');
  }
  if (said.async === true || (isAll && mode === 'end'))
    for (const name of ['hold_chars', 'hold_ms'])
      tell(name, 'it is held only with stream_mode window or sentence, and for what is not async');
  return idle;
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
