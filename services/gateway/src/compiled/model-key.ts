/** What vendors let callers put before a model's name: a collection, a publisher, a region, a resource. */
const before =
  /^(?:models\/|publishers\/[^/]+\/models\/|accounts\/fireworks\/models\/|arn:[^/]*\/|(?:us|eu|apac|au|ca|jp|global|us-gov|sa)\.(?=[a-z0-9-]+\.))/;

/**
 * One key for all spellings of a model that vendors are known to take for the
 * same: a model that is switched off must not come back in capitals. Not for
 * what is allowed, which is compared as it is written.
 */
export function modelKey(name: string): string {
  let key = name.normalize('NFKC').trim().toLowerCase();
  // An ARN may end in a region and a name, and so on.
  for (let shorter = key.replace(before, ''); shorter !== key; shorter = key.replace(before, ''))
    key = shorter;
  return key;
}
