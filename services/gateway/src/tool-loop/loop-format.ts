import type { JsonObject } from '@sluice/contracts';
import { jsonBounds, readJsonText } from '@sluice/json';
import { isObject } from '@sluice/mcp';
import type { OfferedTool } from './offered-tools.ts';
import type { ToolAnswer } from './tool-answer.ts';
import type { Untold } from './untold-answers.ts';

/** What ends a stream, as whoever reads it is told. */
export interface ToldFault {
  type: string;
  status: number;
  code: string;
  message: string;
}

/** A call that the model asked for, or that its caller approved. */
export interface AskedCall {
  /** As the caller is told it. */
  readonly id: string;
  /** Of the model's own. */
  readonly callId: string;
  /** Undefined = there is no such tool any more. */
  readonly tool: OfferedTool | undefined;
  readonly toolName: string;
  readonly label: string;
  readonly functionName: string;
  /** As the model wrote them. */
  readonly argumentsText: string;
  /** Undefined = they are no JSON object. */
  readonly arguments: JsonObject | undefined;
  /** What the caller approved it by. */
  readonly approvalId?: string | undefined;
}

/** What a model's turn came to. */
export interface Turn {
  /** To be run by us. */
  readonly calls: readonly AskedCall[];
  /** Nothing more is asked of the model: it is done, or waits for what the caller brings. */
  readonly isLast: boolean;
}

/**
 * One request and its answer in the caller's format, over several rounds of the model. Answers that come whole and streams go
 * through the same hands: what is told of a stream is returned as events, and of no use to who wants a document.
 */
export interface LoopFormat {
  /** Approved by the caller with this request: run before the model is asked. */
  readonly approved: readonly AskedCall[];
  /** Of the next round. @param isLast the model may call nothing more */
  body(isLast: boolean): JsonObject;
  /** A whole answer. */
  takeAnswer(document: JsonObject): Turn;
  /** Another round's stream begins. */
  beginStream(): void;
  /** @returns the events that are told in its place */
  takeEvent(name: string, data: JsonObject): string;
  /** The round's stream is over; undefined = it ended in an error, which was told. */
  endStream(): Turn | undefined;
  /** @returns the events that tell of it */
  addAnswer(call: AskedCall, answer: ToolAnswer): string;
  /** The answer as a whole. @param isCut more would have been asked, and is not */
  document(isCut: boolean): JsonObject;
  /** The end of the stream. */
  endEvents(isCut: boolean): string;
  /** After the last round: what whoever keeps the answer has not heard. */
  readonly untold?: Untold | undefined;
  errorEvent(fault: ToldFault): string;
  /** The last round is told that it may call nothing; otherwise the caller sends what there is, and the model goes on. */
  readonly endsByChoice: boolean;
  /** While nothing is told. */
  readonly keepAlive: string;
}

export function eventText(data: JsonObject): string {
  return `event: ${String(data.type)}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Counts of several answers: numbers are added, whatever else is the later's. */
export function addedUsage(
  before: JsonObject | undefined,
  now: JsonObject | undefined,
): JsonObject {
  if (before === undefined) return now ?? {};
  const sum: JsonObject = { ...before };
  for (const [name, value] of Object.entries(now ?? {})) {
    const known = sum[name];
    if (typeof value === 'number' && typeof known === 'number') sum[name] = known + value;
    else if (Array.isArray(value) && Array.isArray(known)) sum[name] = [...known, ...value];
    else if (isObject(value) && isObject(known)) sum[name] = addedUsage(known, value);
    else if (value !== null && value !== undefined) sum[name] = value;
  }
  return sum;
}

/** As texts are told from tool to tool: `parsed` is undefined where they are no JSON object. */
export function parsedArguments(text: string): JsonObject | undefined {
  if (text.trim() === '') return {};
  try {
    const value = readJsonText(text, jsonBounds.request);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Ids of an answer, of which no two are the same. */
export class FreshIds {
  /** By what was wanted, how often. */
  readonly #wanted = new Map<string, number>();
  readonly #used = new Set<string>();

  of(wanted: string): string {
    let turn = (this.#wanted.get(wanted) ?? 0) + 1;
    while (this.#used.has(idAt(wanted, turn))) turn += 1;
    this.#wanted.set(wanted, turn);
    const id = idAt(wanted, turn);
    this.#used.add(id);
    return id;
  }
}

function idAt(wanted: string, turn: number): string {
  return turn === 1 ? wanted : `${wanted}_${turn}`;
}
