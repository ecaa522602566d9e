import type { IncomingHttpHeaders } from 'node:http';

/** Of `tracestate`, which is a list of members: what is ours in it (https://www.w3.org/TR/trace-context/). */
const ownName = 'sluice';

/**
 * Takes our member out of a request's trace state: it is told to nobody but whom it was made for.
 * @returns its value, of which nothing is known; undefined = there is none
 */
export function takeCallMark(headers: IncomingHttpHeaders): string | undefined {
  const state = headers.tracestate;
  if (typeof state !== 'string' || !state.includes(ownName)) return undefined;
  let mark: string | undefined;
  const others = state.split(',').filter((member) => {
    const [name, ...value] = member.split('=');
    if (name?.trim() !== ownName) return true;
    mark ??= value.join('=').trim();
    return false;
  });
  if (mark === undefined) return undefined;
  if (others.some((member) => member.trim() !== '')) headers.tracestate = others.join(',').trim();
  else delete headers.tracestate;
  return mark;
}

/** What is passed on at least: of more, libraries drop the whole. */
const stateCharsMax = 512;
const membersMax = 32;

/** A trace state with our member before all others, as who changed it last; of these as many as are passed on. */
export function withCallMark(state: string | undefined, mark: string): string {
  let marked = `${ownName}=${mark}`;
  for (const member of state?.split(',').slice(0, membersMax - 1) ?? []) {
    if (marked.length + 1 + member.length > stateCharsMax) break;
    marked += `,${member}`;
  }
  return marked;
}
