import { abortReason } from '../http/caller-gone.ts';
import type { ToolCaller } from '../mcp/tool-caller.ts';
import type { AskedCall } from './loop-format.ts';
import { answerOf, failed, type ToolAnswer } from './tool-answer.ts';

export interface LoopBounds {
  /** Of the model, in one request. */
  readonly roundsMax: number;
  /** Of tools, in one request. */
  readonly callsMax: number;
  /** At the same time. */
  readonly parallelMax: number;
  /** Since the request arrived: after it nothing new is begun. */
  readonly timeoutMs: number;
}

/** The calls of one request: each is made once, some at a time, and as many as may be. */
export class ToolRuns {
  readonly #caller: ToolCaller;
  readonly #bounds: LoopBounds;
  readonly #callsMax: number;
  #made = 0;

  /** @param callsMax as the request has it */
  constructor(caller: ToolCaller, bounds: LoopBounds, callsMax: number | undefined) {
    this.#caller = caller;
    this.#bounds = bounds;
    this.#callsMax = Math.min(callsMax ?? bounds.callsMax, bounds.callsMax);
  }

  /** @param onAnswer hears of each as soon as it is there @throws GatewayError `request.aborted`, `gateway.draining` */
  async run(
    calls: readonly AskedCall[],
    signal: AbortSignal,
    onAnswer: (call: AskedCall, answer: ToolAnswer) => void,
  ): Promise<void> {
    const waiting = [...calls];
    const work = async () => {
      for (let call = waiting.shift(); call !== undefined; call = waiting.shift())
        onAnswer(call, await this.#answer(call, signal));
    };
    const workers = Math.min(this.#bounds.parallelMax, calls.length);
    await Promise.all(Array.from({ length: workers }, work));
  }

  async #answer(call: AskedCall, signal: AbortSignal): Promise<ToolAnswer> {
    if (signal.aborted) throw abortReason(signal);
    const { tool, arguments: args, toolName } = call;
    if (tool === undefined) return failed(`There is no tool "${toolName}" to call any more.`);
    if (args === undefined)
      return failed('The call was not made: its arguments are no JSON object.');
    this.#made += 1;
    if (this.#made > this.#callsMax)
      return failed(`The call was not made: a request may call ${this.#callsMax} tools.`);
    return answerOf(await this.#caller.callTool(tool.server, tool.listed, args, signal));
  }
}
