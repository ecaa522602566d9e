import type { FunctionTool, JsonObject } from '@sluice/contracts';
import { closedSchema } from './closed-schema.ts';

/** The vendor holds so many tools of a request to their schemas. */
const strictToolsMax = 20;

/** Which tools of a request are held to their schemas, and by which. */
export class StrictTools {
  #left: number;
  #dropped: string[];

  constructor({ structuredOutputs }: { structuredOutputs: boolean }, dropped: string[]) {
    this.#left = structuredOutputs ? strictToolsMax : 0;
    this.#dropped = dropped;
  }

  /** The closed schema of a tool that is strict; undefined = it is not, or cannot be. */
  schemaOf(tool: FunctionTool, parameters: JsonObject): JsonObject | undefined {
    if (tool.strict !== true) return undefined;
    const path = `${tool.path}.function`;
    const moved: string[] = [];
    const schema =
      this.#left > 0 ? closedSchema(parameters, `${path}.parameters`, moved) : undefined;
    if (schema === undefined) {
      this.#dropped.push(`${path}.strict`);
      return undefined;
    }
    this.#left--;
    this.#dropped.push(...moved);
    return schema;
  }
}
