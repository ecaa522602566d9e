import { isObject, type JsonObject } from '../protocol.ts';
import type { Task, TaskEvent } from './agent-tasks.ts';

/** JSON-RPC of A2A 0.3, its REST form, and 1.0, which has one form for both. */
export type AgentForm = 'rpc-0.3' | 'rest-0.3' | '1.0';

/** The text of a request's message. */
export function textOf(message: unknown): string {
  if (!isObject(message)) return '';
  const parts = Array.isArray(message.parts) ? message.parts : message.content;
  if (!Array.isArray(parts)) return '';
  return parts.map((part) => (isObject(part) ? String(part.text ?? '') : '')).join('');
}

export function taskIn(form: AgentForm, task: Task): JsonObject {
  return {
    ...(form === 'rpc-0.3' ? { kind: 'task' } : {}),
    id: task.id,
    contextId: task.contextId,
    status: statusIn(form, task),
    artifacts: task.text === '' ? [] : [artifactIn(form, task, task.text)],
    metadata: { usage: task.usage },
  };
}

/** The answer to a message: 0.3 gives the task itself in JSON-RPC. */
export function answerIn(form: AgentForm, task: Task): JsonObject {
  return form === 'rpc-0.3' ? taskIn(form, task) : { task: taskIn(form, task) };
}

export function eventIn(form: AgentForm, event: TaskEvent): JsonObject {
  const { task } = event;
  if (event.kind === 'task') return answerIn(form, task);
  const ids = { taskId: task.id, contextId: task.contextId };
  if (event.kind === 'artifact') {
    const artifactUpdate = {
      ...ids,
      artifact: artifactIn(form, task, event.text),
      append: !event.isFirst,
      lastChunk: event.isLast,
    };
    return form === 'rpc-0.3' ? { kind: 'artifact-update', ...artifactUpdate } : { artifactUpdate };
  }
  const statusUpdate = {
    ...ids,
    status: statusIn(form, task),
    ...(form === '1.0' ? {} : { final: event.isFinal }),
    ...(event.isFinal ? { metadata: { usage: task.usage } } : {}),
  };
  return form === 'rpc-0.3' ? { kind: 'status-update', ...statusUpdate } : { statusUpdate };
}

function statusIn(form: AgentForm, task: Task): JsonObject {
  // A state of 0.3's proto is spelled with two l; 1.0 has one.
  const word = form === 'rest-0.3' && task.state === 'canceled' ? 'cancelled' : task.state;
  const state = form === 'rpc-0.3' ? task.state : `TASK_STATE_${word.toUpperCase()}`;
  return { state, timestamp: task.timestamp };
}

function artifactIn(form: AgentForm, task: Task, text: string): JsonObject {
  const part = form === 'rpc-0.3' ? { kind: 'text', text } : { text };
  return { artifactId: `${task.id}-text`, name: 'answer', parts: [part] };
}
