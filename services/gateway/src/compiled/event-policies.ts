import { type CompiledPolicy, PolicyIndex } from '@sluice/engine';

/** The policies of one kind of call: those that need no target, and those that do. */
export interface PolicyPair {
  readonly request: PolicyIndex;
  readonly target: PolicyIndex;
}

/**
 * What calls of MCP servers and of agents meet of a workspace's policies: budgets
 * count whatever is called, rates of tools calls of tools. Most workspaces have
 * no such calls, so the tables are made with the first.
 */
export class EventPolicies {
  readonly #tools: readonly CompiledPolicy[];
  readonly #budgets: readonly CompiledPolicy[];
  #ofTools: PolicyPair | undefined;
  #ofOthers: PolicyPair | undefined;

  constructor(tools: readonly CompiledPolicy[], budgets: readonly CompiledPolicy[]) {
    this.#tools = tools;
    this.#budgets = budgets;
  }

  get isEmpty(): boolean {
    return this.#tools.length + this.#budgets.length === 0;
  }

  /** In the order in which they refuse: rates before budgets. */
  get ofTools(): PolicyPair {
    this.#ofTools ??= pairOf([...this.#tools, ...this.#budgets]);
    return this.#ofTools;
  }

  get ofOthers(): PolicyPair {
    this.#ofOthers ??= this.#tools.length === 0 ? this.ofTools : pairOf(this.#budgets);
    return this.#ofOthers;
  }
}

function pairOf(policies: readonly CompiledPolicy[]): PolicyPair {
  return {
    request: new PolicyIndex(policies, 'request'),
    target: new PolicyIndex(policies, 'target'),
  };
}
