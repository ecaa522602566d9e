/** Something personal or secret in a text: where it stands, in UTF-16 code units. */
export interface Finding {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  /** The same for every way to write it, so that one person keeps one number. */
  readonly value: string;
}

/** Finds one kind of thing in a text that is folded. In time linear in the text, whatever it says. */
export type Finder = (text: string) => Iterable<Finding>;
