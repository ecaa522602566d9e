import type { ModelFacts } from './model-facts.ts';

/** What an operator knows better of models of some name. */
export interface ModelOverride {
  /** A model's name at its provider; a `*` at the end stands for any rest. */
  match: string;
  /** The model whose row holds for it: what a deployment's name does not tell. */
  like?: string;
  /** In place of what the row says. */
  facts: Partial<ModelFacts>;
}

/** An operator's rows, the first that matches first. */
export class ModelOverrides {
  #rows: readonly ModelOverride[];

  constructor(rows: readonly ModelOverride[]) {
    this.#rows = rows;
  }

  find(name: string): ModelOverride | undefined {
    return this.#rows.find(({ match }) =>
      match.endsWith('*') ? name.startsWith(match.slice(0, -1)) : name === match,
    );
  }

  /** The name that says what the model is. */
  realName(name: string): string {
    return this.find(name)?.like ?? name;
  }

  /** What is known of a model by its row, with what the operator says of it. */
  apply<Facts extends ModelFacts | undefined>(
    name: string,
    factsOf: (name: string) => Facts,
  ): Facts {
    const found = this.find(name);
    if (found === undefined) return factsOf(name);
    const facts = factsOf(found.like ?? name);
    return facts === undefined ? facts : { ...facts, ...found.facts };
  }
}
