import { createHash } from 'node:crypto';
import type { SharedCommands } from './shared-store.ts';
import { isUnknownScript } from './unknown-script.ts';
import { WireCommand, wireWord } from './wire-command.ts';

/** Keys as they are sent, see `wireWord`. */
export interface WireKeys {
  /** One of them: all are in its slot. */
  readonly slotKey: string;
  readonly count: number;
  readonly wire: string;
}

/** A Lua script of ours. Its keys must be in one slot. */
export interface SharedScript<Reply> {
  run(
    redis: SharedCommands,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<Reply>;
  /**
   * The same, of keys that were put together before.
   * @param isWhole the server was found not to hold it: rejected without, see `isUnknownScript`
   */
  send(
    redis: SharedCommands,
    keys: WireKeys,
    args: readonly string[],
    isWhole: boolean,
  ): Promise<Reply>;
}

/** Sent by its hash; whole only to a server that does not hold it, which is one that has just started. */
export function sharedScript<Reply>(lua: string): SharedScript<Reply> {
  const sha = createHash('sha1').update(lua).digest('hex');
  const byHash = wireWord('evalsha') + wireWord(sha);
  const whole = wireWord('eval') + wireWord(lua);
  return {
    async run(redis, keys, args) {
      try {
        return (await redis.evalsha(sha, keys.length, ...keys, ...args)) as Reply;
      } catch (error) {
        if (!isUnknownScript(error)) throw error;
        return (await redis.eval(lua, keys.length, ...keys, ...args)) as Reply;
      }
    },
    send(redis, { slotKey, count, wire }, args, isWhole) {
      let words = `*${3 + count + args.length}\r\n${isWhole ? whole : byHash}`;
      words += wireWord(String(count)) + wire;
      for (const arg of args) words += wireWord(arg);
      const command = new WireCommand(isWhole ? 'eval' : 'evalsha', slotKey, words);
      return redis.sendCommand(command) as Promise<Reply>;
    },
  };
}
