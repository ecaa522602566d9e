import { isObject, type JsonObject, membersOf, objectIn, textIn } from './fold.ts';
import {
  type AgentUsage,
  highestUsage,
  sumOfUsage,
  usageInBody,
  usageInMetadata,
} from './usage.ts';

/** What one reply of an agent, or one event of its stream, tells. */
export interface Told {
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
  /** As the agent writes it: `completed`, `TASK_STATE_COMPLETED`. */
  readonly state: string | undefined;
  /** Of JSON-RPC, or of an error of REST. */
  readonly errorCode: number | undefined;
  /** What is said of the task as a whole, which is worth more than what its messages say. */
  readonly usageOfTask: AgentUsage | undefined;
  /** What its messages and artifacts say, each under its id: the same one told again is the same. */
  readonly usageOfParts: ReadonlyMap<string, AgentUsage>;
}

/** Reads the value of a body, or of the data of an event, of either generation and binding. */
export function readAgentReply(value: unknown): Told {
  const errorCode = errorIn(value);
  const result = objectIn(value, 'result') ?? (isObject(value) ? value : undefined);
  const { item, isTask } = itemIn(result);
  const status = objectIn(item, 'status');
  const parts = new Map<string, AgentUsage>();
  const isMessage = membersOf(item, 'parts').length > 0 && membersOf(item, 'role').length > 0;
  if (isMessage) addPart(parts, item, 'messageid');
  addPart(parts, objectIn(status, 'message'), 'messageid');
  addPart(parts, objectIn(item, 'artifact'), 'artifactid');
  const [artifacts] = membersOf(item, 'artifacts');
  if (Array.isArray(artifacts))
    for (const artifact of artifacts.slice(0, partsMax)) addPart(parts, artifact, 'artifactid');
  const ofItem = isMessage ? undefined : usageInMetadata(item?.metadata);
  return {
    taskId: textIn(item, 'taskid') ?? (isTask ? textIn(item, 'id') : undefined),
    contextId: textIn(item, 'contextid'),
    state: textIn(status, 'state'),
    errorCode,
    usageOfTask: ofItem ?? usageInBody(result) ?? usageInBody(value),
    usageOfParts: parts,
  };
}

/** More messages of a reply are not told apart. */
const partsMax = 1000;

/** The one thing that a result holds: flat in 0.3, wrapped in 1.0 and in REST. */
function itemIn(result: JsonObject | undefined): { item: JsonObject | undefined; isTask: boolean } {
  const task = objectIn(result, 'task');
  if (task !== undefined) return { item: task, isTask: true };
  const wrapped =
    objectIn(result, 'statusupdate', 'artifactupdate') ??
    // Of a task's own members none is called so.
    (membersOf(result, 'parts').length > 0 ? undefined : objectIn(result, 'message', 'msg'));
  if (wrapped !== undefined) return { item: wrapped, isTask: false };
  const isTask =
    result !== undefined && (result.kind === 'task' || membersOf(result, 'status').length > 0);
  return { item: result, isTask };
}

function addPart(parts: Map<string, AgentUsage>, part: unknown, idName: string): void {
  const usage = usageInMetadata(isObject(part) ? part.metadata : undefined);
  if (usage !== undefined) parts.set(textIn(part, idName) ?? `#${parts.size}`, usage);
}

function errorIn(value: unknown): number | undefined {
  const [error] = membersOf(value, 'error');
  if (isObject(error)) return typeof error.code === 'number' ? error.code : 0;
  return undefined;
}

/** What a call's reply told, event by event: the last state, and the usage of all. */
export class ToldSoFar {
  taskId: string | undefined;
  contextId: string | undefined;
  state: string | undefined;
  errorCode: number | undefined;
  #ofTask: AgentUsage | undefined;
  readonly #ofParts = new Map<string, AgentUsage>();

  add(told: Told): void {
    this.taskId ??= told.taskId;
    this.contextId ??= told.contextId;
    this.state = told.state ?? this.state;
    this.errorCode = told.errorCode ?? this.errorCode;
    // What is said later of the same replaces what was said before; halves are put together.
    if (told.usageOfTask !== undefined) this.#ofTask = highestUsage(this.#ofTask, told.usageOfTask);
    for (const [id, usage] of told.usageOfParts)
      if (this.#ofParts.has(id) || this.#ofParts.size < partsMax) this.#ofParts.set(id, usage);
  }

  /** Undefined = nothing was said. */
  get usage(): AgentUsage | undefined {
    if (this.#ofTask !== undefined) return this.#ofTask;
    let sum: AgentUsage | undefined;
    for (const usage of this.#ofParts.values()) sum = sumOfUsage(sum, usage);
    return sum;
  }
}
