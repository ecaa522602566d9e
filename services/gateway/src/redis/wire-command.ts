import { Command } from 'ioredis';

/** A word of a command as Redis reads it. */
export function wireWord(text: string): string {
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
}

/**
 * A command whose words were put together before: keys that are sent with each
 * request are encoded once, where ioredis would look at and measure each of them
 * again. It goes the way of any other: queue, cluster, deadlines, errors.
 */
export class WireCommand extends Command {
  readonly #wire: string;

  /** @param slotKey by which a cluster finds the node; all keys are in its slot */
  constructor(name: 'evalsha' | 'eval', slotKey: string, wire: string) {
    super(name, ['', '1', slotKey], { replyEncoding: 'utf8' });
    this.#wire = wire;
  }

  override toWritable(): string {
    return this.#wire;
  }
}
