/** What a model name asks for beyond an answer. */
export interface Script {
  /** Wait before the answer. */
  delayMs: number;
  /** Wait between the events of a stream. */
  eventDelayMs: number;
  /** The answer has exactly this many pieces of text, whatever was asked. */
  events: number | undefined;
  /** Refuse with this status. */
  errorStatus: number | undefined;
}

const plain: Script = { delayMs: 0, eventDelayMs: 0, events: undefined, errorStatus: undefined };
const fast: Script = { ...plain, events: 1 };
const eventsMax = 10_000;
const delayMsMax = 600_000;

/**
 * `demo-fast` (one piece of text), `demo-100-events`, `demo-slow` (2 s) or `demo-slow-500`,
 * `demo-trickle` (50 ms between events), `demo-error-503`; any other name is a plain model.
 * The header `x-demo-events` counts for every model.
 */
export function scriptOf(model: string, eventsHeader?: string | string[]): Script {
  const script = scriptOfName(model);
  if (eventsHeader === undefined) return script;
  return {
    ...script,
    events: Math.min(Math.max(1, Number.parseInt(String(eventsHeader), 10) || 1), eventsMax),
  };
}

function scriptOfName(model: string): Script {
  if (!model.startsWith('demo-')) return plain;
  const name = model.slice('demo-'.length);
  if (name === 'fast') return fast;
  if (name === 'trickle') return { ...plain, eventDelayMs: 50 };
  const [, events] = /^(\d{1,5})-events$/.exec(name) ?? [];
  if (events !== undefined)
    return { ...plain, events: Math.min(Math.max(1, Number(events)), eventsMax) };
  const [isSlow, delayMs] = /^slow(?:-(\d{1,6}))?$/.exec(name) ?? [];
  if (isSlow !== undefined)
    return { ...plain, delayMs: Math.min(Number(delayMs ?? 2000), delayMsMax) };
  const [, status] = /^error-([45]\d\d)$/.exec(name) ?? [];
  return status === undefined ? plain : { ...plain, errorStatus: Number(status) };
}
