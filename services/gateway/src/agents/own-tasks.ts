import { isObject } from '@sluice/a2a';
import type { TaskNotes, TaskPlace } from './task-notes.ts';

/**
 * A list of tasks without those that others began. How many there are in all is
 * not told either: what is left of the page is all that is known.
 */
export async function withOwnTasks(
  value: Record<string, unknown>,
  notes: TaskNotes,
  place: TaskPlace,
  principal: string,
): Promise<Record<string, unknown>> {
  const { result } = value;
  if (isObject(result))
    return { ...value, result: await withOwnTasks({ ...result }, notes, place, principal) };
  const listed = Array.isArray(result) ? result : value.tasks;
  if (!Array.isArray(listed)) return value;
  const own: unknown[] = [];
  for (const task of listed) {
    const id = isObject(task) ? task.id : undefined;
    if (typeof id === 'string' && (await notes.whose(place, 'task', id, principal)) === 'own')
      own.push(task);
  }
  if (Array.isArray(result)) return { ...value, result: own };
  const total = 'totalSize' in value ? { totalSize: own.length } : {};
  return { ...value, tasks: own, ...total };
}
