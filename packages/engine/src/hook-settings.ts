import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { Hook } from './hook.ts';
import { numberWithin, readFeedback } from './hook-feedback.ts';

/** What configs and saved guardrails say alike of a hook, beside its checks. */
type HookSettings = Pick<
  Hook,
  | 'deny'
  | 'deniesSoftly'
  | 'async'
  | 'sequential'
  | 'timeoutMs'
  | 'textLengthMax'
  | 'onSuccess'
  | 'onFail'
>;

/** A hook of which nothing is said. */
export const unsaid: HookSettings = {
  deny: false,
  deniesSoftly: false,
  async: false,
  sequential: false,
  timeoutMs: undefined,
  textLengthMax: undefined,
  onSuccess: undefined,
  onFail: undefined,
};

/** What is said, and nothing else. @throws GatewayError `config.invalid` */
export function hookSettings(said: JsonObject, path: string): Partial<HookSettings> {
  const soft = said.soft_deny_200 ?? said.softDeny200;
  const onSuccess = readFeedback(said.on_success ?? said.onSuccess, `${path}.on_success`);
  const onFail = readFeedback(said.on_fail ?? said.onFail, `${path}.on_fail`);
  const timeoutMs = countIn(said.timeout, 600_000, `${path}.timeout`);
  const textLengthMax = countIn(
    said.max_text_length ?? said.maxTextLength,
    100_000_000,
    `${path}.max_text_length`,
  );
  return {
    ...(typeof said.deny === 'boolean' ? { deny: said.deny } : {}),
    // Who says how a denial looks wants one: nothing would be denied otherwise, and nobody told.
    ...(soft === true ? { deniesSoftly: true, deny: true } : {}),
    ...(soft === false ? { deniesSoftly: false } : {}),
    ...(typeof said.async === 'boolean' ? { async: said.async } : {}),
    ...(typeof said.sequential === 'boolean' ? { sequential: said.sequential } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(textLengthMax === undefined ? {} : { textLengthMax }),
    ...(onSuccess === undefined ? {} : { onSuccess }),
    ...(onFail === undefined ? {} : { onFail }),
  };
}

function countIn(value: JsonValue | undefined, max: number, path: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  return numberWithin(value, 1, max, 1, path);
}
