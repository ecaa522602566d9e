import { createHash } from 'node:crypto';
import type { SharedCommands } from './shared-store.ts';

/** A Lua script of ours. Its keys must be in one slot. */
export interface SharedScript<Reply> {
  run(
    redis: SharedCommands,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<Reply>;
}

/** Sent by its hash; whole only to a server that does not hold it, which is one that has just started. */
export function sharedScript<Reply>(lua: string): SharedScript<Reply> {
  const sha = createHash('sha1').update(lua).digest('hex');
  return {
    async run(redis, keys, args) {
      try {
        return (await redis.evalsha(sha, keys.length, ...keys, ...args)) as Reply;
      } catch (error) {
        if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
        return (await redis.eval(lua, keys.length, ...keys, ...args)) as Reply;
      }
    },
  };
}
