/** Messages have the same few names. */
const judgedNamesMax = 500;

/** Names that something hangs on, and which others a reader may take for one of them. */
export class KnownNames {
  readonly all: readonly string[];
  readonly #byFolded: ReadonlyMap<string, string>;
  /** Of names that came before; empty = it is none of ours, or spelled as it should be. */
  readonly #judged = new Map<string, string>();

  constructor(names: readonly string[]) {
    this.all = names;
    this.#byFolded = new Map(names.map((name) => [folded(name), name]));
  }

  /** The name of ours that this one is in another spelling; empty = it is none of them, or spelled as it should be. */
  takenFor(key: string): string {
    const judged = this.#judged.get(key);
    if (judged !== undefined) return judged;
    const name = this.#byFolded.get(folded(key)) ?? '';
    const taken = name === key ? '' : name;
    if (this.#judged.size < judgedNamesMax) this.#judged.set(key, taken);
    return taken;
  }
}

/** As readers that match names in any case do it: the long s and the Kelvin sign too. */
function folded(text: string): string {
  return text.toLowerCase().toUpperCase();
}
