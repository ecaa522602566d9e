import type { JsonObject } from '@sluice/contracts';
import { jsonIn } from '../texts/places.ts';
import { type Path, setAt, valueAt } from './at-path.ts';
import type { SpeechFormat, Told } from './heard-event.ts';

/** A reply in its format that says these texts and nothing else, for checks that read replies. */
export interface SpeechReply {
  readonly reply: JsonObject;
  /** The texts as they stand in what checks made of the reply; undefined = it has no such text. */
  read(changed: JsonObject): (readonly string[] | undefined)[];
}

export function speechReply(format: SpeechFormat, told: readonly Told[]): SpeechReply {
  const reply: JsonObject = {};
  const choices = [...new Set([0, ...told.map(({ choice }) => choice)])].sort((a, b) => a - b);
  const counts = new Map<string, number>();
  const nextOf = (name: string) => {
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return count;
  };
  const paths = told.map(({ kind, choice, parts }): Path => {
    const at = choices.indexOf(choice);
    const position = { choice: at, text: nextOf(`${at}`), ofKind: nextOf(`${at} ${kind}`) };
    const { path, labels = [] } = format.place(kind, position);
    for (const label of labels) setAt(reply, label.path, label.value);
    if (kind !== 'called') setAt(reply, path, parts.join(''));
    else setAt(reply, path, format.callsAreText ? JSON.stringify(parts) : [...parts]);
    return path;
  });
  return {
    reply,
    read: (changed) =>
      told.map(({ kind, parts }, index) => {
        const value = valueAt(changed, paths[index] ?? []);
        if (kind !== 'called') return typeof value === 'string' ? [value] : undefined;
        const values = typeof value === 'string' ? jsonIn(value) : value;
        const isWhole = Array.isArray(values) && values.length === parts.length;
        return isWhole ? values.map(String) : undefined;
      }),
  };
}
