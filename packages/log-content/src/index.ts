/**
 * What of a request's content is kept, and who is shown it. `visible-content.ts`
 * is the one place that decides: the gateway asks it before anything leaves its
 * memory, and whoever shows logs asks it again. The rest is how kept content looks:
 * headers without secrets, bodies of any kind as JSON. Pure: no clock, no network.
 */
export { type KeptBody, keptBody } from './kept-body.ts';
export { type ShownHeaders, shownHeaders } from './shown-headers.ts';
export type { StoredLog } from './stored-log.ts';
export {
  type ContentFacts,
  type HiddenBecause,
  kindOfEndpoint,
  type LogOwner,
  type LogReach,
  type LogReader,
  reachOf,
  type VisibleContent,
  visibleContent,
} from './visible-content.ts';
