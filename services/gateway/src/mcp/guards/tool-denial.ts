import type { JsonObject } from '@sluice/contracts';
import { errorReply, McpFault, resultReply, rpcCodes } from '@sluice/mcp';

export interface DenialInit {
  readonly idText: string;
  readonly message: string;
  /** Of the guardrails that denied. */
  readonly slugs: readonly string[];
  /** As a result that the model reads, or as an error of the protocol. */
  readonly isResult: boolean;
  readonly isModern: boolean;
  /** What the server had answered; undefined = nothing was sent to it. */
  readonly result: JsonObject | undefined;
}

/** A guardrail let a call, or its result, not pass. */
export class ToolDenial extends McpFault {
  /** The message that the caller is told. */
  readonly answer: Buffer;
  /** What is paid for though nobody is given it; undefined = nothing was sent. */
  readonly result: JsonObject | undefined;

  constructor({ idText, message, slugs, isResult, isModern, result }: DenialInit) {
    const data = { code: 'guardrail.denied', guardrails: slugs };
    super({ status: 200, code: rpcCodes.refused, message, data, idText });
    this.result = result;
    this.answer = isResult
      ? resultReply(idText, {
          ...(isModern && { resultType: 'complete' }),
          content: [{ type: 'text', text: message }],
          isError: true,
        })
      : errorReply(idText, { code: this.code, message, data });
  }
}
