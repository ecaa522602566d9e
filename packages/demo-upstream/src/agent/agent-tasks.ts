import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

export type TaskState = 'submitted' | 'working' | 'completed' | 'canceled';

export interface Task {
  readonly id: string;
  readonly contextId: string;
  state: TaskState;
  timestamp: string;
  /** What it has written so far. */
  text: string;
  readonly usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

/** What a stream tells, in no revision's words yet. */
export type TaskEvent =
  | { kind: 'task'; task: Task }
  | { kind: 'status'; task: Task; isFinal: boolean }
  | { kind: 'artifact'; task: Task; text: string; isFirst: boolean; isLast: boolean };

interface Running {
  readonly task: Task;
  readonly stop: AbortController;
  readonly listeners: Set<(event: TaskEvent) => void>;
  readonly done: Promise<void>;
}

const tasksMax = 1000;
const secondsMax = 600;

/**
 * Repeats what it is told, word by word. A text that begins with `slow 5` takes
 * five seconds, so that there is something to follow and to cancel.
 */
export class AgentTasks {
  readonly #tasks = new Map<string, Running>();

  begin(text: string, contextId: string | undefined): Task {
    const [oldest] = this.#tasks.values();
    if (this.#tasks.size >= tasksMax && oldest !== undefined) {
      oldest.stop.abort();
      this.#tasks.delete(oldest.task.id);
    }
    const words = `You said: ${text}`.split(/(?<= )/);
    const promptTokens = text.split(/\s+/).length;
    const task: Task = {
      id: randomUUID(),
      contextId: contextId ?? randomUUID(),
      state: 'submitted',
      timestamp: new Date().toISOString(),
      text: '',
      usage: {
        prompt_tokens: promptTokens,
        completion_tokens: words.length,
        total_tokens: promptTokens + words.length,
      },
    };
    const [, seconds] = /^slow (\d{1,3})/.exec(text) ?? [];
    const stepMs = (Math.min(Number(seconds ?? 0), secondsMax) * 1000) / words.length;
    const stop = new AbortController();
    const listeners = new Set<(event: TaskEvent) => void>();
    const done = work(task, words, stepMs, stop.signal, (event) => {
      for (const listener of [...listeners]) listener(event);
    });
    this.#tasks.set(task.id, { task, stop, listeners, done });
    return task;
  }

  find(id: string): Task | undefined {
    return this.#tasks.get(id)?.task;
  }

  list(): Task[] {
    return [...this.#tasks.values()].map((running) => running.task).reverse();
  }

  async finished(task: Task): Promise<void> {
    await this.#tasks.get(task.id)?.done;
  }

  /** @returns whether it was still at work. */
  async cancel(task: Task): Promise<boolean> {
    const running = this.#tasks.get(task.id);
    if (running === undefined || isOver(task)) return false;
    running.stop.abort();
    await running.done;
    return task.state === 'canceled';
  }

  /** Tells what comes from now on, beginning with the task as it is, until it is over or the listener leaves. */
  async follow(task: Task, tell: (event: TaskEvent) => void, signal: AbortSignal): Promise<void> {
    tell({ kind: 'task', task });
    const running = this.#tasks.get(task.id);
    if (running === undefined || isOver(task)) return;
    running.listeners.add(tell);
    const left = new Promise((resolve) =>
      signal.addEventListener('abort', resolve, { once: true }),
    );
    await Promise.race([running.done, left]);
    running.listeners.delete(tell);
  }

  close(): void {
    for (const { stop } of this.#tasks.values()) stop.abort();
  }
}

export function isOver(task: Task): boolean {
  return task.state === 'completed' || task.state === 'canceled';
}

async function work(
  task: Task,
  words: readonly string[],
  stepMs: number,
  signal: AbortSignal,
  tell: (event: TaskEvent) => void,
): Promise<void> {
  function enter(state: TaskState): void {
    task.state = state;
    task.timestamp = new Date().toISOString();
    tell({ kind: 'status', task, isFinal: isOver(task) });
  }
  // Who began it listens first.
  await new Promise(setImmediate);
  try {
    enter('working');
    for (const [index, word] of words.entries()) {
      await delay(stepMs, undefined, { signal });
      task.text += word;
      const isLast = index === words.length - 1;
      tell({ kind: 'artifact', task, text: word, isFirst: index === 0, isLast });
    }
    enter('completed');
  } catch {
    enter('canceled');
  }
}
