import { parentPort } from 'node:worker_threads';
// The smallest of its tables: the larger ones tell no language better that was measured.
import eld from 'eld/extrasmall';

/**
 * A thread of its own: what languages are told by takes a third of a second to
 * load, and 60 MB that only those need who ask for it.
 */
export interface Told {
  /** ISO 639-1; undefined where nothing fits. */
  readonly language: string | undefined;
  /** How well it fits, 0 to 1; real sentences have more than a half. */
  readonly fit: number;
  readonly isSure: boolean;
}

function tell(text: string): Told {
  const result = eld.detect(text);
  if (result.language === '') return { language: undefined, fit: 0, isSure: false };
  const fit = result.getScores()[result.language] ?? 0;
  return { language: result.language, fit, isSure: result.isReliable() };
}

if (parentPort !== null) {
  const port = parentPort;
  port.on('message', (texts: readonly string[]) => port.postMessage(texts.map(tell)));
}
