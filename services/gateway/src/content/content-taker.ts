import type { KeptContent } from './kept-content.ts';

/** Where the content of logs goes. Each that takes one lets go of it once, by `release`. */
export interface ContentTaker {
  /** The request is over, or that target of it. */
  add(content: KeptContent): void;
  /** Lets go of the oldest that waits; false = none does. */
  dropOldest(): boolean;
}
